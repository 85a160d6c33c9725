/** A command that failed, what was changed, and its success: the one kind of problem whose solution is certain. */
import type { ObservationDraft } from '../../domain/observation.ts'
import { reportedSentence } from '../../domain/reported-speech.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { clipAtWord, isTestFile, joinList, shownFile, unique } from '../tool-events/text.ts'
import type { ActionOf, ToolAction } from '../tool-events/tool-action.ts'
import type { CommandKind, CommandResult } from '../tool-events/types.ts'
import { composeDraft } from './drafts.ts'
import type { CommandOutcome, EditedFile, OpenFailure } from './memo.ts'

type CommandAction = ActionOf<'command'>

export interface Fix {
  failure: OpenFailure
  success: CommandAction
  edits: ActionOf<'edit'>[]
  /** Files that were changed in earlier batches, after the failure. */
  earlier: EditedFile[]
  /** The command that helped, where nothing was edited. */
  remedy: CommandAction | null
}

const MAX_ERRORS = 3
/** Their failures are no problem of the project: a look that finds nothing, a rule of style. */
const UNTOLD_KINDS = new Set<CommandKind>(['look', 'lint'])
/** Kinds of command that can resolve a failure without an edit. */
const REMEDY_KINDS = new Set<CommandKind>(['install', 'migration'])

/** `open` are the failures of earlier batches, `edited` the files changed in them. */
export function findFixes(
  actions: readonly ToolAction[],
  open: readonly OpenFailure[],
  edited: readonly EditedFile[],
): { fixes: Fix[]; open: OpenFailure[] } {
  const failing = new Map(open.map((failure) => [failure.key, { failure, from: 0 }]))
  const used = new Set<string>()
  const fixes: Fix[] = []
  actions.forEach((action, i) => {
    if (action.kind !== 'command' || UNTOLD_KINDS.has(action.result.kind)) return
    if (!action.result.ok) {
      const failure = failureOf(action)
      if (failure === null || isTestFirst(actions, i)) return
      const known = failing.get(failure.key)
      // The last run that reported an error has the one that was fixed last; the others were fixed on the way.
      const errors = unique([...failure.errors.slice(0, 2), ...(known?.failure.errors ?? [])]).slice(0, MAX_ERRORS)
      failing.set(failure.key, { failure: { ...failure, errors }, from: known?.from ?? i })
      return
    }
    for (const key of unique(action.keys)) {
      const resolved = failing.get(key)
      failing.delete(key)
      if (resolved === undefined) continue
      const { failure, from } = resolved
      const between = actions.slice(from, i)
      const edits = between.filter((one) => one.kind === 'edit').filter((one) => !used.has(one.id))
      const earlier = edited.filter((file) => file.at >= failure.at && from === 0)
      const remedy = between.findLast(isRemedy) ?? null
      if (edits.length === 0 && earlier.length === 0 && remedy === null) continue
      for (const edit of edits) used.add(edit.id)
      fixes.push({
        failure,
        success: action,
        edits,
        earlier,
        remedy: edits.length + earlier.length > 0 ? null : remedy,
      })
    }
  })
  return { fixes, open: [...failing.values()].map(({ failure }) => failure) }
}

const isRemedy = (action: ToolAction): action is CommandAction =>
  action.kind === 'command' && action.result.ok && REMEDY_KINDS.has(action.result.kind)

/** A test that was written before the code it tests fails on purpose: only tests were edited before the run. */
function isTestFirst(actions: readonly ToolAction[], at: number): boolean {
  const run = actions[at]
  if (run?.kind !== 'command' || run.result.kind !== 'test') return false
  const before = actions.slice(0, at)
  const lastRun = before.findLastIndex((one) => one.kind === 'command' && one.result.kind === 'test')
  const edits = before.slice(lastRun + 1).filter((one) => one.kind === 'edit')
  return edits.length > 0 && edits.every((edit) => isTestFile(edit.change.file))
}

