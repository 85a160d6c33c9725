/**
 * Gemini CLI (seen with 0.61). It has other event and tool names, and neither tool ids nor turn ids; each payload has the
 * time of its event. What differs:
 *
 * - Context at a session's start does not arrive after `/clear` or a resume in its terminal; at a prompt it always does.
 * - Context arrives with `<` and `>` escaped. In headless mode a prompt begins with the context that hooks gave before it.
 * - A shell command's exit code is in the text for the model. SessionEnd is reported two or three times.
 */
import { parseJsonObject } from '../payload.ts'
import { type ClientAdapter, fieldsOf, type HookOutcome, type HookPayload, stringOrEmpty } from './adapter.ts'
import {
  editUse,
  mcpToolName,
  otherToolName,
  readUse,
  shellUse,
  subagentUse,
  toolFailure,
  toolUse,
  unifiedDiffHunks,
  writeUse,
} from './tool-shapes.ts'

export const geminiAdapter: ClientAdapter = {
  name: 'gemini',
  traits: { turnIds: 'derived', startContext: 'prompt', contextChars: null },
  translate: (payload) => {
    const event = stringOrEmpty(payload.hook_event_name)
    const fields = Object.hasOwn(TRANSLATORS, event) ? TRANSLATORS[event]?.(payload) : null
    const { session_id, transcript_path, cwd } = payload
    return fields === null || fields === undefined ? [] : [{ session_id, transcript_path, cwd, ...fields }]
  },
  answer: ({ event, context, message }: HookOutcome) => {
    const hookEventName = event === 'UserPromptSubmit' ? 'BeforeAgent' : event
    const isGiven = context !== '' && event === 'UserPromptSubmit'
    return {
      ...(isGiven ? { hookSpecificOutput: { hookEventName, additionalContext: withoutAngles(context) } } : {}),
      ...(message === '' ? {} : { systemMessage: message }),
    }
  },
}

const TRANSLATORS: Record<string, (payload: HookPayload) => HookPayload | null> = {
  SessionStart: ({ source }) => ({ hook_event_name: 'SessionStart', source }),
  BeforeAgent: ({ prompt }) => ({ hook_event_name: 'UserPromptSubmit', prompt: withoutHookContext(prompt) }),
  AfterTool: (payload) => geminiToolUse(payload),
  AfterAgent: ({ prompt_response }) => ({ hook_event_name: 'Stop', last_assistant_message: prompt_response }),
  SessionEnd: ({ reason }) => ({ hook_event_name: 'SessionEnd', reason, event_key: 'end' }),
}

/** The tags of our block arrive escaped: brackets are easier to read, for a model, too. */
function withoutAngles(context: string): string {
  return context.replace(/^<(\/?[a-z-]+)>$/gm, '[$1]')
}

const HOOK_CONTEXT = /^\s*<hook_context>[\s\S]*?<\/hook_context>\s*/

/** What hooks inserted before a prompt. */
export function withoutHookContext(prompt: unknown): string {
  let text = stringOrEmpty(prompt)
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replace(HOOK_CONTEXT, '')
  }
  return text
}

/** Of a payload of AfterTool, and of a call in a transcript. Null: not reported. */
export function geminiToolUse({ tool_name, tool_input, tool_response, mcp_context }: HookPayload): HookPayload | null {
  const input = fieldsOf(tool_input)
  const response = fieldsOf(tool_response)
  const tool = toolName(stringOrEmpty(tool_name), fieldsOf(mcp_context))
  // Submits the result of a subagent, which `invoke_agent` returns.
  if (tool === 'complete_task') return null
  const shown = Object.hasOwn(TOOL_SHAPES, tool) ? TOOL_SHAPES[tool] : undefined
  const use = shown?.(input, response) ?? toolUse(otherToolName(tool), input, resultText(response))
  const error = stringOrEmpty(fieldsOf(response.error).message)
  const failed = error !== '' || response.error !== undefined
  if (!failed || use.hook_event_name === 'PostToolUseFailure') return use
  const isCancelled = /cancel{1,2}ed/i.test(error)
  return toolFailure(String(use.tool_name), use.tool_input, error || resultText(response), isCancelled)
}

function toolName(name: string, { server_name, tool_name }: HookPayload): string {
  const server = stringOrEmpty(server_name)
  return server === '' ? name : mcpToolName(server, stringOrEmpty(tool_name) || name)
}

type ToolShape = (input: HookPayload, response: HookPayload) => HookPayload

