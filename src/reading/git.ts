/** What git itself says: the commit that a command made, branch and working tree, what was pushed. */
import type { Passage, PassageDraft } from '../domain/passage.ts'
import {
  gitVerb,
  MAX_SHOWN_CHARS,
  OTHER_GIT,
  quotedArgument,
  readCommandLine,
  type ShellCommand,
  type ShellLine,
} from './shell.ts'
import { singleLine, unique, wordList } from './text.ts'

/** `[main 1a2b3c4] subject`, as `git commit` prints it. */
const COMMITTED = /^\[(.{1,200}?)(?: \((?:root-commit|[^)]{1,40})\))? ([0-9a-f]{7,40})\] (.+)$/
const DETACHED = 'detached HEAD'
const CHANGED = /^ \d+ files? changed/
const MAX_MESSAGE_CHARS = 6_000

export interface CommitReading {
  /** `HASH on BRANCH`, `HASH`, or null where git printed nothing. */
  subject: string | null
  /** Without trailers; ends in git's own line about the files that changed. */
  text: string
}

/**
 * The commits of a command line that did not fail. One counts if git printed it, or if it is known to have ended with 0:
 * `git commit -q` prints nothing.
 */
export function readCommits(line: ShellLine, output: readonly string[], exit: 'ok' | 'failed' | null): CommitReading[] {
  if (exit === 'failed') return []
  const made = line.commands.filter(({ kind }) => kind === 'commit')
  const printed = printedCommits(output)
  const isAlone = isGitAlone(line)
  // Where there are more or fewer lines than commits, a hook or another program printed one.
  const hasOwnLines = !made.some(isQuiet) && printed.length === made.length
  return made.flatMap((command, i): CommitReading[] => {
    const given = withoutTrailers(messageOf(command))
    const own = hasOwnLines ? printed[i] : undefined
    const shown = own !== undefined && (isAlone || isTitleOf(own.title, given)) ? own : undefined
    const isMade = shown !== undefined || (exit === 'ok' && !command.hidesExit)
    const message = given || (shown?.title ?? '')
    if (!isMade || message === '') return []
    const on = shown === undefined || shown.branch === DETACHED ? '' : ` on ${shown.branch}`
    return [
      {
        subject: shown === undefined ? null : `${shown.hash}${on}`,
        text: shown?.changed === undefined ? message : `${message}\n\n${shown.changed.trim()}`,
      },
    ]
  })
}

function printedCommits(output: readonly string[]) {
  return output.flatMap((line, at) => {
    const [, branch = '', hash = '', title = ''] = COMMITTED.exec(line) ?? []
    return hash === ''
      ? []
      : [{ branch, hash, title, changed: output.slice(at + 1, at + 4).find((one) => CHANGED.test(one)) }]
  })
}

/** Git prints the first paragraph of a message in one line; a long one is cut. */
function isTitleOf(title: string, message: string): boolean {
  const first = (message.split(/\n\s*\n/)[0] ?? '').replace(/\s+/g, ' ').trim()
  return first !== '' && (title.endsWith('…') ? first.startsWith(title.slice(0, -1)) : first === title)
}

/** The message in the arguments: `-m`, several `-m`, or the heredoc of `-F -`. Empty where it is elsewhere. */
function messageOf({ args, body }: ShellCommand): string {
  const parts = args.flatMap((arg, i) => {
    if (/^(?:-[a-zA-Z]*m|--message)$/.test(args[i - 1] ?? '')) return [arg]
    return arg.startsWith('--message=') ? [arg.slice('--message='.length)] : []
  })
  const text = (parts.length > 0 ? parts.join('\n\n') : (body ?? '')).trim()
  return text.startsWith('$(') ? '' : text.slice(0, MAX_MESSAGE_CHARS)
}

/** `Signed-off-by: …`, as git's own trailers, and the client's advertisement: who wrote a commit says nothing about it. */
const TRAILER = /^(?:[A-Za-z]+-[\w-]{1,40}: \S.*|\W{0,4}Generated with \[?[\w ]{1,40}\]?.*)$/

function withoutTrailers(message: string): string {
  const lines = message.split('\n')
  while (lines.length > 1 && (lines.at(-1)?.trim() === '' || TRAILER.test(lines.at(-1)?.trim() ?? ''))) lines.pop()
  return lines.join('\n').trim()
}

/** A commit as it is stored. */
export interface CommitRecord {
  /** Null where git printed nothing. */
  hash: string | null
  branch: string | null
  title: string
  /** The message after its first line; empty where there is no more. */
  body: string
  eventId: string
  at: number
}

