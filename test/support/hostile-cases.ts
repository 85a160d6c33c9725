/** Every function that reads stored or foreign text, with one hostile text as everything it reads. */
import { describe, it } from 'vitest'
import { highlightWords } from '../../src/cli/commands/search.ts'
import { createStyle } from '../../src/cli/style.ts'
import { displayWidth, paragraphLines, terminalSafe, truncate, wrapText } from '../../src/cli/text.ts'
import { openEnd } from '../../src/context/choices.ts'
import { withoutSection, withSection } from '../../src/context/files/section.ts'
import { detailLine, observationTitle } from '../../src/context/lines.ts'
import { quoteBegin, quoteLines } from '../../src/context/quote.ts'
import { fileHeading, isSameFile, relevance, significantWords } from '../../src/context/recall.ts'
import { renderStart } from '../../src/context/start.ts'
import { byline, othersForgottenText, receivedFromText } from '../../src/domain/authorship.ts'
import { CLIENT_NAMES, type ClientName } from '../../src/domain/clients.ts'
import { maskEnvFile, maskWrittenCredentials } from '../../src/domain/credential-files.ts'
import { parseMoment } from '../../src/domain/dates.ts'
import type { InboxEvent, MemoryEvent } from '../../src/domain/event.ts'
import { plainText, tableCell, truncateAtWord } from '../../src/domain/plain-text.ts'
import { isEntirelyPrivate, removePrivateParts, removePrivatePartsDeep } from '../../src/domain/private-parts.ts'
import { nameSpan, quotation, quotedLines } from '../../src/domain/quotation.ts'
import { claimedRepository, remotesInConfig, repositoryKeyOf } from '../../src/domain/repository.ts'
import { cutOutput, sanitizeText, sanitizeToolFields } from '../../src/domain/sanitize.ts'
import { foldConcept, foldPath } from '../../src/domain/search-query.ts'
import { secretKindForName } from '../../src/domain/secret-names.ts'
import { maskSecrets } from '../../src/domain/secrets.ts'
import { parseTranscriptLine, typedText } from '../../src/domain/transcript-entry.ts'
import type { HookPayload } from '../../src/hook/clients/adapter.ts'
import { clientAdapterNamed } from '../../src/hook/clients/index.ts'
import { parseJsonObject } from '../../src/hook/payload.ts'
import { stripColors } from '../../src/lib/format.ts'
import { splitTokens, splitWords } from '../../src/lib/words.ts'
import { oneLine, paragraphs } from '../../src/mcp/text.ts'
import { renderBatch } from '../../src/observer/model/messages.ts'
import { prepareNovelty, stableText } from '../../src/observer/model/novelty.ts'
import { promptAttribute, promptLine, promptText } from '../../src/observer/model/prompt-text.ts'
import { parseReply } from '../../src/observer/model/reply/index.ts'
import { describeToolUse } from '../../src/observer/model/tool-use.ts'
import { makeWithheldFilter } from '../../src/observer/model/withheld.ts'
import {
  lastPart,
  mostInformative,
  openingText,
  statementsOf,
  titleFrom,
} from '../../src/observer/offline/statements.ts'
import { parseClaudeStream } from '../../src/observer/providers/claude-code/reply.ts'
import { isTooLongError } from '../../src/observer/providers/failures.ts'
import { usageLimitWaitMs } from '../../src/observer/providers/retry-after.ts'
import { declaredName, functionsChanged } from '../../src/reading/declarations.ts'
import { readGitState } from '../../src/reading/git.ts'
import { isOutputLine, outputLines, readTotals, tellingLines } from '../../src/reading/output.ts'
import { passagesOfEvent } from '../../src/reading/passages.ts'
import { cutProse } from '../../src/reading/pieces.ts'
import { notifiedReport, withoutBoilerplate } from '../../src/reading/prompt.ts'
import { checkName, readCommandLine } from '../../src/reading/shell.ts'
import { isOutsidePath, isSameTree, pathInProject, singleLine } from '../../src/reading/text.ts'
import { readToolUse } from '../../src/reading/tool-use.ts'
import { readWords } from '../../src/reading/words.ts'
import { parseNodes, withoutComments } from '../../src/setup/install/json-edit.ts'
import { readTomlTables } from '../../src/setup/install/toml-edit.ts'
import { indexedPairs, queryWords } from '../../src/store/sqlite/full-text-search.ts'
import { readNote } from '../../src/transfer/exchange/auto-memory.ts'
import { markdownCode, markdownLine, markdownLines } from '../../src/transfer/exchange/markdown.ts'
import { highlightPieces, safeLine, safeText } from '../../src/viewer/safe-text.ts'
import { material, NOW, OPTIONS, observation, passage } from '../context/samples.ts'
import { bash, bashFails, edit, failed, grep, used, write } from '../observer/events.ts'
import { expectLinearOnHostileText } from './hostile-text.ts'