/** Exit codes of a program that is missing, was interrupted or killed. */
const NO_RESULT_CODES: ReadonlySet<number> = new Set([124, 126, 127, 130, 137, 143])
const NO_RESULT =
  /command not found|not recognized as|no such file or directory.{0,40}\b(?:bin|sh)\b|user (?:doesn't|does not) want|request interrupted|interrupted by (?:the )?user|operation aborted|permission to use/i

/** Null for a failure that says nothing about the project. */
export function failureOf({ id, at, result }: CommandAction): OpenFailure | null {
  if (result.exitCode !== null && NO_RESULT_CODES.has(result.exitCode)) return null
  if (result.errors.some((error) => NO_RESULT.test(error))) return null
  const errors = result.errors.filter(isTelling).sort((a, b) => Number(isEmptyError(a)) - Number(isEmptyError(b)))
  const [first] = errors
  if (first === undefined || isEmptyError(first)) return null
  return {
    key: result.key,
    command: shownCommand(result),
    errors: errors.slice(0, MAX_ERRORS).map(withoutSpinner),
    at,
    id,
  }
}

/** The message of a commit is long, and told by the commit. */
function shownCommand({ command, kind }: CommandResult): string {
  return kind === 'commit' ? 'git commit' : clipAtWord(command, 100)
}

/** Progress bars are drawn with braille patterns. */
const withoutSpinner = (error: string): string => error.replace(/[\u2800-\u28ff]+/g, '')

/** A line of words, not a spinner, a frame or a progress bar. */
function isTelling(error: string): boolean {
  if (/^(?:\p{Extended_Pictographic}|[│┃┌└╭╰⠁-⣿\d\s%|])/u.test(error) && !/\b(?:error|fail|conflict)/i.test(error))
    return false
  return (error.match(/\p{L}{3,}/gu)?.length ?? 0) >= 2
}

/** Only reports that another program failed. */
const EMPTY_ERROR =
  /^make(?:\[\d+\])?:|\b0 (?:failures|errors|failed)\b|^(?:npm (?:ERR!|error)|exit code|error:? command|error$|process completed)/i

const isEmptyError = (error: string): boolean => EMPTY_ERROR.test(error)

const MAX_ERROR_CHARS = 220

export function composeFix({ failure, success, edits, earlier, remedy }: Fix): ObservationDraft {
  const [error = '', ...others] = failure.errors.map((one) => clipAtWord(one, MAX_ERROR_CHARS))
  const files = unique([...edits.map((edit) => edit.change.file), ...earlier.map((edit) => edit.file)])
  // What git prints is told by its commits.
  const isGit = success.result.kind === 'commit' || success.result.kind === 'git'
  const headline = isGit ? null : success.result.headline
  const passed = headline === null ? 'succeeded' : `succeeded (${headline})`
  const changed =
    remedy === null
      ? `changes in ${joinList(
          files.map((file) => `\`${file}\``),
          3,
        )}`
      : `\`${clipAtWord(remedy.result.command, 80)}\``
  const statements = [
    `\`${failure.command}\` failed: ${withoutStop(reportedSentence('it printed', error))}. After ${changed} the command ${passed}.`,
  ]
  return composeDraft({
    type: 'bugfix',
    title: fixTitle(failure.errors[0] ?? '', files),
    statements,
    facts: [
      ...replacements(edits),
      ...others.map((one) => reportedSentence(`\`${failure.command}\` also printed`, `${withoutStop(one)}.`)),
    ],
    concepts: ['problem-solution'],
    filesModified: files,
    functionsChanged: edits.flatMap((edit) => edit.change.symbols),
    agent: success.agent,
    chars: [success, ...edits].reduce((sum, action) => sum + action.size, 0),
    sources: [failure.id, ...edits.map((edit) => edit.id), ...earlier.map((edit) => edit.id), success.id],
  })
}

const withoutStop = (text: string): string => trimEndMatching(text, /[.…\s]/)

const MAX_REPLACEMENTS = 2
const REPLACEMENT = /^`([^`]+)` → `([^`]+)`$/

/** What a small edit replaced, as a sentence: in a fix it is the solution. */
function replacements(edits: readonly ActionOf<'edit'>[]): string[] {
  return edits
    .filter((edit) => !isTestFile(edit.change.file))
    .flatMap((edit) =>
      edit.significant.flatMap(({ text }) => {
        const [, from, to] = REPLACEMENT.exec(text) ?? []
        return from === undefined ? [] : [`In \`${edit.change.file}\`, \`${from}\` became \`${to}\`.`]
      }),
    )
    .slice(0, MAX_REPLACEMENTS)
}

const ERROR_NAME =
  /\b(\w+(?:Error|Exception|Panic)|error\[\w+\]|TS\d{4,5}|E\d{4}|SIG[A-Z]+|segmentation fault|merge conflict)\b/i

function fixTitle(error: string, files: readonly string[]): string {
  const name = ERROR_NAME.exec(error)?.[1]
  if (name !== undefined && files.length > 0) return `Fix ${name} in ${joinList(files.map(shownFile), 2)}`
  const message = error.replace(/^[\w./\\-]{1,200}[:(]\d[\d:,)]{0,20}:?\s*/, '')
  return `Fix the error: ${reportedSentence('it printed', message.replace(/^(?:fatal )?error:\s+/i, ''))}`
}

/** Kinds of command whose last result tells where the work is. */
const TELLING_KINDS = new Set<CommandKind>(['test', 'build', 'typecheck', 'migration'])
/** What other commands say that stays true: addresses, versions, ports. */
const LASTING_FACT = /^(?:Opened|Tagged|Installed|Added|Upgraded|Updated|Server listens|Migration)\b/

/** The last result of each command, in the order of their last runs. */
export function lastOutcomes(actions: readonly ToolAction[], before: readonly CommandOutcome[]): CommandOutcome[] {
  const outcomes = new Map(before.map((outcome) => [outcome.key, outcome]))
  const set = (outcome: CommandOutcome) => {
    outcomes.delete(outcome.key)
    outcomes.set(outcome.key, outcome)
  }
  for (const action of actions) {
    if (action.kind !== 'command') continue
    const { result, id } = action
    for (const fact of result.facts.filter((one) => LASTING_FACT.test(one)))
      set({ key: fact, sentence: `${withoutStop(fact)}.`, ok: true, id })
    // A chain that succeeds is a success of each of its commands.
    if (result.ok) for (const key of action.keys) outcomes.delete(key)
    if (!TELLING_KINDS.has(result.kind)) continue
    const sentence = outcomeSentence(action)
    if (sentence === null) outcomes.delete(result.key)
    else set({ key: result.key, sentence, ok: result.ok, id })
  }
  return [...outcomes.values()]
}

function outcomeOf(name: string, headline: string): string {
  const isRepetition = /^(?:build|tests?|compiled?) succeeded/i.test(headline)
  return `${name} succeeded${isRepetition ? '' : `: ${withoutStop(reportedSentence('it printed', headline))}`}.`
}

function outcomeSentence(action: CommandAction): string | null {
  const { command, headline, ok } = action.result
  const name = `\`${clipAtWord(command, 80)}\``
  if (ok) return headline === null ? null : outcomeOf(name, headline)
  const failure = failureOf(action)
  return failure === null
    ? null
    : `${name} failed: ${withoutStop(reportedSentence('it printed', failure.errors[0] ?? ''))}.`
}
