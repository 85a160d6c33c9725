/** Valid inputs of every kind, to be damaged: in the shapes that real clients, hooks, files and models produce. */
import { OBSERVATION_TYPES } from '../../src/domain/observation.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import type { Random } from '../lib/random.ts'

const WORDS = [
  'cache',
  'total',
  'parser',
  'retry',
  'login',
  'the',
  'test',
  'fails',
  'when',
  'index',
  'queue',
  'naïve',
  'src/app.ts',
] as const
const TOOLS = [
  'Bash',
  'Edit',
  'Read',
  'Write',
  'MultiEdit',
  'Grep',
  'Glob',
  'Task',
  'WebFetch',
  'TodoWrite',
  'mcp__mail__send',
] as const
/** Few, so that events of many inputs meet in one session. */
const SESSIONS = 40
const DIRECTORIES = ['/', '/tmp', '/home/dev/shop', '/nonexistent/project', '/proc/self'] as const

export function words(random: Random, most = 12): string {
  return Array.from({ length: random.between(1, most) }, () => random.pick(WORDS)).join(' ')
}

export const sessionId = (random: Random): string => `fuzz-${String(random.between(1, SESSIONS)).padStart(4, '0')}`
const promptId = (random: Random): string => `prompt-${random.between(1, 500)}`
const toolId = (random: Random): string => `toolu_${random.between(1, 1_000_000)}`
const time = (random: Random): number => 1_790_000_000_000 + random.between(0, 4_000_000_000)

function toolFields(random: Random): { tool: string; input: object; response: unknown } {
  const tool = random.pick(TOOLS)
  const file = `/home/dev/shop/src/${random.pick(WORDS)}.ts`
  switch (tool) {
    case 'Bash':
      return {
        tool,
        input: { command: `npm test ${words(random, 3)}`, description: 'Runs' },
        response: { stdout: words(random, 40), stderr: '', interrupted: false },
      }
    case 'Edit':
      return {
        tool,
        input: { file_path: file, old_string: 'let a = 1', new_string: 'let a = 2' },
        response: {
          filePath: file,
          structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-a', '+b'] }],
        },
      }
    case 'MultiEdit':
      return {
        tool,
        input: { file_path: file, edits: [{ old_string: 'a', new_string: 'b' }] },
        response: { filePath: file },
      }
    case 'Read':
      return {
        tool,
        input: { file_path: file, offset: 1, limit: 20 },
        response: { type: 'text', file: { filePath: file, content: words(random, 60), numLines: 1 } },
      }
    case 'Write':
      return {
        tool,
        input: { file_path: file, content: words(random, 30) },
        response: { type: 'create', filePath: file },
      }
    case 'Task':
      return {
        tool,
        input: { description: 'look', prompt: words(random), subagent_type: 'Explore' },
        response: { status: 'completed', agentId: 'a1', content: [{ type: 'text', text: words(random) }] },
      }
    default:
      return { tool, input: { pattern: words(random, 2), path: file }, response: words(random, 30) }
  }
}

/** What Claude Code (1.0 to 2.1), Codex, Gemini CLI, OpenCode (through its plugin), Copilot CLI and Cursor pass to a hook. */
export function hookPayload(random: Random): { client: string; payload: Record<string, unknown> } {
  const make = random.pick([
    ['claude-code', claudePayload],
    ['claude-code', claudePayload],
    ['codex', codexPayload],
    ['gemini', geminiPayload],
    ['opencode', openCodePayload],
    ['copilot', copilotPayload],
    ['cursor', cursorPayload],
    ['qwen', qwenPayload],
  ] as const)
  return { client: make[0], payload: make[1](random) }
}

const PATCH =
  '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+z\n*** Delete File: c.ts\n*** End Patch'