type Cases = Record<string, (text: string) => unknown>

const CLEANING: Cases = {
  removePrivateParts,
  isEntirelyPrivate,
  removePrivatePartsDeep: (text) => removePrivatePartsDeep({ [text]: [text, { text }] }),
  maskSecrets,
  secretKindForName,
  sanitizeText: (text) => sanitizeText(text),
  'sanitizeToolFields, output': (text) => sanitizeToolFields({ input: { command: 'x' }, response: { stdout: text } }),
  'sanitizeToolFields, command': (text) => sanitizeToolFields({ input: { command: text }, response: {} }),
  'sanitizeToolFields, .env': (text) =>
    sanitizeToolFields({ input: { file_path: '.env' }, response: { content: text } }),
  'sanitizeToolFields, cat .env': (text) =>
    sanitizeToolFields({ input: { command: 'cat .env' }, response: { stdout: text } }),
  'sanitizeToolFields, names': (text) =>
    sanitizeToolFields({ input: { [text]: text, file_path: text }, response: text }),
  parseJsonObject,
  claimedRepository: (text) => claimedRepository(`[remote "origin"]\nurl = ${text}`),
  repositoryKeyOf,
}

/** Every name under which a tool of a client has a text, with the same text. */
const toolFields = (text: string): HookPayload => ({
  ...Object.fromEntries(
    [
      ...[
        'command',
        'cmd',
        'input',
        'patch',
        'patchText',
        'path',
        'file_path',
        'filePath',
        'absolute_path',
        'dir_path',
      ],
      ...['content', 'file_text', 'old_str', 'new_str', 'old_string', 'new_string', 'oldString', 'newString'],
      ...['prompt', 'message', 'agent_type', 'agent_name', 'subagent_type', 'pattern', 'url', 'query'],
    ].map((name) => [name, text]),
  ),
  edits: [{ oldString: text, newString: text, old_string: text, new_string: text }],
})

const uses = (tools: readonly string[], make: (tool: string) => HookPayload): HookPayload[] =>
  [...tools, 'another'].map(make)

const result = (text: string): HookPayload => ({
  ...{ output: text, stdout: text, stderr: text, content: [{ text }], text_result_for_llm: text, llmContent: text },
  returnDisplay: { fileDiff: text, originalContent: text },
  metadata: { output: text, diff: text, sessionId: text },
})

const GEMINI_TOOLS = ['run_shell_command', 'read_file', 'replace', 'write_file', 'invoke_agent', 'glob', 'web_fetch']