const TOOL_SHAPES: Record<string, ToolShape> = {
  run_shell_command: (input, response) => {
    const command = stringOrEmpty(input.command)
    const text = resultText(response)
    const shown = stringOrEmpty(response.returnDisplay)
    if (/^Command was automatically cancelled/.test(text)) return toolFailure('Bash', { command }, text)
    const { output, code, signal } = shellResult(text, command, shown)
    const stdout = shown || output
    if (signal !== null) return toolFailure('Bash', { command }, `Ended by signal ${signal}\n${stdout}`)
    return shellUse({
      command,
      stdout,
      exitCode: code ?? 0,
      interrupted: /^(?:Command was cancelled by user|Tool execution cancelled by user)/.test(text),
    })
  },
  read_file: ({ file_path, absolute_path }, response) =>
    readUse(stringOrEmpty(file_path) || stringOrEmpty(absolute_path), resultText(response)),
  replace: ({ file_path, old_string, new_string }, response) => {
    const { fileDiff, originalContent } = fieldsOf(response.returnDisplay)
    return editUse({
      filePath: stringOrEmpty(file_path),
      edits: [{ old_string: stringOrEmpty(old_string), new_string: stringOrEmpty(new_string) }],
      hunks: unifiedDiffHunks(stringOrEmpty(fileDiff)),
      originalFile: typeof originalContent === 'string' ? originalContent : null,
    })
  },
  write_file: ({ file_path, content }, response) => {
    const { fileDiff, originalContent, isNewFile } = fieldsOf(response.returnDisplay)
    const before = typeof originalContent === 'string' ? { originalFile: originalContent } : {}
    return writeUse({
      filePath: stringOrEmpty(file_path),
      content: stringOrEmpty(content),
      ...(isNewFile === true ? { originalFile: null } : before),
      hunks: unifiedDiffHunks(stringOrEmpty(fileDiff)),
    })
  },
  glob: ({ pattern, path }, response) => toolUse('Glob', { pattern, path }, resultText(response)),
  grep_search: ({ pattern, path }, response) => toolUse('Grep', { pattern, path }, resultText(response)),
  search_file_content: ({ pattern, path }, response) => toolUse('Grep', { pattern, path }, resultText(response)),
  list_directory: ({ path, dir_path }, response) => toolUse('LS', { path: path ?? dir_path }, resultText(response)),
  web_fetch: ({ prompt, url }, response) => toolUse('WebFetch', { url: url ?? prompt, prompt }, resultText(response)),
  google_web_search: ({ query }, response) => toolUse('WebSearch', { query }, resultText(response)),
  write_todos: (input) => toolUse('TodoWrite', input, null),
  invoke_agent: ({ agent_name, prompt }, response) =>
    subagentUse(stringOrEmpty(agent_name), stringOrEmpty(prompt), agentReport(resultText(response))),
}

/** What the model was given: a text or parts with texts, in a wrapper that marks it as not trusted. */
function resultText({ llmContent }: HookPayload): string {
  const parts = Array.isArray(llmContent) ? llmContent : [llmContent]
  const texts = parts.map((part) => (typeof part === 'string' ? part : stringOrEmpty(fieldsOf(part).text)))
  return texts
    .filter((text) => text !== '')
    .join('\n')
    .replace(/^<untrusted_context>\n([\s\S]*)\n<\/untrusted_context>$/, '$1')
}

/** `Subagent 'x' finished.`, its reason, and its result, which is JSON with one text. */
function agentReport(text: string): string {
  const [, result = text] =
    /^Subagent '[^'\n]*' finished\.\nTermination Reason: .*\nResult:\n([\s\S]*)$/.exec(text) ?? []
  const [only, ...more] = Object.values(parseJsonObject(result) ?? {})
  return typeof only === 'string' && more.length === 0 ? only : result
}

interface ShellResult {
  output: string
  /** Null: the client did not say one. */
  code: number | null
  signal: string | null
}

/** What Gemini CLI, and Qwen Code, say after a command's output. It is at the end: the output may have such lines, too. */
const SHELL_END =
  /(?:\nError: .*)?(?:\nExit Code: (\d{1,3}|\(none\)))?(?:\nSignal: (\S+))?(?:\nBackground PIDs: .*)?(?:\nProcess Group PGID: \S+)?$/

/** `Output: …` and its end, in Qwen Code after `Command: …` and `Directory: …`. `shown`: the output, if it is known. */
function shellResult(text: string, command: string, shown: string): ShellResult {
  const head = `Command: ${command}\n`
  const rest = text.startsWith(head) ? text.slice(text.indexOf('\nOutput: ', head.length - 1) + 1) : text
  if (!rest.startsWith(OUTPUT)) return { output: '', code: null, signal: null }
  const from = shown !== '' && rest.startsWith(shown, OUTPUT.length) ? OUTPUT.length + shown.length : OUTPUT.length
  const end = SHELL_END.exec(rest.slice(from))
  const output = rest.slice(OUTPUT.length, from + (end?.index ?? rest.length))
  const [, code = '', signal = '(none)'] = end ?? []
  return {
    output: output === '(empty)' ? '' : output,
    code: /^\d/.test(code) ? Number(code) : null,
    signal: signal === '(none)' ? null : signal,
  }
}

const OUTPUT = 'Output: '