function codexPayload(random: Random): Record<string, unknown> {
  const base = { session_id: sessionId(random), turn_id: promptId(random), cwd: random.pick(DIRECTORIES) }
  const use = {
    ...base,
    hook_event_name: 'PostToolUse',
    tool_use_id: toolId(random),
    transcript_path: '/tmp/none.jsonl',
  }
  return random.pick<Record<string, unknown>>([
    { ...use, tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_response: words(random, 40) },
    {
      ...use,
      tool_name: 'apply_patch',
      tool_input: { command: PATCH },
      tool_response: 'Exit code: 0\nOutput:\nSuccess.',
    },
    { ...use, tool_name: 'mcp__crm__ping', tool_input: {}, tool_response: { content: [{ text: 'x' }], isError: true } },
    { ...use, tool_name: 'spawn_agent', tool_input: { message: words(random) }, tool_response: '{"agent_id":"1"}' },
    { ...base, hook_event_name: 'UserPromptSubmit', prompt: words(random, 30) },
    { ...base, hook_event_name: 'Stop', last_assistant_message: words(random, 30) },
    { ...base, hook_event_name: 'Interrupt' },
  ])
}

function openCodePayload(random: Random): Record<string, unknown> {
  const base = { session_id: sessionId(random), turn_id: promptId(random), cwd: random.pick(DIRECTORIES) }
  const use = { ...base, hook_event_name: 'tool.execute.after', call_id: toolId(random) }
  const edit = { filePath: '/a.ts', oldString: 'x', newString: 'y' }
  return random.pick<Record<string, unknown>>([
    { ...use, tool: 'bash', args: { command: 'npm test' }, result: { metadata: { output: words(random), exit: 3 } } },
    { ...use, tool: 'edit', args: edit, result: { metadata: { diff: '@@ -1,1 +1,1 @@\n-x\n+y\n' } } },
    { ...use, tool: 'apply_patch', args: { patchText: PATCH }, result: {} },
    {
      ...use,
      tool: 'task',
      args: { prompt: 'x' },
      result: { output: '<task_result>\nx\n</task_result>', metadata: { sessionId: 's' } },
    },
    { ...base, hook_event_name: 'tool.error', tool: 'read', args: {}, error: words(random) },
    { ...base, hook_event_name: 'chat.message', prompt: `"${words(random, 30)}"` },
    { ...base, hook_event_name: 'session.error', error: 'APIError' },
  ])
}

function copilotPayload(random: Random): Record<string, unknown> {
  const base = { session_id: sessionId(random), cwd: random.pick(DIRECTORIES), timestamp: '2026-11-16T14:59:00.413Z' }
  const agent = { agent_id: 'a', agent_type: 'general-purpose', parent_agent_id: sessionId(random) }
  const use = { ...base, ...random.pick<Record<string, unknown>>([{}, agent]), hook_event_name: 'PostToolUse' }
  const result = (text: string) => ({ result_type: 'success', text_result_for_llm: text })
  return random.pick<Record<string, unknown>>([
    {
      ...use,
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_result: result('x\n<shellId: 1 completed with exit code 3>'),
    },
    {
      ...use,
      tool_name: 'Edit',
      tool_input: { path: '/a', old_str: 'x', new_str: 'y' },
      tool_result: result('updated'),
    },
    { ...use, tool_name: 'apply_patch', tool_input: { patch: PATCH }, tool_result: result('Done') },
    { ...use, hook_event_name: 'PostToolUseFailure', tool_name: 'Read', tool_input: {}, error: words(random) },
    { ...base, hook_event_name: 'UserPromptSubmit', prompt: words(random, 30) },
    { ...base, ...agent, hook_event_name: 'SubagentStop', last_assistant_message: words(random) },
  ])
}

