/** git: commits with branch, hash and message, and the results of push, merge, rebase and other commands. */
import { quotedName } from '../../../domain/reported-speech.ts'
import { joinNames } from '../text.ts'
import {
  allMatches,
  clipLine,
  hasMatch,
  lastMatch,
  type OutputReader,
  outputReading,
  reportedError,
  type SentenceRule,
  type ShellRun,
  sentencesFrom,
} from './output.ts'

const COMMIT = /^\[(.{1,100}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$/
const TRAILER = /^(?:[A-Z][\w-]+-(?:by|with|on)|Change-Id|Refs?|Fixes|Closes): |^\W*Generated (?:with|by)\b/i
/** Enough for the reason of a commit, not for a changelog. */
const MAX_BODY_CHARS = 400
const MAX_FACTS_PER_RULE = 5

const GIT_FACTS: SentenceRule[] = [
  [/^ {3}([0-9a-f]{7,40}\.\.[0-9a-f]{7,40})\s+(\S+) -> (\S+)/, 'Pushed $2 to $3 ($1)'],
  [/^ \+ ([0-9a-f]{7,40}\.{3}[0-9a-f]{7,40})\s+(\S+) -> (\S+) \(forced/, 'Force-pushed $2 to $3 ($1)'],
  [/^ \* \[new branch\]\s+(\S+) -> (\S+)/, 'Pushed new branch $1 to $2'],
  [/^ \* \[new tag\]\s+(\S+)/, 'Pushed new tag $1'],
  [/^ - \[deleted\]\s+(?:\(none\) -> )?(\S+)/, 'Deleted remote $1'],
  [/^Switched to (a new )?branch '(.+)'/, ([, isNew, name]) => `${isNew ? 'Created' : 'Switched to'} branch ${name}`],
  [/^Merge made by the '(?:\w+)' strategy/, 'Merged with a merge commit'],
  [/^Fast-forward/, 'Merged by fast-forward'],
  [/^Successfully rebased and updated (?:refs\/heads\/)?(.+?)\.?$/, 'Rebased $1'],
  [/^Saved working directory and index state (.+)$/, 'Stashed $1'],
  [/^Dropped (?:refs\/)?(stash@\{\d+\})/, 'Restored and dropped $1'],
  [/^HEAD is now at ([0-9a-f]{7,40}) (.+)$/, 'HEAD is now at $1: $2'],
  [/^Deleted branch (\S+)/, 'Deleted branch $1'],
  [/^Cloning into '(.+?)'/, 'Cloned into $1'],
  [/^(https:\/\/\S+\/(?:pull|merge_requests|issues|releases\/tag)\/\S+)$/, 'Opened $1'],
  [/^Everything up-to-date/, 'Nothing to push'],
]

/** Others choose the names of branches and tags. */
function withQuotedNames(fact: string): string {
  return fact
    .split(' ')
    .map((word) => (/[-_./]/.test(word) ? quotedName(word) : word))
    .join(' ')
}

export const readGit: OutputReader = (run, lines) => {
  const facts = [...commitFacts(run, lines), ...resultFacts(run, lines)].map(withQuotedNames)
  const conflicts = allMatches(
    lines,
    /^CONFLICT \(.+?\): .*?(?:Merge conflict in |deleted in .*? and modified|)(\S+)$/,
  ).map(([, file = '']) => file)
  if (conflicts.length > 0) {
    return outputReading({
      headline: `conflict in ${joinNames(conflicts, 4)}`,
      facts: [...facts, `Merge conflict in ${joinNames(conflicts, 6)}`],
      failed: true,
      errors: conflicts.map((file) => reportedError(`merge conflict in ${file}`, file)),
    })
  }
  const [first] = facts
  if (first !== undefined) return outputReading({ headline: first + diffStat(lines), facts })
  const nothing = hasMatch(lines, /^(?:nothing to commit|no changes added to commit)/)
  return nothing ? outputReading({ headline: 'nothing to commit' }) : null
}

function commitFacts(run: ShellRun, lines: string[]): string[] {
  return allMatches(lines, COMMIT).flatMap(([, branch, hash, subject = '']) => {
    const body = run.kind === 'commit' ? commitBody(run, subject) : ''
    const facts = [`Committed ${hash} on ${branch}: ${clipLine(subject, 160)}`]
    return body === '' ? facts : [...facts, `Commit ${hash} explains: ${clipLine(body, MAX_BODY_CHARS)}`]
  })
}

/** The message without its subject: `-m subject -m body`, or one text of several lines. */
function commitBody(run: ShellRun, subject: string): string {
  const messages = run.args.flatMap((arg, i) => {
    if (/^(?:-[a-z]*m|--message)$/.test(run.args[i - 1] ?? '')) return [arg]
    return arg.startsWith('--message=') ? [arg.slice('--message='.length)] : []
  })
  if (messages.length === 0 && run.body !== null) messages.push(run.body)
  return messages
    .join('\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== subject.trim() && !TRAILER.test(line))
    .join(' ')
}

function diffStat(lines: string[]): string {
  const stat = lastMatch(lines, /^ (\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?)/)?.[1]
  return stat === undefined ? '' : ` (${stat.replace(/\([+-]\)/g, '')})`
}

function resultFacts(run: ShellRun, lines: string[]): string[] {
  const facts = sentencesFrom(lines, GIT_FACTS, MAX_FACTS_PER_RULE)
  // `git tag` prints nothing where it succeeds.
  const [verb, tag] = run.args.filter((arg) => !arg.startsWith('-'))
  const isTag = run.program === 'git' && run.kind === 'git' && verb === 'tag'
  if (isTag && tag && !hasMatch(lines, /^(?:fatal|error):/)) facts.push(`Tagged ${tag}`)
  return facts.map((fact) => clipLine(fact, 200))
}

/** The message in a `git commit` command line: -m, several -m, or a heredoc. */
const HEREDOC = /<<-?\s*['"]?(\w+)['"]?\r?\n([\s\S]*?)\r?\n\s*\1\b/
const MESSAGE_FLAG = /(?:\s-[a-zA-Z]*m|\s--message)(?:\s+|=)(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))/g
const MAX_MESSAGE_CHARS = 4_000

/** `git commit` with options of git before the verb. A message may contain the words, so only a command's beginning counts. */
const COMMIT_COMMAND = /(?:^|[;&|(]|\n)\s{0,8}git(?: -[cC] \S{1,200})*(?: --?[\w-]{1,40}(?:=\S{1,200})?)* commit\b(?!-)/

export function isCommitCommand(command: string): boolean {
  return COMMIT_COMMAND.test(command.slice(0, MAX_MESSAGE_CHARS * 2))
}

export function isAmendment(command: string): boolean {
  const line = command.slice(0, MAX_MESSAGE_CHARS * 2)
  return COMMIT_COMMAND.test(line) && /\s--amend\b/.test(line)
}

const ADDED_PATHS = /\bgit(?: -[cC] \S{1,200})* add ([^;&|\n]{1,2000})/g

/** The paths of `git add` in the command line; null if there are none, or if it adds everything. */
export function stagedPaths(command: string): string[] | null {
  const line = command.slice(0, MAX_MESSAGE_CHARS * 2)
  const paths = [...line.matchAll(ADDED_PATHS)].flatMap(([, list = '']) => list.trim().split(/\s+/))
  const addsAll =
    paths.some((path) => path === '.' || path.startsWith('-')) || /\bcommit\b[^;&|\n]{0,40} -[a-z]{0,4}a/.test(line)
  return paths.length === 0 || addsAll ? null : paths.map((path) => path.replace(/["']/g, ''))
}

export function readCommitMessage(command: string): string | null {
  const line = command.slice(0, MAX_MESSAGE_CHARS * 2)
  if (!isCommitCommand(line)) return null
  const heredoc = HEREDOC.exec(line)?.[2]
  if (heredoc !== undefined) return heredoc.trim().slice(0, MAX_MESSAGE_CHARS)
  const parts = [...line.matchAll(MESSAGE_FLAG)].map(
    (match) => match[1]?.replace(/\\(["\\$`])/g, '$1') ?? match[2] ?? match[3] ?? '',
  )
  const text = parts.join('\n\n').trim()
  return text === '' || text.startsWith('$(') ? null : text.slice(0, MAX_MESSAGE_CHARS)
}
