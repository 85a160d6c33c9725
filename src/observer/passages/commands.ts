/**
 * Passages of shell commands: the command, what it was for, its result and the telling lines of its output. A commit is
 * kept with its whole message. Commands that only show files or directories are left out.
 */
import type { ToolFailureEvent, ToolUseEvent } from '../../domain/event.ts'
import { findTellingLines } from '../../domain/telling-lines.ts'
import { isCommitCommand, readCommitMessage } from '../tool-events/commands/git.ts'
import { commandOutput, readCommand } from '../tool-events/commands/index.ts'
import { asFields, type JsonFields, stringField } from '../tool-events/json-fields.ts'
import { singleLine } from '../tool-events/text.ts'
import type { CommandResult } from '../tool-events/types.ts'
import { cutLines, cutProse, isReadable, type PassageContent } from './pieces.ts'

/** Of one command; the first says what it did. */
const MAX_COMMAND_PASSAGES = 4
const MAX_COMMIT_PASSAGES = 8
const MAX_SUBJECT_CHARS = 160
/** An output of so few characters is kept whole, but for its noise. */
const SHORT_OUTPUT_CHARS = 1_200
/** Lines of a longer output that are kept at its beginning and its end. */
const FIRST_LINES = 3
const LAST_LINES = 8
/** Characters of a line that are kept. */
const MAX_LINE_CHARS = 300

export function commandPassages(event: ToolUseEvent | ToolFailureEvent, input: JsonFields): PassageContent[] {
  const command = stringField(input, 'command')
  const response = event.kind === 'tool_use' ? asFields(event.response) : {}
  const plain = event.kind === 'tool_use' && typeof event.response === 'string' ? event.response : ''
  const stdout = stringField(response, 'stdout') || plain
  const stderr = stringField(response, 'stderr')
  const error = event.kind === 'tool_failure' ? event.error : null
  const ran = { command, stdout, stderr, failed: error !== null, error }
  const lines = commandOutput(ran)
  const result = readCommand(ran, lines)
  const message = result.ok ? (readCommitMessage(command) ?? printedTitle(command, lines)) : null
  const commit = message === null ? [] : commitPassages(message, lines)
  if (commit.length > 0) return commit
  if (result.kind === 'look' && result.ok && !showsState(command)) return []
  const told = resultLines(result, lines)
  if (told.length === 0 && ROUTINE.test(command)) return []
  const subject =
    command === '' ? 'output of a background command' : singleLine(withoutDirectory(command), MAX_SUBJECT_CHARS)
  const about = singleLine(stringField(input, 'description'), MAX_SUBJECT_CHARS)
  const pieces = cutLines([...(about === '' ? [] : [about]), ...told], MAX_COMMAND_PASSAGES)
  return pieces.map((text) => ({ kind: 'command', subject, outcome: result.ok ? 'ok' : 'failed', text }))
}

/** Where a command without any output ran, or what it prepared, is no news. */
const ROUTINE = /^(?:cd \S+ && )?(?:git add|cd|mkdir|sleep|echo|touch|export|source|kill|pkill|true|clear)\b/

/** `cd /somewhere && make` is about `make`. */
function withoutDirectory(command: string): string {
  return command.replace(/^\s*cd\s+(?:"[^"\n]{1,400}"|'[^'\n]{1,400}'|[^\s;&]{1,400})\s*&&\s*(?=\S)/, '')
}

/** Shows the state of a repository or a service, which the files do not have. */
function showsState(command: string): boolean {
  return /\b(?:git (?:log|status|show --stat|branch|remote|stash|tag|reflog|diff --stat|worktree)|gh |glab |kubectl |docker |systemctl |terraform |wc )/.test(
    command.slice(0, 2_000),
  )
}

/** `[main 1a2b3c4] subject`: the hash of a commit in git's output. */
const COMMITTED = /^\[(\S+)(?: \([^)]{1,40}\))? ([0-9a-f]{7,40})\] /
const CHANGED = /^ \d+ files? changed/
const NEW_FILE = /^ create mode \d+ (?:"?)([^/"\s]+\/)?/

/** Of a commit whose message is not in the command: one that was amended, or written in an editor. */
function printedTitle(command: string, lines: readonly string[]): string | null {
  if (!isCommitCommand(command)) return null
  const line = lines.find((one) => COMMITTED.test(one))
  return line?.replace(COMMITTED, '').trim() || null
}