function geminiPayload(random: Random): Record<string, unknown> {
  const base = { session_id: sessionId(random), cwd: random.pick(DIRECTORIES), timestamp: '2026-11-16T14:47:34.613Z' }
  const use = { ...base, hook_event_name: 'AfterTool' }
  const shell = { llmContent: `Output: ${words(random)}\nExit Code: 3`, returnDisplay: words(random) }
  const edit = { fileDiff: '@@ -1,2 +1,2 @@\n-x\n+y\n', originalContent: 'x\n', isNewFile: false }
  return random.pick<Record<string, unknown>>([
    { ...use, tool_name: 'run_shell_command', tool_input: { command: 'npm test' }, tool_response: shell },
    {
      ...use,
      tool_name: 'replace',
      tool_input: { file_path: '/a', old_string: 'x' },
      tool_response: { returnDisplay: edit },
    },
    {
      ...use,
      tool_name: 'read_file',
      tool_input: {},
      tool_response: { llmContent: [{ text: 'x' }], error: { message: 'no' } },
    },
    {
      ...base,
      hook_event_name: 'BeforeAgent',
      prompt: `<hook_context>${words(random)}</hook_context>${words(random)}`,
    },
    { ...base, hook_event_name: 'AfterAgent', prompt_response: words(random, 30) },
    { ...base, hook_event_name: 'SessionEnd', reason: 'exit' },
  ])
}

function qwenPayload(random: Random): Record<string, unknown> {
  const base = { session_id: sessionId(random), cwd: random.pick(DIRECTORIES), prompt_id: promptId(random) }
  const use = { ...base, hook_event_name: 'PostToolUse', tool_call_id: toolId(random) }
  return random.pick<Record<string, unknown>>([
    {
      ...use,
      tool_name: 'run_shell_command',
      tool_input: { command: 'ls' },
      tool_response: `Command: ls\nDirectory: (root)\nOutput: ${words(random)}\nError: (none)\nExit Code: 3`,
    },
    { ...use, tool_name: 'read_file', tool_input: { file_path: '/a' }, tool_response: words(random) },
    { ...base, hook_event_name: 'UserPromptSubmit', prompt: words(random, 30) },
    { ...base, hook_event_name: 'Stop', last_assistant_message: words(random, 30) },
  ])
}

