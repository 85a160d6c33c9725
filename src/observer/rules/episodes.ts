/**
 * Groups the actions of a batch into episodes; each becomes one observation.
 *
 * - `fix`: a command failed, files were edited, and the same command succeeded.
 * - `work`: other edits, split at commits and, where there are many files, by directory.
 * - `unresolved`: a command that still fails at the end.
 * - `lookup`: reads, searches and findings that belong to no edit.
 *
 * Reads and searches belong to the edits after them, other commands to the edits before them.
 */
import { isTestFile, unique } from '../tool-events/text.ts'
import type { ToolAction } from '../tool-events/tool-action.ts'
import type { CodeChange, CommandKind, CommandResult } from '../tool-events/types.ts'

export type ActionOf<K extends ToolAction['kind']> = Extract<ToolAction, { kind: K }>

export interface Episode {
  kind: 'fix' | 'work' | 'unresolved' | 'lookup'
  /** Index of its first and last action. */
  from: number
  to: number
  edits: ActionOf<'edit'>[]
  /** Runs of the same command that failed. */
  failures: ActionOf<'command'>[]
  /** The run that ended a fix. */
  success: ActionOf<'command'> | null
  /** Commands with a result worth mentioning: installs, servers, measurements. */
  commands: ActionOf<'command'>[]
  commit: ActionOf<'command'> | null
  lookups: (ActionOf<'read'> | ActionOf<'search'>)[]
  findings: (ActionOf<'web'> | ActionOf<'agent'> | ActionOf<'tool'>)[]
  toolFailures: ActionOf<'failed'>[]
  /** The failure of an earlier batch that this fix resolved. */
  carried: OpenFailure | null
}

/** A command that failed and has not succeeded since. Kept from batch to batch. */
export interface OpenFailure {
  key: string
  command: string
  errors: string[]
  at: number
}

interface GroupedActions {
  episodes: Episode[]
  /** What still fails after these actions. */
  open: OpenFailure[]
}

/** Work on more files than this is split by directory. */
const MAX_FILES_TOGETHER = 8
/** With more open failures the machine is broken, not the task. */
const MAX_OPEN_FAILURES = 8
/** Work of so few changed lines is added to other work. */
const MINOR_LINES = 3
/** Fewer reads than this at the end of a turn only check the work. */
const MIN_TRAILING_LOOKUPS = 3

/** Kinds of command that can resolve a failure without an edit. */
const REMEDY_KINDS = new Set<CommandKind>(['install', 'migration', 'git', 'run', 'server', 'build'])
/** Kinds of command whose failure stays relevant after the turn. */
const LASTING_KINDS = new Set<CommandKind>(['test', 'build', 'lint', 'typecheck', 'migration', 'server'])

export function groupIntoEpisodes(actions: readonly ToolAction[], open: readonly OpenFailure[]): GroupedActions {
  const { fixes, failing } = findFixes(actions, open)
  const inFix = new Set(fixes.flatMap((fix) => fix.edits.map((edit) => edit.id)))
  const work = findWork(actions, inFix)
  const main = mergeMinor([...fixes, ...work].sort((a, b) => a.from - b.from || a.to - b.to))
  const episodes = [...main, ...findUnresolved(failing), ...findLookup(actions, main)].sort((a, b) => a.from - b.from)
  assignRest(actions, episodes)
  return { episodes, open: failing.flatMap(toOpenFailure).slice(-MAX_OPEN_FAILURES) }
}

function makeEpisode(kind: Episode['kind'], from: number, to: number, more: Partial<Episode> = {}): Episode {
  return {
    kind,
    from,
    to,
    edits: [],
    failures: [],
    success: null,
    commands: [],
    commit: null,
    lookups: [],
    findings: [],
    toolFailures: [],
    carried: null,
    ...more,
  }
}

/** A command that has failed and not yet succeeded. */
type FailingCommand = Pick<Episode, 'from' | 'to' | 'failures' | 'carried'>