/** What each client sends, with one text as all of its texts. The type asks for a row for a new client. */
const PAYLOADS: Record<ClientName, (text: string) => HookPayload[]> = {
  'claude-code': (text) => [
    { hook_event_name: 'UserPromptSubmit', prompt: text },
    { hook_event_name: 'PostToolUse', tool_name: text, tool_input: toolFields(text), tool_response: text },
  ],
  codex: (text) => [
    { hook_event_name: 'Stop', last_assistant_message: text },
    ...uses(['Bash', 'apply_patch', 'view_image', 'spawn_agent', text], (tool_name) => ({
      hook_event_name: 'PostToolUse',
      ...{ cwd: `/${text}`, tool_name, tool_use_id: 'call', tool_input: toolFields(text), tool_response: text },
    })),
  ],
  gemini: (text) => [
    { hook_event_name: 'BeforeAgent', prompt: text },
    ...uses(GEMINI_TOOLS, (tool_name) => ({
      hook_event_name: 'AfterTool',
      ...{ tool_name, tool_input: toolFields(text), tool_response: result(text) },
    })),
    ...['Output: ', "Subagent 'x' finished.\nTermination Reason: x\nResult:\n", '<untrusted_context>\n'].flatMap(
      (head) =>
        uses(GEMINI_TOOLS.slice(0, 5), (tool_name) => ({
          hook_event_name: 'AfterTool',
          ...{ tool_name, tool_input: {}, tool_response: { llmContent: head + text } },
        })),
    ),
  ],
  opencode: (text) => [
    { hook_event_name: 'chat.message', prompt: `"${text}"` },
    { hook_event_name: 'tool.error', tool: text, args: toolFields(text), error: text },
    ...uses(
      ['bash', 'read', 'write', 'edit', 'multiedit', 'apply_patch', 'glob', 'grep', 'webfetch', 'task', text],
      (tool) => ({
        hook_event_name: 'tool.execute.after',
        ...{ cwd: `/${text}`, tool, call_id: 'call', args: toolFields(text), result: result(text) },
      }),
    ),
  ],
  copilot: (text) => [
    { hook_event_name: 'UserPromptSubmit', prompt: text },
    ...uses(['Bash', 'Write', 'Read', 'Edit', 'Agent', 'apply_patch', 'Grep', text], (tool_name) => ({
      hook_event_name: 'PostToolUse',
      ...{ cwd: `/${text}`, tool_name, tool_input: toolFields(text), tool_result: result(text) },
    })),
  ],
  cursor: (text) => [
    { hook_event_name: 'beforeSubmitPrompt', prompt: text, workspace_roots: [text] },
    { hook_event_name: 'afterShellExecution', command: text, output: text },
    { hook_event_name: 'afterFileEdit', ...toolFields(text) },
    { hook_event_name: 'afterMCPExecution', tool_name: text, tool_input: text, result_json: text },
  ],
  qwen: (text) => [
    { hook_event_name: 'UserPromptSubmit', prompt: text },
    ...uses(GEMINI_TOOLS, (tool_name) => ({
      hook_event_name: 'PostToolUse',
      ...{ tool_name, tool_call_id: 'call', tool_input: toolFields(text), tool_response: `Output: ${text}` },
    })),
  ],
}

const ADAPTERS: Cases = Object.fromEntries(
  CLIENT_NAMES.map((client): [string, (text: string) => unknown] => [
    client,
    (text) =>
      PAYLOADS[client](text).map((payload) =>
        clientAdapterNamed(client)?.translate({ session_id: 's', ...payload }, {}, text),
      ),
  ]),
)

