/**
 * Where the work stopped, read from passages and therefore known without an observer: the last result of each kind of
 * check, the commits, and the files that were edited after the last one.
 */
import { formatDay, formatTime } from '../domain/dates.ts'
import type { Passage } from '../domain/passage.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { quoted, quotedName, reportedText } from '../domain/reported-speech.ts'
import { rateOutputLine } from '../domain/telling-lines.ts'
import type { ContextMaterial } from '../store/port.ts'
import { shownPath } from './lines.ts'

/** The checks that a next session asks about, in the order of the text. */
const CHECKS = [
  [
    'Tests',
    /^(?:(?:py)?tests?|vitest|jest|mocha|ava|rspec|phpunit|pest|tox|nox|ctest|cypress|playwright|check|ci|verify|e2e|specs?|coverage|llvm-cov|nextest|gotestsum|unittest|bats)$/,
  ],
  ['Types', /^(?:tsc|mypy|pyright|pyrefly|typecheck|type-check|types|check-types|vue-tsc|phpstan|vet)$/],
  // Before the linters: `ruff format` formats.
  ['Format', /^(?:prettier|fmt|format|black|gofmt|rustfmt)$/],
  [
    'Lint',
    /^(?:lint|eslint|biome|ruff|clippy|flake8|pylint|golangci-lint|rubocop|shellcheck|stylelint|knip|audit|tflint)$/,
  ],
  [
    'Build',
    /^(?:build|compile|make|webpack|rollup|esbuild|gcc|javac|bundle|package|xcodebuild|cmake|ninja|docker-build)$/,
  ],
  ['Deploy', /^(?:deploy|apply|upgrade|rollout|publish|release|ansible-playbook|migrate|provision)$/],
  ['Push', /^push$/],
  ['Run', /^(?:start|serve|dev|up|run)$/],
] as const satisfies readonly (readonly [string, RegExp])[]
type CheckName = (typeof CHECKS)[number][0]

/** Programs that only look at something: their arguments may be any words. */
const LOOKING =
  /^(?:cat|head|tail|less|more|grep|egrep|rg|ag|find|fd|ls|tree|echo|printf|sed|awk|jq|yq|wc|diff|which|type|man|sleep|cd|export|source|set|git(?! push\b)|gh|curl|wget|mkdir|rm|mv|cp|touch|chmod|kill|pkill|ps|sqlite3|psql|(?:npm|pnpm|yarn|bun|pip|uv|cargo|go|apt|brew) (?:i|install|add|ci|remove|uninstall|get|view|ls|list|info)|(?:python3?|node|ruby|perl|bash|sh|deno)(?: -\S+)* -[ce])\b/
const MAX_COMMAND_CHARS = 400
const MAX_SHOWN_COMMAND_CHARS = 70
const MAX_RESULT_CHARS = 110
const MAX_COMMITS = 8
const COMMIT_TITLE_CHARS = 72
const MAX_FILES = 10

interface FoundCheck {
  check: CheckName
  command: string
  /** Its output was passed to another program. */
  isPiped: boolean
}

export interface LastResult extends FoundCheck {
  /** The line of the output that says most; empty if none does. */
  telling: string
  passage: Passage
}

/** The newest result of each kind of check, in the order of `CHECKS`. `passages` are newest first. */
export function lastResults(passages: readonly Passage[]): LastResult[] {
  const results = new Map<CheckName, LastResult>()
  for (const passage of passages) {
    if (passage.kind !== 'command' || passage.outcome === null || passage.subject === null) continue
    const found = checksOfCommand(passage.subject)
    // Of several checks in a line that failed, it is not known which one did.
    const known = passage.outcome === 'ok' || found.length === 1 ? found : []
    for (const [i, one] of known.entries()) {
      // The result at the end of the output is that of the last one.
      const telling =
        one.check === 'Push' && passage.outcome === 'ok' ? '' : i === known.length - 1 ? tellingLine(passage) : ''
      // Behind a pipe the exit code is not that of the check: without a result nothing is known.
      const isKnown = passage.outcome === 'failed' || !one.isPiped || telling !== ''
      if (isKnown && !results.has(one.check)) results.set(one.check, { ...one, telling, passage })
    }
  }
  return CHECKS.flatMap(([name]) => results.get(name) ?? [])
}