function findFixes(
  actions: readonly ToolAction[],
  open: readonly OpenFailure[],
): { fixes: Episode[]; failing: FailingCommand[] } {
  const failing = new Map<string, FailingCommand>(
    open.map((carried) => [carried.key, { from: 0, to: 0, failures: [], carried }]),
  )
  const fixes: Episode[] = []
  const usedEdits = new Set<string>()
  actions.forEach((action, i) => {
    // The failure of a command that only shows something is not a problem.
    if (action.kind !== 'command' || action.result.kind === 'look') return
    const { key, ok } = action.result
    if (!ok) {
      const known = failing.get(key) ?? { from: i, to: i, failures: [], carried: null }
      known.failures.push(action)
      failing.set(key, { ...known, to: i })
      return
    }
    for (const resolvedKey of unique(action.keys)) {
      const resolved = failing.get(resolvedKey)
      failing.delete(resolvedKey)
      if (resolved === undefined) continue
      const between = actions.slice(resolved.from, i)
      const edits = between.filter((one): one is ActionOf<'edit'> => one.kind === 'edit' && !usedEdits.has(one.id))
      const hasRemedy = between.some(
        (one) => one.kind === 'command' && one.result.ok && REMEDY_KINDS.has(one.result.kind),
      )
      // Without an edit or a remedy nothing in this batch fixed it.
      if (edits.length === 0 && !hasRemedy) continue
      for (const edit of edits) usedEdits.add(edit.id)
      const { from, failures, carried } = resolved
      fixes.push(makeEpisode('fix', from, i, { edits, failures, success: action, carried }))
    }
  })
  return { fixes: mergeOverlapping(fixes), failing: [...failing.values()] }
}

/** The last run that reported an error is kept. */
function toOpenFailure({ failures, carried }: FailingCommand): OpenFailure[] {
  const last = failures.findLast((failure) => failure.result.errors.length > 0)
  if (last === undefined) return carried === null ? [] : [carried]
  const { key, command, errors } = last.result
  return [{ key, command, errors: errors.slice(0, 3), at: last.at }]
}

/** Two commands that were fixed by the same edits (tests and types, say) are one fix. */
function mergeOverlapping(fixes: readonly Episode[]): Episode[] {
  const merged: Episode[] = []
  for (const fix of fixes) {
    const same = merged.find((other) => fix.edits.length === 0 && fix.from <= other.to && fix.to >= other.from)
    if (same === undefined) merged.push(fix)
    else {
      same.failures.push(...fix.failures)
      extend(same, fix)
    }
  }
  return merged
}

function extend(episode: Episode, { from, to }: Episode): void {
  episode.from = Math.min(episode.from, from)
  episode.to = Math.max(episode.to, to)
}

function findWork(actions: readonly ToolAction[], inFix: ReadonlySet<string>): Episode[] {
  const stretches: Pick<Episode, 'from' | 'to' | 'edits'>[] = []
  let current: (typeof stretches)[number] | null = null
  actions.forEach((action, i) => {
    if (isCommit(action)) current = null
    if (action.kind !== 'edit' || inFix.has(action.id)) return
    if (current === null) {
      current = { from: i, to: i, edits: [] }
      stretches.push(current)
    }
    current.to = i
    current.edits.push(action)
  })
  return stretches.flatMap(({ from, to, edits }) =>
    splitByDirectory(edits).map((part) => makeEpisode('work', from, to, { edits: part })),
  )
}

function isCommit(action: ToolAction): boolean {
  return action.kind === 'command' && action.result.kind === 'commit' && action.result.ok
}

function splitByDirectory(edits: ActionOf<'edit'>[]): ActionOf<'edit'>[][] {
  if (unique(edits.map((edit) => edit.change.file)).length <= MAX_FILES_TOGETHER) return [edits]
  const directories = new Map<string, ActionOf<'edit'>[]>()
  for (const edit of edits) {
    const directory = edit.change.file.split('/').slice(0, -1).slice(0, 2).join('/')
    directories.set(directory, [...(directories.get(directory) ?? []), edit])
  }
  return [...directories.values()]
}

/** Tests, documentation and edits of a few lines are added to the work that follows them, or to the last. */
function mergeMinor(main: readonly Episode[]): Episode[] {
  const minor = main.filter(isMinor)
  const major = main.filter((one) => !minor.includes(one))
  if (major.length === 0) return [...main]
  for (const small of minor) {
    const owner = major.find((one) => one.to >= small.from) ?? major.at(-1)
    if (owner === undefined) continue
    owner.edits.push(...small.edits)
    extend(owner, small)
  }
  return major
}

function isMinor({ kind, edits }: Episode): boolean {
  if (kind !== 'work') return false
  return changedLines(edits) <= MINOR_LINES || edits.every(({ change }) => isSideWork(change))
}

const isSideWork = ({ file, language }: CodeChange) => isTestFile(file) || language === 'markdown'

function changedLines(edits: readonly ActionOf<'edit'>[]): number {
  return edits.reduce((total, { change }) => total + change.linesAdded + change.linesRemoved, 0)
}