const CONTEXT: Cases = {
  plainText,
  quotation: (text) => quotation(text),
  quotedLines: (text) => quotedLines('tool', text, 8_000),
  nameSpan: (text) => nameSpan(text),
  tableCell: (text) => tableCell(text, 60_000),
  truncateAtWord: (text) => truncateAtWord(text, 60_000),
  observationTitle: (text) => observationTitle(observation(1, { title: text, subtitle: text })),
  detailLine: (text) => detailLine(observation(1, { narrative: text, facts: [text, text] })),
  byline: (text) => byline({ author: text }, 0, 0),
  receivedFromText: (text) => receivedFromText({ author: text, machine: text }, null),
  othersForgottenText: (text) => othersForgottenText([{ author: text, observations: 1 }]),
  'context of other people': (text) => {
    const theirs = {
      title: text,
      narrative: text,
      facts: [text, text],
      type: 'decision' as const,
      author: text,
      machine: text,
    }
    return renderStart(material({ observations: [observation(1, theirs)], pinned: [observation(2, theirs)] }), OPTIONS)
  },
  openEnd: (text) => openEnd(`${text}\nWhich one?`),
  quoteBegin: (text) => quoteBegin(text, 200),
  quoteLines: (text) => quoteLines(text.split('\n')),
  'context of 12 turns': (text) => {
    const said = Array.from({ length: 12 }, (_, i) =>
      (['prompt', 'closing', 'command', 'commit', 'edit', 'answer', 'check', 'status', 'words'] as const).map((kind) =>
        passage(kind, text, { subject: text, outcome: 'ok', promptNumber: i, eventId: `${kind}-${i}` }),
      ),
    )
    return renderStart(material({ passages: said.flat() }), OPTIONS)
  },
  'context of 12 notes': (text) => {
    const notes = Array.from({ length: 12 }, (_, i) =>
      observation(i + 1, { title: text, narrative: text, facts: [text] }),
    )
    return renderStart(material({ observations: notes }), OPTIONS)
  },
  fileHeading: (text) => fileHeading({ file: text, cwd: text }),
  isSameFile: (text) => isSameFile(text, { file: text, cwd: '/home/me' }, text),
  relevance: (text) => relevance(text, ['a', 'b']),
  significantWords,
  withSection: (text) => withSection(text, ['a'], []),
  withoutSection: (text) => withoutSection(text, []),
}

const events = (text: string): InboxEvent[] => [
  bash(text, text),
  bash('npm test', text),
  bash('git log', text),
  bashFails('pytest', text),
  bashFails(text, text),
  failed('WebFetch', { url: text }, text),
  used('WebFetch', { url: text, prompt: text }, { result: text }),
  used('mcp__x__y', { a: text }, [{ type: 'text', text }]),
  used('Task', { prompt: text }, { content: [{ type: 'text', text }] }),
  grep(text, [text]),
  write(`src/${text.slice(0, 20)}.ts`, text),
  ...['ts', 'py', 'rs', 'go', 'yaml', 'json', 'md', 'mk', 'sql', 'css'].map((ext) =>
    edit(`a.${ext}`, text, text.slice(0, 9), text),
  ),
]

const turnEnd = (text: string): MemoryEvent => ({
  ...bash('', ''),
  kind: 'turn_end',
  lastMessage: text,
  error: null,
  words: [text],
})

const READING: Cases = Object.fromEntries([
  ...events('').map((_, i): [string, (text: string) => unknown] => [
    `tool event ${i}`,
    (text) => {
      const event = events(text)[i]
      if (event === undefined || event.kind === 'subagent_end') return null
      const made = passagesOfEvent(event, 1)
      return [readToolUse(event), functionsChanged(made), made]
    },
  ]),
  ...Object.entries<(text: string) => unknown>({
    'passages of a turn': (text) => passagesOfEvent(turnEnd(text), 1),
    withoutBoilerplate,
    notifiedReport,
    readWords,
    cutProse: (text) => cutProse(text, 30),
    readCommandLine: (text) => readCommandLine(text, '/home/dev/shop'),
    checkName,
    'output of a command': (text) => [tellingLines(outputLines([text, text])), readTotals(outputLines([text]))],
    readGitState: (text) =>
      readGitState([passage('status', text, { subject: 'git status' }), passage('commit', text, { subject: text })]),
    'declarations of all languages': (text) =>
      ['a.ts', 'a.py', 'a.go', 'a.rs', 'a.rb', 'a.sh', 'a.sql', 'a.java'].map((file) =>
        text.split('\n').map((line) => declaredName(file, line)),
      ),
    isOutputLine,
    isSameTree: (text) => isSameTree(text, text),
    pathInProject: (text) => isOutsidePath(pathInProject(text, text)),
    singleLine: (text) => singleLine(text, 400),
  }),
])

const OFFLINE: Cases = {
  titleFrom: (text) => titleFrom(readWords(text)),
  statements: (text) => mostInformative(statementsOf(readWords(text)), 2_400),
  openingText: (text) => openingText(statementsOf(readWords(text)), 900),
  lastPart: (text) => lastPart(readWords(text)),
}