/** What a shell line checks. */
function checksOfCommand(line: string): FoundCheck[] {
  // Words in quotation marks and in a here-document are texts, such as the message of a commit.
  const typed = (line.split('<<')[0] ?? '').slice(0, MAX_COMMAND_CHARS).replace(/"[^"]*(?:"|$)|'[^']*(?:'|$)/g, '…')
  return typed.split(/&&|\|\||;|\n/).flatMap((part) => {
    const command = withoutPlumbing(part)
    const check = command === '' || LOOKING.test(command) ? null : checkOfCommand(command)
    return check === null ? [] : [{ check, command, isPiped: part.includes('|') }]
  })
}

/** Whether the passage is a run of a check, and not only a look at something. */
export function isCheck({ kind, subject }: Passage): boolean {
  return kind === 'command' && subject !== null && checksOfCommand(subject).length > 0
}

/** By the first word that names a check: `ruff` in `uv run ruff check .`. */
function checkOfCommand(command: string): CheckName | null {
  const words = command.split(' ').filter((word) => !word.startsWith('-'))
  for (const word of words.slice(0, 4)) {
    const file = word.slice(word.lastIndexOf('/') + 1)
    const names = [word, file, ...file.replace(/\.\w+$/, '').split(/[:_]/)].map((name) => name.toLowerCase())
    // `npm run`, `go run` and `uv run` are not what is run.
    if (word === 'run') continue
    const check = CHECKS.find(([, pattern]) => names.some((name) => pattern.test(name)))
    if (check !== undefined) return check[0]
  }
  return null
}

/** Without what is before it (variables) and what its output is passed to. */
function withoutPlumbing(part: string): string {
  return plainText(part.split('|')[0] ?? '')
    .replace(/\s*\d?>&?\s?\S+/g, '')
    .replace(/^(?:\(|\w+=\S*\s+)+/, '')
    .replace(/^(?:time|sudo|env|npx|bunx|pnpm exec|timeout \S+)\s+/, '')
    .trim()
}

/** What they print is a state that anyone can ask for, or nothing. */
const UNTOLD: ReadonlySet<CheckName> = new Set(['Format', 'Push'])

/** All results in one line: each is short, and a reader wants to know them together. Null if there is none. */
export function resultsLine(results: readonly LastResult[], now: number): string | null {
  const told = results.filter(({ check, passage }) => !UNTOLD.has(check) || passage.outcome === 'failed')
  const texts = told.map(({ command, isPiped, telling, passage: { outcome, at } }) => {
    const shown = `\`${truncateAtWord(command.replaceAll('`', "'"), MAX_SHOWN_COMMAND_CHARS)}\``
    const result = outcome === 'failed' ? ' FAILED' : isPiped ? '' : ' passed'
    return `${shown}${result}${telling === '' ? '' : `: ${quoted(telling)}`} (${timeOf(at, now)})`
  })
  return texts.length === 0 ? null : `Last results: ${texts.join('; ')}`
}

/** When the commits were pushed; null if that is not known. */
export function pushedAt(results: readonly LastResult[], commits: readonly CommitNote[]): number | null {
  const push = results.find(({ check, passage }) => check === 'Push' && passage.outcome === 'ok')?.passage.at
  return push !== undefined && push >= (commits[0]?.passage.at ?? Number.POSITIVE_INFINITY) ? push : null
}

/** How many passed, failed or were found. */
const RESULT =
  /\d+ (?:tests?|specs?|pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?|warnings?|problems?|issues?|files?)\b|^ok\b.*\d/i

/** The line of the output that says most: of a failure the first error, else the last result with a number. */
function tellingLine({ text, subject, outcome }: Passage): string {
  const lines = text
    .split('\n')
    .map((line) => plainText(line))
    .filter((line) => line !== '' && line !== subject && !line.startsWith('$ '))
  const rated = lines.filter((line) => rateOutputLine(line) > 0)
  const chosen =
    outcome === 'failed'
      ? (rated.find((line) => rateOutputLine(line) === 2) ?? lines.at(-1))
      : rated.findLast((line) => RESULT.test(line))
  return truncateAtWord(chosen ?? '', MAX_RESULT_CHARS)
}

/** `14:30`, with its day where that is another one than today's. */
export function timeOf(at: number, now: number): string {
  return `${formatDay(at, now)} ${formatTime(at)}`
}

export interface CommitNote {
  hash: string
  title: string
  /** The message below its title; empty if there is none. */
  body: string
  passage: Passage
}

/** Newest first. */
export function commitNotes(passages: readonly Passage[]): CommitNote[] {
  const byHash = new Map<string, Passage[]>()
  for (const passage of passages) {
    if (passage.kind !== 'commit' || passage.subject === null) continue
    const pieces = byHash.get(passage.subject)
    if (pieces === undefined) byHash.set(passage.subject, [passage])
    else pieces.push(passage)
  }
  return withoutAmended(
    [...byHash].flatMap(([hash, pieces]) => {
      const [first] = [...pieces].sort((a, b) => a.position - b.position)
      if (first === undefined) return []
      const whole = pieces
        .sort((a, b) => a.position - b.position)
        .map(({ text }) => text)
        .join('\n')
      const [title = '', ...body] = whole.split('\n').filter((line) => line.trim() !== '' && !TRAILER.test(line))
      return [
        {
          hash: quotedName(plainText(hash)),
          title: reportedText(truncateAtWord(plainText(title), COMMIT_TITLE_CHARS), COMMIT_WORDS),
          body: body.join('\n'),
          passage: first,
        },
      ]
    }),
  )
}

/** Of commits with one title the newest is left: it amends or replays the others. It may print no message. */
function withoutAmended(commits: readonly CommitNote[]): CommitNote[] {
  const byTitle = new Map<string, CommitNote>()
  for (const commit of commits) {
    const newer = byTitle.get(commit.title)
    if (newer === undefined) byTitle.set(commit.title, commit)
    else if (newer.body === '') byTitle.set(commit.title, { ...newer, body: commit.body })
  }
  return [...byTitle.values()]
}

/** The agent writes what it did as an order: "Add a test". Only a rule for the reader is a quotation. */
export const COMMIT_WORDS = { saidBy: 'agent', isFree: false } as const

/** Lines that tools add to a message. */
const TRAILER = /^\s*(?:co-authored-by|signed-off-by|reviewed-by|change-id)\s*:|generated with/i

export function commitsLine(commits: readonly CommitNote[], pushed: number | null, now: number): string | null {
  const [newest] = commits
  if (newest === undefined) return null
  const shown = commits.slice(0, MAX_COMMITS).map(({ hash, title }) => `${hash} ${title}`)
  const more = commits.length - shown.length
  return `Commits, newest first (${timeOf(newest.passage.at, now)}): ${shown.join('; ')}${more > 0 ? `; ${more} before` : ''}${pushed === null ? '' : `; pushed ${timeOf(pushed, now)}`}`
}

/** Files that were edited after the last commit; null if there are none or nothing is known of commits. */
export function uncommittedLine(
  { passages, project, roots }: ContextMaterial,
  commits: readonly CommitNote[],
): string | null {
  const last = commits[0]?.passage.at
  const edits = passages.filter(({ kind, at }) => kind === 'edit' && at > (last ?? 0))
  const paths = edits.map(({ subject }) => shownPath(subject ?? '', project, roots))
  const files = [...new Set(paths.filter((path) => path !== ''))]
  if (files.length === 0) return null
  const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : ''
  const what = last === undefined ? 'Edited, no commit seen' : 'Edited after the last commit'
  return `${what}: ${files.slice(0, MAX_FILES).join(', ')}${more}`
}