/** The commits in passages, in their order: the pieces of each message together again. */
export function commitsOf(passages: readonly PassageDraft[]): CommitRecord[] {
  const commits = new Map<string, { first: PassageDraft; texts: string[] }>()
  for (const passage of passages) {
    if (passage.kind !== 'commit') continue
    const key = `${passage.eventId}\n${passage.subject}`
    const known = commits.get(key)
    if (known === undefined) commits.set(key, { first: passage, texts: [passage.text] })
    else known.texts.push(passage.text)
  }
  return [...commits.values()].map(({ first: { subject, eventId, at }, texts }) => {
    const [, hash = null, branch = null] = /^([0-9a-f]{7,40})(?: on (.+))?$/.exec(subject ?? '') ?? []
    const [title = '', ...lines] = texts.join('\n').split('\n')
    const body = lines.filter((line) => !CHANGED.test(` ${line}`))
    return { hash, branch, title, body: body.join('\n').trim(), eventId, at }
  })
}

/** `fix` of `fix(cart)!: no discount without a coupon`, in lower case; empty where there is none. */
export function commitPrefix(title: string): string {
  return /^(\w{1,12})(?:\([^)]{0,60}\))?!?: /.exec(title)?.[1]?.toLowerCase() ?? ''
}

/** Lines that only git prints; of a line with other programs they are those about branch and working tree. */
const GIT_LINE = new RegExp(
  [
    '^(?:On branch|HEAD detached|Your branch|Changes (?:to be committed|not staged)|Untracked files|nothing to commit|no changes added)',
    '^(?:Switched to|Already on|HEAD is now at|Fast-forward|Already up to date|Successfully rebased|Saved working directory)',
    "^(?:Deleted branch|Everything up-to-date|Merge made by|CONFLICT|Automatic merge failed|branch '|To (?:https?:|git@|ssh:))",
    '^(?:error|fatal): ',
    '^\\t(?:modified|deleted|new file|renamed|both modified|typechange): ',
    '^## ',
    '^[ MADRCUT?!]{2} \\S',
    '^ [ +*!=-] (?:\\[(?:new|deleted|rejected|up to date)|[0-9a-f]{7,40}\\.\\.)',
    '^ {3}[0-9a-f]{7,40}\\.\\.[0-9a-f]{7,40} ',
    '^[0-9a-f]{7,40} (?:\\(.{1,200}\\) )?\\S',
    '^\\* \\S',
  ].join('|'),
)
/** Lines of git's own output that are kept. */
const MAX_STATUS_LINES = 60
/** They print nothing, or nothing that could be taken for git's words. */
const SILENT = new Set(['mkdir', 'touch', 'cp', 'mv', 'rm', 'chmod', 'kill'])

/**
 * What git printed about branch and working tree. Of a line with other programs only lines as git writes them count; of a
 * log the first, and of any output a bounded number.
 */