const filter = makeWithheldFilter({ tools: ['a*b'], paths: ['**/a*/b?'] })
const BATCH = {
  projectDir: '/home/dev/shop',
  fieldChars: 32_000,
  totalChars: 200_000,
  folded: [],
  withheld: [],
}

const MODEL: Cases = {
  promptText,
  promptLine: (text) => promptLine(text, 20_000),
  promptAttribute: (text) => promptAttribute('file', text),
  cutOutput: (text) => cutOutput(text, 8_000),
  renderBatch: (text) => renderBatch(events(text).slice(0, 6), BATCH),
  describeToolUse: (text) =>
    events(text)
      .slice(0, 8)
      .map((event) => describeToolUse(event, text)),
  prepareNovelty: (text) => prepareNovelty(events(text).slice(0, 6)).fold(new Map()),
  withheld: (text) =>
    events(text)
      .slice(0, 6)
      .map((event) => filter.reasonFor(event)),
  stableText,
  parseReply,
  'parseReply, inside': (text) =>
    parseReply(
      `<observation><type>a</type><title>${text}</title><facts>${text}</facts><files_read>${text}</files_read></observation>`,
    ),
  isTooLongError,
}

const SHOWING: Cases = {
  queryWords,
  indexedPairs,
  splitWords,
  splitTokens,
  foldConcept,
  foldPath,
  parseMoment: (text) => parseMoment(text, 'start', NOW),
  oneLine: (text) => oneLine(text, 60_000),
  paragraphs: (text) => paragraphs(text, 60_000),
  markdownLines,
  markdownLine,
  markdownCode,
  safeText: (text) => safeText(text),
  safeLine: (text) => safeLine(text),
  highlightPieces: (text) => highlightPieces(text, ['a', 'error']),
  highlightWords: (text) => highlightWords(text, ['a', 'error'], createStyle(true)),
  terminalSafe,
  displayWidth,
  truncate: (text) => truncate(text, 200),
  wrapText: (text) => wrapText(text, 80),
  paragraphLines: (text) => paragraphLines(text, 80),
  stripColors,
}

/** What a parser refuses is read as far as it goes. */
const tried =
  (work: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return work(text)
    } catch (error) {
      return error
    }
  }

const FILES: Cases = {
  'notes of the auto-memory': (text) => [readNote(text, 'a'), readNote(`---\n${text}\n---\n${text}`, 'a')],
  'TOML of a client': tried((text) => readTomlTables(text, 'config.toml')),
  'TOML of a client, value': tried((text) => readTomlTables(`a = ${text}`, 'config.toml')),
  'JSON of a client': tried(parseNodes),
  'JSON of a client, string': tried((text) => parseNodes(`{"a": "${text}"}`)),
  withoutComments,
  'output of the claude program': tried(parseClaudeStream),
  'line of a transcript': (text) =>
    parseTranscriptLine(JSON.stringify({ type: 'user', uuid: 'a', message: { role: 'user', content: text } })),
  typedText,
  'remotes of a repository': remotesInConfig,
  maskEnvFile,
  maskWrittenCredentials: (text) => maskWrittenCredentials(`cat > .env <<EOF\n${text}`),
  'words of a usage limit': (text) => usageLimitWaitMs(null, text, 0),
}

/** Defines one test per function. `pieces` are those of `HOSTILE_PIECES` that are tried. */
export function describeHostileText(pieces: readonly string[]): void {
  describe.each([
    ['adapters of clients', ADAPTERS],
    ['cleaning', CLEANING],
    ['context', CONTEXT],
    ['reading', READING],
    ['offline observer', OFFLINE],
    ['observer with a model', MODEL],
    ['search and display', SHOWING],
    ['files and programs of others', FILES],
  ] as const)('hostile text: %s', (_, cases) => {
    it.each(Object.entries(cases))(
      '%s takes linear time',
      (name, work) => expectLinearOnHostileText(work, name, pieces),
      TIMEOUT,
    )
  })
}

/** Ms: a case may read 200 texts of 64 KB, on a machine that may be busy. */
const TIMEOUT = 300_000
