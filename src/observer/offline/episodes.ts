/**
 * Which actions belong together. A failure, then edits, then success of the same command is one fix; other edits are
 * work, cut at commits and by area; what was read and searched belongs to what followed it; what is left is a look around.
 */
import type { Action } from './actions.ts'
import { isTestFile, unique } from './text.ts'
import type { CommandResult } from './types.ts'

export type Of<D extends Action['do']> = Extract<Action, { do: D }>

export interface Episode {
  kind: 'fix' | 'work' | 'open' | 'look'
  /** Index of its first and last action. */
  from: number
  to: number
  edits: Of<'edit'>[]
  /** Runs of the same command that failed. */
  failures: Of<'command'>[]
  /** The run that ended a fix. */
  success: Of<'command'> | null
  /** Commands with something to say: results, installs, servers, measurements. */
  commands: Of<'command'>[]
  commit: Of<'command'> | null
  looked: (Of<'read'> | Of<'search'>)[]
  found: (Of<'web'> | Of<'agent'> | Of<'tool'>)[]
  stumbles: Of<'failed'>[]
  /** The failure was known from an earlier batch. */
  carried: OpenFailure | null
}

/** A command that failed and has not succeeded since: remembered from batch to batch. */
export interface OpenFailure {
  key: string
  command: string
  errors: string[]
  at: number
}

/** More files than this in one stretch of work are told area by area. */
const MAX_FILES_TOGETHER = 8

export interface Told {
  episodes: Episode[]
  /** What fails and is still failing after these actions. */
  open: OpenFailure[]
}

export function episodesOf(actions: readonly Action[], open: readonly OpenFailure[]): Told {
  const { fixes, failing } = failuresIn(actions, open)
  const inFix = new Set(fixes.flatMap((fix) => fix.edits.map((edit) => edit.id)))
  const work = workIn(actions, inFix)
  const main = withoutMinor([...fixes, ...work].sort((a, b) => a.from - b.from || a.to - b.to))
  const rest = lookIn(actions, main)
  const all = [...main, ...unresolved(failing), ...rest].sort((a, b) => a.from - b.from)
  gather(actions, all)
  return { episodes: all, open: failing.flatMap(openFailure).slice(-MAX_OPEN) }
}

function episode(kind: Episode['kind'], from: number, to: number, more: Partial<Episode> = {}): Episode {
  return {
    kind,
    from,
    to,
    edits: [],
    failures: [],
    success: null,
    commands: [],
    commit: null,
    looked: [],
    found: [],
    stumbles: [],
    carried: null,
    ...more,
  }
}

/** Kinds of command whose failure is a problem with the work; a failing `ls` is not. */
const TELLING = new Set<CommandResult['kind']>([
  'test',
  'build',
  'lint',
  'typecheck',
  'migration',
  'install',
  'server',
  'run',
  'git',
  'commit',
])

/** A command that has failed and not yet succeeded. */
interface Failing {
  from: number
  to: number
  failures: Of<'command'>[]
  carried: OpenFailure | null
}

/** One walk: what was mended, and what is left failing at the end. */
function failuresIn(
  actions: readonly Action[],
  open: readonly OpenFailure[],
): { fixes: Episode[]; failing: Failing[] } {
  const failing = new Map<string, Failing>()
  for (const known of open) failing.set(known.key, { from: 0, to: 0, failures: [], carried: known })
  const fixes: Episode[] = []
  const taken = new Set<string>()
  actions.forEach((action, i) => {
    if (action.do !== 'command' || !TELLING.has(action.result.kind)) return
    const { key, ok } = action.result
    if (!ok) {
      const known = failing.get(key) ?? { from: i, to: i, failures: [], carried: null }
      known.failures.push(action)
      failing.set(key, { ...known, to: i })
      return
    }
    for (const mended of unique(action.keys)) {
      const before = failing.get(mended)
      failing.delete(mended)
      if (before === undefined) continue
      const between = actions.slice(before.from, i)
      const edits = between.filter((one): one is Of<'edit'> => one.do === 'edit' && !taken.has(one.id))
      const remedies = between.filter((one) => one.do === 'command' && one.result.ok && REMEDIES.has(one.result.kind))
      // Fixed by nothing that was seen: it came and went by itself.
      if (edits.length === 0 && remedies.length === 0) continue
      for (const edit of edits) taken.add(edit.id)
      fixes.push(
        episode('fix', before.from, i, { edits, failures: before.failures, success: action, carried: before.carried }),
      )
    }
  })
  return { fixes: mergeOverlapping(fixes), failing: [...failing.values()] }
}