export function gitStateLines(
  commands: readonly ShellCommand[],
  lines: readonly string[],
  hasCommits: boolean,
): string[] {
  const isGitOnly = commands.every(
    ({ program, kind, args }, i) =>
      (program === 'git' && (kind !== 'look' || gitVerb(args) === 'add')) ||
      SILENT.has(program) ||
      (kind === 'look' && i > 0 && isFilter(program)),
  )
  const kept = lines.filter((line) => line.trim() !== '' && !/^\s*\(use "git |^hint: /.test(line))
  const own = isGitOnly ? kept : kept.filter((line) => GIT_LINE.test(line) || COMMITTED.test(line))
  return own
    .filter(
      (line) =>
        !(hasCommits && (COMMITTED.test(line) || CHANGED.test(line))) && !/^ (?:create|delete|rename) mode /.test(line),
    )
    .slice(0, MAX_STATUS_LINES)
}

const isFilter = (program: string): boolean => ['head', 'tail', 'cat', 'grep'].includes(program)

/** The commands of git that a line has, and the names of the programs beside them: the line itself may be long. */
export function gitStateSubject({ all }: ShellLine): string {
  const asked = all.map((command, i) => {
    const isPiped = (all[i - 1]?.pipedTo ?? null) !== null
    return `${i === 0 ? '' : isPiped ? ' | ' : ' && '}${typed(command, isPiped)}`
  })
  return singleLine(asked.join(''), MAX_SHOWN_CHARS)
}

function typed({ program, args, kind }: ShellCommand, isPiped: boolean): string {
  if (kind === 'commit') return args.some(isQuietFlag) ? 'git commit -q' : 'git commit'
  const isGit = program === 'git' || program === OTHER_GIT
  if (isGit && /^(?:add|commit)$/.test(gitVerb(args))) return `${program} ${gitVerb(args)}`
  const isWhole = isGit || program === 'cd' || isPiped
  return [program, ...(isWhole ? args : [])].map(quotedArgument).join(' ')
}

/** They print nothing. */
const PRINTS_NOTHING = new Set([...SILENT, ...wordList('cd sleep true : set [ [[')])
const QUIETED = new Set(wordList('add commit checkout switch push pull fetch reset stash'))
const isQuietFlag = (arg: string): boolean => /^(?:-[a-ln-zA-Z]*q[a-z]*|--quiet)$/.test(arg)
/** Their lines have a form of their own, which none of another one of them has. */
const HAS_OWN_LINES = new Set(wordList('add status commit checkout switch push'))

/** `git commit -q`. */
function isQuiet({ args }: ShellCommand): boolean {
  return QUIETED.has(gitVerb(args)) && args.some(isQuietFlag)
}

/** Whether all that a line printed is of one command of git, or of several whose lines nobody can take for another's. */
function isGitAlone({ all, shown }: ShellLine): boolean {
  const printing = all.filter((command, i) => !printsNothing(command) && !isPipedFilter(command, all[i - 1]))
  if (shown.endsWith('…') && printing.some(({ kind }) => kind !== 'commit')) return false
  if (!printing.every(({ program }) => program === 'git')) return false
  return printing.length <= 1 || printing.every(({ args }) => HAS_OWN_LINES.has(gitVerb(args)))
}

function printsNothing(command: ShellCommand): boolean {
  const isGit = command.program === 'git'
  return PRINTS_NOTHING.has(command.program) || (isGit && (gitVerb(command.args) === 'add' || isQuiet(command)))
}

function isPipedFilter({ program, args }: ShellCommand, before: ShellCommand | undefined): boolean {
  const isFromGit = before?.program === 'git' && before.pipedTo !== null
  return isFromGit && ['head', 'tail', 'cat'].includes(program) && args.every((arg) => /^-[n\d]\d*$|^\d+$/.test(arg))
}

/** Whether a line may be about another repository. */
export function isElsewhere({ all }: ShellLine): boolean {
  return all.some(
    ({ program, args }) =>
      /^(?:cd|pushd|popd)$/.test(program) || (program === 'git' && args.some((arg) => OTHER_REPOSITORY.test(arg))),
  )
}
const OTHER_REPOSITORY = /^(?:-C|--git-dir\b.*|--work-tree\b.*|core\.worktree=.*)$/

/** A command of git that printed nothing. */
export const NO_OUTPUT = '(no output)'

/** `git status --short` that prints nothing says that the working tree is clean. */
export function isQuietStatus({ commands, shown }: ShellLine): boolean {
  const [only, ...others] = commands
  if (only?.program !== 'git' || others.length > 0 || WRITES_FILE.test(shown)) return false
  return gitVerb(only.args) === 'status' && only.args.some(isShortFlag)
}
const WRITES_FILE = /(?<!2)>/
const isShortFlag = (arg: string): boolean => /^(?:-s|-sb|--short|--porcelain.*)$/.test(arg)

export interface GitState {
  branch: { name: string; at: number } | null
  commit: { hash: string | null; subject: string; at: number } | null
  /** As the newest `git status` lists them; empty: the working tree is clean. Null: not known, or outdated. */
  uncommitted: { files: string[]; at: number } | null
  /** What git printed about the newest push that it did not refuse. */
  pushed: { text: string; at: number } | null
}

/** With ` -- ` they are about files. */
const MOVES_HEAD: ReadonlySet<string> = new Set(
  'checkout switch reset pull merge rebase cherry-pick revert am'.split(' '),
)

const movesHead = ({ args }: ShellCommand): boolean => MOVES_HEAD.has(gitVerb(args)) && !args.includes('--')

const mayMove = (command: ShellCommand): boolean =>
  command.program === 'git'
    ? movesHead(command)
    : command.program === OTHER_GIT && (movesHead(command) || gitVerb(command.args) === 'commit')

/** What is certain about a repository, from passages newest first. Commands in another directory do not count. */
export function readGitState(passages: readonly Passage[]): GitState {
  const state: GitState = { branch: null, commit: null, uncommitted: null, pushed: null }
  /** Something newer may have changed the working tree. */
  let isOutdated = false
  /** Something newer may have left the commit, here or where the command changed its directory to. */
  let isMoved = false
  for (const { kind, subject, outcome, lines, at } of gitRecords(passages)) {
    if (kind === 'commit') {
      if (outcome !== 'ok') continue
      const [, hash = null, branch = null] = /^([0-9a-f]{7,40})(?: on (.+))?$/.exec(subject) ?? []
      if (!isMoved) state.commit ??= { hash, subject: lines[0] ?? '', at }
      if (branch !== null) state.branch ??= { name: branch, at }
      isOutdated = true
      continue
    }
    const line = readCommandLine(subject)
    const commands = line.commands.filter(({ program }) => program === 'git')
    const wasMoved = isMoved
    const moves = line.commands.some(mayMove) || lines.some((one) => COMMITTED.test(one))
    isMoved ||= moves
    if (isElsewhere(line)) {
      isOutdated ||= moves
      continue
    }
    const isAlone = isGitAlone(line)
    isOutdated ||= line.commands.some((command) => command.program === OTHER_GIT && mayMove(command))
    // The last command of a line is the newest.
    for (const command of commands.toReversed()) {
      const verb = gitVerb(command.args)
      const printed = isAlone && !isQuiet(command) ? lines : []
      const branch = branchIn(verb, command.args, printed)
      if (branch !== null) state.branch ??= { name: branch, at }
      const head = headIn(verb, command.args, printed)
      if (head !== null && !wasMoved) state.commit ??= { ...head, at }
      const pushed = verb === 'push' ? pushedLine(printed) : null
      if (pushed !== null) state.pushed ??= { text: pushed, at }
      const isWhole = plainAfter(command.args, verb).length === 0 && isUnfiltered(command, lines)
      if (verb === 'status' && isAlone && !isOutdated && isWhole) {
        const files = statusFiles(lines)
        if (files !== null) state.uncommitted ??= { files, at }
      }
      if (CHANGES_TREE.has(verb) || movesHead(command)) isOutdated = true
    }
  }
  return state
}

/** `head -20` of fewer lines, or no pipe at all. */
function isUnfiltered({ pipedTo }: ShellCommand, lines: readonly string[]): boolean {
  if (pipedTo === null || pipedTo === 'cat') return true
  const [, count] = /^(?:head|tail)(?: (?:-n ?|-)(\d{1,4}))?$/.exec(pipedTo) ?? [null, null]
  return count !== null && lines.length < Number(count ?? 10)
}

const CHANGES_TREE = new Set(
  'commit stash reset pull merge rebase checkout switch restore cherry-pick revert clean rm mv'.split(' '),
)

interface GitRecord {
  kind: 'commit' | 'status'
  subject: string
  outcome: Passage['outcome']
  lines: string[]
  at: number
}

/** Passages of one event and command together, in their order. */
function gitRecords(passages: readonly Passage[]): GitRecord[] {
  const records = new Map<string, GitRecord & { parts: Map<number, string> }>()
  for (const { kind, subject, outcome, eventId, session, position, text, at } of passages) {
    if (kind !== 'commit' && kind !== 'status') continue
    const key = `${session}\n${eventId}\n${kind}\n${subject}`
    const record = records.get(key) ?? { kind, subject: subject ?? '', outcome, lines: [], at, parts: new Map() }
    record.parts.set(position, text)
    records.set(key, record)
  }
  return [...records.values()].map(({ kind, subject, outcome, at, parts }) => {
    const texts = [...parts].sort(([a], [b]) => a - b).map(([, text]) => text)
    return { kind, subject, outcome, at, lines: texts.join('\n').split('\n') }
  })
}

function firstGroup(lines: readonly string[], pattern: RegExp): string | null {
  for (const line of lines) {
    const found = pattern.exec(line)?.[1]
    if (found !== undefined) return found
  }
  return null
}

/** Null where the lines disagree: then another program of the command line prints what git prints. */
function onlyGroup(lines: readonly string[], pattern: RegExp): string | null {
  const found = new Set(lines.flatMap((line) => pattern.exec(line)?.[1] ?? []))
  return found.size === 1 ? ([...found][0] ?? null) : null
}

const lastGroup = (lines: readonly string[], pattern: RegExp): string | null => firstGroup(lines.toReversed(), pattern)

function branchIn(verb: string, args: readonly string[], lines: readonly string[]): string | null {
  const isName = lines.length === 1 && /^[^\s~^:?*[\\(]{1,200}$/.test(lines[0] ?? '')
  switch (verb) {
    case 'status':
      return onlyGroup(lines, /^(?:On branch |## (?:No commits yet on )?)([^\s.]+(?:\.(?!\.\.)[^\s.]+)*)/)
    case 'checkout':
    case 'switch':
      return lastGroup(lines, /^(?:Switched to (?:a new |and reset )?branch|Already on) '(.{1,200})'/)
    case 'branch':
      if (args.includes('--show-current')) return isName ? (lines[0] ?? null) : null
      return firstGroup(lines, /^\* ([^\s(]\S*)/)
    case 'rev-parse':
      return args.includes('--abbrev-ref') && args.includes('HEAD') && isName && lines[0] !== 'HEAD'
        ? (lines[0] ?? null)
        : null
    default:
      return null
  }
}

/** Arguments of a log with which its first line is the newest commit of the branch that is checked out. */
const HEAD_LOG =
  /^(?:-\d+|-n|--oneline|--stat|--decorate\S*|--no-pager|--no-decorate|--name-only|--shortstat|--max-count=\d+|\d+)$/

function headIn(
  verb: string,
  args: readonly string[],
  lines: readonly string[],
): { hash: string; subject: string } | null {
  if (verb === 'reset') return hashAndSubject(lines, /^HEAD is now at ([0-9a-f]{7,40}) (.+)$/)
  if (verb !== 'log' || !args.filter((arg) => arg !== 'log').every((arg) => HEAD_LOG.test(arg))) return null
  const long = /^commit ([0-9a-f]{7,40})/.exec(lines[0] ?? '')?.[1]
  if (long !== undefined) return { hash: long, subject: firstGroup(lines, /^ {4}(\S.*)$/) ?? '' }
  return hashAndSubject(lines, /^([0-9a-f]{7,40}) (?:\([^)]{1,300}\) )?(\S.*)$/)
}

function hashAndSubject(lines: readonly string[], pattern: RegExp): { hash: string; subject: string } | null {
  const match = lines.map((line) => pattern.exec(line)).find((one) => one !== null)
  return match?.[1] === undefined ? null : { hash: match[1], subject: match[2] ?? '' }
}

function plainAfter(args: readonly string[], verb: string): string[] {
  return args.slice(args.indexOf(verb) + 1).filter((arg) => !arg.startsWith('-'))
}

function pushedLine(lines: readonly string[]): string | null {
  if (lines.some((line) => /^\s*! \[|^(?:error|fatal): /.test(line))) return null
  const line = lines.find((one) =>
    /^\s*(?:[*+] )?(?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40})\s.*->|^Everything up-to-date/.test(
      one,
    ),
  )
  return line?.trim() ?? null
}

const LONG_FILE =
  /^\s+(?:(?:modified|deleted|new file|renamed|copied|typechange|both \w+|(?:added|deleted) by (?:us|them)): +)?(\S.*)$/
/** The blank at the beginning of an output is trimmed; names with blanks are quoted. */
const SHORT_FILE = /^(?:[ MADRCUT?!]{2} (?=\S)|[MADRCUT] (?=\S+$))(.+)$/

const SHORT_STATUS = /^[ MADRCUT?!]{2} \S/

/** Null if the lines are no status. */
function statusFiles(lines: readonly string[]): string[] | null {
  if (lines.length === 1 && lines[0] === NO_OUTPUT) return []
  const isClean = lines.some((line) => /^nothing to commit, working tree clean/.test(line))
  const hasChanges = lines.some((line) => /^(?:Changes |Untracked files)/.test(line) || SHORT_STATUS.test(line))
  // Another program of the command line prints what git prints.
  if (isClean && hasChanges) return null
  if (isClean) return []
  const isLong = lines.some((line) => /^(?:On branch|HEAD detached|Changes |Untracked files)/.test(line))
  const pattern = isLong ? LONG_FILE : SHORT_FILE
  const files = lines
    .flatMap((line) => pattern.exec(line)?.[1]?.trim() ?? [])
    .map((file) => file.replace(/^.* -> /, ''))
  if (files.length > 0) return unique(files)
  return lines.every((line) => line.startsWith('## ')) ? [] : null
}

/** Files that were created or edited after a time, from passages in any order: no claim about what is committed. */
export function editedSince(passages: readonly Passage[], at: number): string[] {
  const edits = passages.filter((one) => (one.kind === 'edit' || one.kind === 'file') && one.at > at)
  return unique(edits.flatMap(({ subject }) => subject ?? []))
}