function claudePayload(random: Random): Record<string, unknown> {
  const base = {
    session_id: sessionId(random),
    transcript_path: '/tmp/none.jsonl',
    cwd: random.pick(DIRECTORIES),
    ...(random.chance(0.6) ? { prompt_id: promptId(random) } : {}),
    permission_mode: 'default',
  }
  const { tool, input, response } = toolFields(random)
  const use = { tool_name: tool, tool_input: input, ...(random.chance(0.7) ? { tool_use_id: toolId(random) } : {}) }
  const agent = random.chance(0.2) ? { agent_id: 'agent-1', agent_type: 'Explore' } : {}
  return random.pick<Record<string, unknown>>([
    { ...base, hook_event_name: 'SessionStart', source: random.pick(['startup', 'resume', 'clear', 'compact']) },
    { ...base, hook_event_name: 'UserPromptSubmit', prompt: words(random, 40) },
    { ...base, ...agent, ...use, hook_event_name: 'PostToolUse', tool_response: response, duration_ms: 12 },
    { ...base, ...agent, ...use, hook_event_name: 'PostToolUse', tool_response: response, duration_ms: 12 },
    {
      ...base,
      ...use,
      hook_event_name: 'PostToolUseFailure',
      error: words(random),
      is_interrupt: false,
      duration_ms: 3,
    },
    { ...base, ...use, hook_event_name: 'PreToolUse' },
    {
      ...base,
      hook_event_name: 'SubagentStop',
      agent_id: 'agent-1',
      agent_type: 'Explore',
      last_assistant_message: words(random),
    },
    { ...base, hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' },
    { ...base, hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: words(random, 60) },
    { ...base, hook_event_name: 'StopFailure', error: 'overloaded' },
    { ...base, hook_event_name: 'SessionEnd', reason: 'prompt_input_exit' },
  ])
}

function cursorPayload(random: Random): Record<string, unknown> {
  const base = {
    conversation_id: sessionId(random),
    generation_id: promptId(random),
    workspace_roots: [random.pick(DIRECTORIES)],
    cursor_version: '2.4.1',
  }
  return random.pick<Record<string, unknown>>([
    { ...base, hook_event_name: 'sessionStart' },
    { ...base, hook_event_name: 'beforeSubmitPrompt', prompt: words(random, 30) },
    { ...base, hook_event_name: 'afterShellExecution', command: 'npm test', output: words(random, 40), duration: 5 },
    {
      ...base,
      hook_event_name: 'afterFileEdit',
      file_path: '/home/dev/shop/a.ts',
      edits: [{ old_string: 'a', new_string: 'b' }],
    },
    {
      ...base,
      hook_event_name: 'afterMCPExecution',
      tool_name: 'MCP:crm:find',
      tool_input: '{"q":"x"}',
      result_json: '{"rows":[1]}',
      duration: 5,
    },
    { ...base, hook_event_name: 'stop', status: random.pick(['completed', 'aborted', 'error']), error_message: 'x' },
    { ...base, hook_event_name: 'sessionEnd', reason: 'user_close' },
  ])
}

/** An event as the hook sends it. */
export function memoryEvent(random: Random): Record<string, unknown> {
  const { tool, input, response } = toolFields(random)
  const base = {
    id: toolId(random),
    session: sessionId(random),
    at: time(random),
    client: 'claude-code',
    project: { key: `/home/dev/${random.pick(WORDS)}`, name: 'shop' },
    cwd: '/home/dev/shop',
    transcriptPath: null,
    promptId: random.chance(0.5) ? promptId(random) : null,
    agent: random.chance(0.1) ? { id: 'agent-1', type: 'Explore' } : null,
  }
  return random.pick<Record<string, unknown>>([
    { ...base, kind: 'session_start', source: 'startup' },
    { ...base, kind: 'prompt', text: words(random, 30), private: false },
    { ...base, kind: 'tool_use', tool, input, response, durationMs: 4 },
    { ...base, kind: 'tool_use', tool, input, response, durationMs: 4 },
    { ...base, kind: 'tool_failure', tool, input, error: words(random), interrupted: false, durationMs: null },
    { ...base, kind: 'subagent_end', lastMessage: words(random) },
    { ...base, kind: 'pre_compact', trigger: 'auto' },
    { ...base, kind: 'turn_end', lastMessage: words(random, 40), error: null, words: [words(random, 10)] },
    { ...base, kind: 'session_end', reason: 'other' },
  ])
}

/**
 * A request on the socket. Those that end the daemon, copy the database or write outside of the data directory are left
 * out: they would do what they say.
 */
export function request(random: Random): Record<string, unknown> {
  const id = `r${random.between(1, 1_000_000)}`
  return { v: PROTOCOL_VERSION, id, ...operation(random) }
}

function operation(random: Random): Record<string, unknown> {
  const session = sessionId(random)
  const observation = random.between(1, 2_000)
  const filters = random.chance(0.4)
    ? { project: null, types: [random.pick(OBSERVATION_TYPES)], concepts: ['x'], files: ['src'], since: time(random) }
    : {}
  if (random.chance(0.35)) return { type: 'event', event: memoryEvent(random), version: '0.1.0' }
  return random.pick<() => Record<string, unknown>>([
    () => ({ type: 'hello', version: '0.1.0' }),
    () => ({ type: 'status' }),
    () => ({ type: 'health' }),
    () => ({ type: 'search', query: words(random, 6), mode: 'auto', limit: 10, offset: 0, ...filters }),
    () => ({ type: 'search', query: words(random, 3), mode: 'strict', limit: 10, ...filters }),
    () => ({ type: 'observations', ids: [observation, observation + 1] }),
    () => ({ type: 'observation', id: observation, observation }),
    () => ({ type: 'timeline', observation, query: words(random, 3), before: 3, after: 3 }),
    () => ({ type: 'summaries', session, limit: 5 }),
    () => ({ type: 'memory_stats' }),
    () => ({ type: 'origin', observation }),
    () => ({
      type: 'remember',
      project: { key: '/home/dev/shop', name: 'shop' },
      title: words(random, 4),
      text: words(random, 30),
      kind: 'decision',
      concepts: ['a'],
      files: ['b'],
    }),
    () => ({ type: 'correct', observation, title: words(random, 3), text: words(random) }),
    () => ({ type: 'forget', ids: [observation], confirm: random.chance(0.2), filters: {} }),
    () => ({ type: 'pin', ids: [observation], on: random.chance(0.5) }),
    () => ({ type: 'link', from: observation + 1, to: observation, on: true }),
    () => ({ type: 'indexing' }),
    () => ({ type: 'context', project: '/home/dev/shop', tokens: 500 }),
    () => ({ type: 'projects' }),
    () => ({ type: 'project_rename', project: '/home/dev/shop', name: words(random, 2) }),
    () => ({ type: 'project_merge', from: '/home/dev/cache', into: '/home/dev/shop', confirm: false }),
    () => ({
      type: 'import',
      batch: { sessions: [], records: [observationRecord(random)], dryRun: random.chance(0.3) },
    }),
    () => ({
      type: 'file_context',
      session,
      project: { key: '/home/dev/shop', name: 'shop' },
      cwd: '/home/dev/shop',
      file: '/home/dev/shop/a.ts',
      changedAt: 0,
    }),
    () => ({ type: 'sessions', limit: 10 }),
    () => ({ type: 'session', session, trace: 10 }),
    () => ({ type: 'story', session, rows: 10 }),
    () => ({ type: 'event_view', event: toolId(random), session }),
    () => ({ type: 'payloads', session, after: null, limit: 5 }),
    () => ({ type: 'queue', limit: 10 }),
    () => ({ type: 'queue_stats' }),
    () => ({ type: 'calls', session, limit: 3 }),
    () => ({ type: 'usage', days: 3 }),
    () => ({ type: 'activity', days: 3 }),
    () => ({ type: 'reported', sessions: [{ session, end: 'transcript:end:x' }] }),
    () => ({ type: 'queue_retry', session }),
    () => ({ type: 'queue_clear', session, pending: false }),
    () => ({ type: 'flush', session, wait: false }),
    () => ({ type: 'close_session', session }),
    () => ({ type: 'reopen_session', session }),
    () => ({ type: 'purge_session', session }),
    () => ({ type: 'subscribe', since: null }),
    () => ({ type: 'viewer_link' }),
    () => ({ type: 'settings' }),
    () => ({ type: 'setting_set', name: `CLAUDE_MEM_${words(random, 1)}`, value: words(random, 1) }),
  ])()
}

export function observationRecord(random: Random): Record<string, unknown> {
  return {
    kind: 'observation',
    id: random.between(1, 100_000),
    session: sessionId(random),
    project: '/home/dev/shop',
    createdAt: time(random),
    type: random.pick(OBSERVATION_TYPES),
    title: words(random, 8),
    subtitle: words(random, 8),
    narrative: words(random, 40),
    facts: [words(random), words(random)],
    concepts: ['cache'],
    filesRead: ['src/a.ts'],
    filesModified: ['src/b.ts'],
    functionsChanged: [{ name: 'total', file: 'src/b.ts', action: 'modified' }],
    agent: null,
    promptNumber: 1,
    discoveryTokens: 200,
    discoveryEstimated: true,
    sources: ['toolu_1'],
    model: null,
    promptVersion: '3',
  }
}

/** The lines of an export: header, records, end. */
export function exportLines(random: Random): Record<string, unknown>[] {
  const session = sessionId(random)
  const observation = observationRecord(random)
  const records: Record<string, unknown>[] = [
    { kind: 'project', key: '/home/dev/shop', name: 'shop' },
    {
      kind: 'session',
      project: '/home/dev/shop',
      id: session,
      client: 'claude-code',
      cwd: '/home/dev/shop',
      prompts: 2,
      startedAt: time(random),
      heardAt: time(random),
    },
    { kind: 'prompt', session, number: 1, text: words(random, 20), at: time(random) },
    { ...observation, session },
    {
      kind: 'summary',
      session,
      project: '/home/dev/shop',
      createdAt: time(random),
      request: words(random),
      investigated: null,
      learned: words(random),
      completed: words(random),
      nextSteps: null,
      notes: null,
      filesRead: [],
      filesEdited: ['a.ts'],
      promptNumber: 1,
      model: null,
    },
    { kind: 'link', from: observation.id, to: observation.id, link: 'supersedes', by: 'person', at: time(random) },
    { kind: 'pin', observation: observation.id, at: time(random) },
  ].filter(() => random.chance(0.85))
  return [
    { 'claude-mem': 1, program: '0.1.0', exportedAt: new Date(time(random)).toISOString() },
    ...records,
    { kind: 'end', records: records.length },
  ]
}

/** The lines of a transcript of Claude Code: a prompt, tool uses with their results, a subagent, the answer. */
export function transcriptLines(random: Random): Record<string, unknown>[] {
  const session = sessionId(random)
  let at = time(random)
  let parent: string | null = null
  const line = (fields: Record<string, unknown>): Record<string, unknown> => {
    const uuid = `uuid-${random.between(1, 1_000_000)}`
    at += random.between(1, 5_000)
    const made = {
      parentUuid: parent,
      isSidechain: false,
      userType: 'external',
      cwd: random.pick(DIRECTORIES),
      sessionId: session,
      version: '2.1.30',
      uuid,
      timestamp: new Date(at).toISOString(),
      ...fields,
    }
    parent = uuid
    return made
  }
  const lines = [
    line({ type: 'user', promptId: promptId(random), message: { role: 'user', content: words(random, 20) } }),
  ]
  for (let n = random.between(0, 4); n > 0; n--) {
    const { tool, input, response } = toolFields(random)
    const id = toolId(random)
    const usage = { input_tokens: 5, output_tokens: 9, cache_read_input_tokens: 100, cache_creation_input_tokens: 3 }
    lines.push(
      line({
        type: 'assistant',
        message: {
          id: `msg_${n}`,
          role: 'assistant',
          model: 'claude',
          content: [
            { type: 'text', text: words(random) },
            { type: 'tool_use', id, name: tool, input },
          ],
          usage,
        },
      }),
      line({
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: id, content: words(random, 20), is_error: random.chance(0.2) }],
        },
        toolUseResult: response,
      }),
    )
  }
  if (random.chance(0.2))
    lines.push(
      line({ type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto', preTokens: 1 } }),
    )
  if (random.chance(0.2))
    lines.push(
      line({
        isSidechain: true,
        agentId: 'a1',
        type: 'assistant',
        message: { role: 'assistant', content: words(random) },
      }),
    )
  if (random.chance(0.2)) lines.push({ type: 'summary', summary: words(random), leafUuid: 'x' })
  lines.push(
    line({
      type: 'assistant',
      message: { id: 'msg_end', role: 'assistant', content: [{ type: 'text', text: words(random, 30) }] },
    }),
  )
  return lines
}

/** What a model writes: observations, a summary, a skip, with prose around them. */
export function modelReply(random: Random): string {
  const parts = Array.from({ length: random.between(1, 4) }, () =>
    random.pick<() => string>([
      () =>
        `<observation from="1,2"><type>${random.pick(OBSERVATION_TYPES)}</type><title>${words(random, 8)}</title><subtitle>${words(random, 8)}</subtitle><narrative>${words(random, 40)}</narrative><facts><fact>${words(random)}</fact><fact>${words(random)}</fact></facts><concepts><concept>cache</concept></concepts><files_read><file>src/a.ts</file></files_read><files_modified><file>src/b.ts</file></files_modified><functions_changed><function name="total" file="src/b.ts" action="modified"/></functions_changed><supersedes>12</supersedes></observation>`,
      () =>
        `<summary><request>${words(random)}</request><investigated>${words(random)}</investigated><learned>${words(random)}</learned><completed>${words(random)}</completed><next_steps>${words(random)}</next_steps><notes>${words(random)}</notes></summary>`,
      () => `<skip reason="${words(random)}"/>`,
      () => `<skip_summary>${words(random)}</skip_summary>`,
      () => words(random, 30),
      () => `\`\`\`xml\n<observation><title>${words(random, 5)}</title></observation>\n\`\`\``,
      () => `&lt;observation&gt;&lt;title&gt;${words(random, 5)}&lt;/title&gt;&lt;/observation&gt;`,
      () => `<thinking>${words(random, 30)}</thinking>`,
    ])(),
  )
  return parts.join(random.pick(['\n', '', '\n\n', ' ']))
}