function commitPassages(message: string, lines: readonly string[]): PassageContent[] {
  const hash = lines.map((line) => COMMITTED.exec(line)?.[2]).find((one) => one !== undefined) ?? null
  const changed = lines.find((line) => CHANGED.test(line))?.trim()
  const text = changed === undefined ? message : `${message}\n\n${changed}${newFiles(lines)}`
  const pieces = cutProse(withoutTrailers(text), MAX_COMMIT_PASSAGES)
  return pieces.map((piece) => ({ kind: 'commit', subject: hash, outcome: 'ok', text: piece }))
}

/** Directories that are named: those with most of the new files. */
const MAX_DIRECTORIES = 6

/** Where the new files of a commit are: a commit may take in more than it says. */
function newFiles(lines: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const line of lines) {
    const match = NEW_FILE.exec(line)
    if (match !== null) counts.set(match[1] ?? './', (counts.get(match[1] ?? './') ?? 0) + 1)
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_DIRECTORIES)
  return most.length === 0 ? '' : `; new files in ${most.map(([directory]) => directory).join(', ')}`
}

/** Who signed a commit says nothing about the change. */
const TRAILER = /^(?:co-authored-by|signed-off-by|🤖 generated with|generated with)\b.*$/i

function withoutTrailers(message: string): string {
  return message
    .split('\n')
    .filter((line) => !TRAILER.test(line.trim()))
    .join('\n')
}

function resultLines(result: CommandResult, output: readonly string[]): string[] {
  const kept = keptLines(output)
  const known = new Set(kept.map((line) => line.trim()))
  return [...(result.headline === null ? [] : [result.headline]), ...result.errors]
    .filter((line) => !known.has(line.trim()))
    .concat(kept)
}

/** One test that passed, a progress bar, a download, a rule, a hint how to use git: nobody asks for them. */
const NOISE = new RegExp(
  [
    '^\\s*(?:ok \\d|[✓✔√]|PASS(?:ED)?\\b|-{2,3} PASS|=== (?:RUN|PAUSE|CONT|NAME)|test \\S+ \\.\\.\\. ok)',
    '::\\S+ PASSED\\b',
    '^\\s*(?:Compiling|Downloading|Downloaded|Fetching|Unpacking|Resolving|Receiving|Counting|Compressing|Writing|Enumerating|Building wheel|Collecting|Requirement already|Using cached|Delta compression|Progress|Get:\\d|Hit:\\d)\\b',
    '^remote: (?:Counting|Compressing|Enumerating|Resolving|Total)',
    '^\\s*\\d{1,3}%',
    '^[^\\p{L}\\p{N}]*$',
    '^\\s*at (?:\\S+ )?\\(?(?:node:|\\S*node_modules)',
    '^ (?:create|delete|rename) mode \\d',
    '^ \\S.{0,200}\\s\\|\\s+(?:\\d+ [+-]*|Bin .*)$',
    '^\\s*\\(use "git ',
    '^hint: (?:Disable|Use -f)',
    '^Shell cwd was reset to ',
  ].join('|'),
  'u',
)
/** Spinners and frames that a program draws around its lines. */
const DRAWN = /^[\s⠀-⣿│┃║╎▏|]+|[\s⠀-⣿│┃║╎]+$/g
/** `job<TAB>step<TAB>time text`, as the logs of GitHub's actions. */
const JOB_LOG = /^([^\t]{1,80})\t[^\t]{1,120}\t\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z\s?/

function withoutFrame(line: string): string {
  const start = line.slice(0, MAX_LINE_CHARS * 2)
  const head = start.includes('\t') ? start.replace(JOB_LOG, '$1: ') : start
  return /[⠀-⣿│┃║╎]/.test(head) ? head.replace(DRAWN, '') : head
}

function keptLines(output: readonly string[]): string[] {
  const lines = distinctLines(output.map(withoutFrame).filter((line) => line.trim() !== '' && !NOISE.test(line)))
  const text = lines.join('\n')
  if (!isReadable(text)) return []
  if (text.length <= SHORT_OUTPUT_CHARS) return lines
  const telling = new Set(findTellingLines(text, 0, text.length).map((line) => line.text))
  return lines.filter((line, i) => i < FIRST_LINES || i >= lines.length - LAST_LINES || telling.has(line))
}

/** The same line, or the same but for its numbers more than a few times, is repeated output. */
const MAX_SIMILAR_LINES = 4

function distinctLines(lines: readonly string[]): string[] {
  const seen = new Set<string>()
  const shapes = new Map<string, number>()
  return lines.flatMap((line) => {
    const text = line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS - 1)}…` : line
    const shape = text.replace(/\d+/g, '0')
    const similar = (shapes.get(shape) ?? 0) + 1
    shapes.set(shape, similar)
    if (seen.has(text) || similar > MAX_SIMILAR_LINES) return []
    seen.add(text)
    return [text]
  })
}