function findUnresolved(failing: readonly FailingCommand[]): Episode[] {
  const lasting = failing.filter(({ failures }) =>
    failures.some(({ result }) => LASTING_KINDS.has(result.kind) && result.errors.length > 0),
  )
  return lasting.map(({ to, failures }) => makeEpisode('unresolved', to, to, { failures }))
}

const isLookup = (action: ToolAction): action is Episode['lookups'][number] =>
  action.kind === 'read' || action.kind === 'search'
const isFinding = (action: ToolAction): action is Episode['findings'][number] =>
  action.kind === 'web' || action.kind === 'agent' || action.kind === 'tool'

/** At most one: reads and searches that no edit followed, and findings of web pages, subagents and other tools. */
function findLookup(actions: readonly ToolAction[], main: readonly Episode[]): Episode[] {
  const indexesOf = (test: (action: ToolAction) => boolean) => actions.flatMap((action, i) => (test(action) ? [i] : []))
  const lookups = indexesOf(isLookup)
  const findings = indexesOf(isFinding)
  const end = Math.max(-1, ...main.map((one) => one.to))
  const trailing = lookups.filter((i) => i > end)
  const indexes =
    main.length === 0
      ? [...lookups, ...indexesOf((action) => action.kind === 'command' && hasResult(action)), ...findings]
      : [...(trailing.length >= MIN_TRAILING_LOOKUPS ? trailing : []), ...findings]
  return indexes.length === 0 ? [] : [makeEpisode('lookup', Math.min(...indexes), Math.max(...indexes))]
}

function hasResult({ result, answer }: ActionOf<'command'>): boolean {
  return answer !== null || result.headline !== null || result.facts.length > 0 || result.errors.length > 0
}

/** Adds every action that is not in an episode yet to the one it belongs to. */
function assignRest(actions: readonly ToolAction[], episodes: readonly Episode[]): void {
  const assigned = new Set(episodes.flatMap((one) => [...one.edits, ...one.failures].map((action) => action.id)))
  const successes = new Set(episodes.map((one) => one.success?.id))
  const changing = episodes.filter((one) => one.kind === 'fix' || one.kind === 'work')
  const lookup = episodes.find((one) => one.kind === 'lookup')
  const following = (i: number) => changing.find((one) => one.to >= i) ?? lookup ?? changing.at(-1)
  const preceding = (i: number) => changing.findLast((one) => one.from <= i) ?? changing[0] ?? lookup
  actions.forEach((action, i) => {
    if (assigned.has(action.id)) return
    if (isLookup(action)) following(i)?.lookups.push(action)
    else if (isFinding(action)) {
      const owner = lookup ?? following(i)
      // The end of a subagent has the same text as the result of the tool that started it.
      if (owner?.findings.some((known) => known.found === action.found) === false) owner.findings.push(action)
    } else if (action.kind === 'failed') (following(i) ?? preceding(i))?.toolFailures.push(action)
    else if (action.kind === 'command') {
      const owner = preceding(i)
      if (owner === undefined) return
      if (isCommit(action)) largestSinceCommit(changing, i, owner).commit = action
      else if (!successes.has(action.id) && hasResult(action)) owner.commands.push(action)
    }
  })
}

/** A commit belongs to the largest work since the commit before, not to the last edit. */
function largestSinceCommit(changing: readonly Episode[], at: number, fallback: Episode): Episode {
  const codeLines = ({ edits }: Episode) => changedLines(edits.filter(({ change }) => !isSideWork(change)))
  const since = changing.filter((one) => one.from <= at && one.commit === null)
  return since.reduce((best, one) => (codeLines(one) > codeLines(best) ? one : best), since[0] ?? fallback)
}

/** Code before tests, the most changed first. */
export function rankChanges(changes: readonly CodeChange[]): CodeChange[] {
  const weight = (change: CodeChange) => change.linesAdded + change.linesRemoved + change.symbols.length * 3
  return [...changes].sort((a, b) => Number(isTestFile(a.file)) - Number(isTestFile(b.file)) || weight(b) - weight(a))
}

/** Errors that only report the failure of another program are last. */
export function episodeErrors({ failures, carried }: Episode): string[] {
  const empty = /^make(?:\[\d+\])?:|\b0 (?:failures|errors|failed)\b|^(?:npm (?:ERR!|error)|exit code|error:? command)/i
  const errors = unique([...failures.flatMap((failure) => failure.result.errors), ...(carried?.errors ?? [])])
  return errors.sort((one, other) => Number(empty.test(one)) - Number(empty.test(other)))
}

export function shortCommand(result: CommandResult | undefined): string {
  return (result?.command ?? 'command').split(' ').slice(0, 3).join(' ')
}