/** As it is remembered: by its last run that said what was wrong. */
function openFailure({ failures, carried }: Failing): OpenFailure[] {
  const last = failures.findLast((failure) => failure.result.errors.length > 0)
  if (last === undefined) return carried === null ? [] : [carried]
  const { key, command, errors } = last.result
  return [{ key, command, errors: errors.slice(0, 3), at: last.at }]
}

/** Failures remembered at a time: more are a broken machine, not a task. */
const MAX_OPEN = 8

const REMEDIES = new Set<CommandResult['kind']>(['install', 'migration', 'git', 'run', 'server', 'build'])

/** Two commands that were mended by the same edits (tests and types, say) are one fix. */
function mergeOverlapping(fixes: readonly Episode[]): Episode[] {
  const merged: Episode[] = []
  for (const fix of fixes) {
    const same = merged.find((other) => fix.edits.length === 0 && fix.from <= other.to && fix.to >= other.from)
    if (same === undefined) merged.push(fix)
    else {
      same.failures.push(...fix.failures)
      same.from = Math.min(same.from, fix.from)
      same.to = Math.max(same.to, fix.to)
    }
  }
  return merged
}

function workIn(actions: readonly Action[], inFix: ReadonlySet<string>): Episode[] {
  const stretches: { from: number; to: number; edits: Of<'edit'>[] }[] = []
  let current: (typeof stretches)[number] | null = null
  actions.forEach((action, i) => {
    if (action.do === 'command' && action.result.kind === 'commit' && action.result.ok) current = null
    if (action.do !== 'edit' || inFix.has(action.id)) return
    if (current === null) {
      current = { from: i, to: i, edits: [] }
      stretches.push(current)
    }
    current.to = i
    current.edits.push(action)
  })
  return stretches.flatMap(({ from, to, edits }) =>
    byArea(edits).map((part) => episode('work', from, to, { edits: part })),
  )
}

/** Tests, docs and touches of a line or two belong to the work they go with. */
function withoutMinor(main: readonly Episode[]): Episode[] {
  const minor = main.filter(isMinor)
  const major = main.filter((one) => !minor.includes(one))
  if (major.length === 0) return [...main]
  for (const small of minor) {
    const owner = major.find((one) => one.to >= small.from) ?? major.at(-1)
    if (owner === undefined) continue
    owner.edits.push(...small.edits)
    owner.from = Math.min(owner.from, small.from)
    owner.to = Math.max(owner.to, small.to)
  }
  return major
}

const MINOR_LINES = 3

function isMinor({ kind, edits }: Episode): boolean {
  if (kind !== 'work') return false
  const lines = edits.reduce((total, { change }) => total + change.linesAdded + change.linesRemoved, 0)
  return lines <= MINOR_LINES || edits.every(({ change }) => isTestFile(change.file) || change.language === 'markdown')
}

function byArea(edits: Of<'edit'>[]): Of<'edit'>[][] {
  const files = unique(edits.map((edit) => edit.change.file))
  if (files.length <= MAX_FILES_TOGETHER) return [edits]
  const areas = new Map<string, Of<'edit'>[]>()
  for (const edit of edits) {
    const area = edit.change.file.split('/').slice(0, -1).slice(0, 2).join('/')
    areas.set(area, [...(areas.get(area) ?? []), edit])
  }
  return [...areas.values()]
}

/** Whose failure is still one tomorrow. */
const LASTING = new Set<CommandResult['kind']>(['test', 'build', 'lint', 'typecheck', 'migration', 'server'])

function unresolved(failing: readonly Failing[]): Episode[] {
  const lasting = failing.filter(({ failures }) =>
    failures.some(({ result }) => LASTING.has(result.kind) && result.errors.length > 0),
  )
  return lasting.map(({ to, failures }) => episode('open', to, to, { failures }))
}

/** Looking around that no edit followed, and what others found out, is worth a note of its own. */
function lookIn(actions: readonly Action[], main: readonly Episode[]): Episode[] {
  const end = Math.max(-1, ...main.map((one) => one.to))
  const looks = actions.flatMap((action, i) => (LOOKING.has(action.do) ? [i] : []))
  const told = actions.flatMap((action, i) =>
    action.do === 'web' || action.do === 'agent' || action.do === 'tool' ? [i] : [],
  )
  const trailing = looks.filter((i) => i > end)
  const said = actions.flatMap((action, i) => (action.do === 'command' && tells(action) ? [i] : []))
  const alone =
    main.length === 0
      ? unique([...looks, ...said, ...told])
      : unique([...(trailing.length >= ENOUGH ? trailing : []), ...told])
  if (alone.length === 0) return []
  return [episode('look', Math.min(...alone), Math.max(...alone))]
}

const LOOKING = new Set<Action['do']>(['read', 'search'])
/** Fewer reads than this at the end of a turn only check what was done. */
const ENOUGH = 3

function tells({ result, said }: Of<'command'>): boolean {
  return said !== null || result.headline !== null || result.facts.length > 0 || result.errors.length > 0
}

/** Gives every action that is not told yet to the episode it serves. */
function gather(actions: readonly Action[], episodes: readonly Episode[]): void {
  const told = new Set(episodes.flatMap((one) => [...one.edits, ...one.failures].map((action) => action.id)))
  const successes = new Set(episodes.map((one) => one.success?.id))
  const changing = episodes.filter((one) => one.kind === 'fix' || one.kind === 'work')
  const look = episodes.find((one) => one.kind === 'look')
  const followed = (i: number) => changing.find((one) => one.to >= i) ?? look ?? changing.at(-1)
  const preceded = (i: number) => changing.findLast((one) => one.from <= i) ?? changing[0] ?? look
  actions.forEach((action, i) => {
    if (told.has(action.id)) return
    switch (action.do) {
      case 'read':
      case 'search':
        followed(i)?.looked.push(action)
        return
      case 'web':
      case 'agent':
      case 'tool': {
        const owner = look ?? followed(i)
        // A subagent's end says what the tool that started it says too.
        if (owner?.found.some((known) => known.found === action.found) === false) owner.found.push(action)
        return
      }
      case 'failed':
        ;(followed(i) ?? preceded(i))?.stumbles.push(action)
        return
      case 'command': {
        const owner = preceded(i)
        if (owner === undefined) return
        if (action.result.kind === 'commit' && action.result.ok) largest(changing, i, owner).commit = action
        else if (!successes.has(action.id) && tells(action)) owner.commands.push(action)
      }
    }
  })
}

/** A commit is about the most that was done since the one before, not about the last touch. */
function largest(changing: readonly Episode[], at: number, otherwise: Episode): Episode {
  const since = changing.filter((one) => one.from <= at && one.commit === null)
  return since.reduce((best, one) => (changedLines(one) > changedLines(best) ? one : best), since[0] ?? otherwise)
}

function changedLines({ edits }: Episode): number {
  const work = edits.filter(({ change }) => !isTestFile(change.file) && change.language !== 'markdown')
  return work.reduce((total, { change }) => total + change.linesAdded + change.linesRemoved, 0)
}
