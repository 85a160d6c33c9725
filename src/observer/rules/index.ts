/**
 * The observer without a model: deterministic rules over the tool events, free, instant and private.
 *
 * `observe` stores what is certain at once: commits with their message, a failed command with what made it succeed, answers and
 * refusals of the user, his choices, reports of subagents. Everything else waits in the memo (memo.ts) until `summarize`, where
 * the agent's closing words say what came of it, so that a later statement replaces an earlier one before anything is stored.
 */
import type { InboxEvent } from '../../domain/event.ts'
import { NO_USAGE, type Observation, type ObservationDraft } from '../../domain/observation.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import type {
  ObserveAnswer,
  ObserveRequest,
  Observer,
  ObserverSession,
  SummarizeAnswer,
  SummarizeRequest,
} from '../port.ts'
import { asFields, stringField } from '../tool-events/json-fields.ts'
import { isInProject, unique } from '../tool-events/text.ts'
import { readToolAction, type ToolAction } from '../tool-events/tool-action.ts'
import {
  keptStatements,
  observeClosing,
  observeReport,
  openQuestion,
  outerSentences,
  readWords,
  type TurnWork,
} from './closing.ts'
import {
  commitSentence,
  commitStatements,
  committedEdits,
  composeCommit,
  mergeAmended,
  readCommits,
} from './commits.ts'
import { trackEdits, withoutReverted } from './edits.ts'
import { composeFix, findFixes, lastOutcomes } from './fixes.ts'
import { type CommandOutcome, memoTurn, questionBefore, type RulesMemo, readMemo } from './memo.ts'
import { composeSessionSummary } from './session-summary.ts'
import { fingerprintOf, isStatus } from './statement-roles.ts'
import { readStatements, type Statement } from './statements.ts'
import { composeSummary } from './summary.ts'
import { withSuperseded } from './supersede.ts'
import {
  composeAnswers,
  composeChoices,
  composeRefusal,
  findAnswer,
  findUserChoices,
  isCorrection,
  requestOf,
} from './user-words.ts'
import { composeWork } from './work.ts'

/** Stored with each observation; changed when the rules change what they write. */
const RULES_VERSION = 'offline-2'
const COMMON_ANSWER = { usage: NO_USAGE, model: 'offline', promptVersion: RULES_VERSION }

export const offlineObserver: Observer = {
  provider: 'offline',
  observe,
  summarize,
  compact: async ({ conversation }) => ({
    ...COMMON_ANSWER,
    contextTokens: 0,
    turns: [memoTurn(readMemo(conversation))],
  }),
}

async function observe(given: ObserveRequest): Promise<ObserveAnswer> {
  const { messages, promptNumber, conversation, contextTokens, cwd } = given
  const memo = readMemo(conversation)
  const actions = withoutReverted(await readActions(messages, cwd), messages)
  const { fixes, open } = findFixes(actions, memo.open, memo.edits)
  const commits = observeCommits(actions, memo)
  const told = commits.observations
  const recorded = told.length === 0 ? [] : await given.recorded()
  const isNew = memo.promptRead < promptNumber
  const first = messages.slice(0, 1).map((message) => message.id)
  const observations = [
    ...(isNew ? userChoices(memo, given, first) : []),
    ...actions.flatMap(observeUser),
    ...observeReports(actions, memo.said),
    ...fixes.map(composeFix),
    ...withSuperseded(told, recorded, null),
  ].map((draft) => withRelativePaths(draft, cwd))
  const sources = new Set(observations.flatMap((observation) => observation.sources))
  return {
    ...COMMON_ANSWER,
    // Unchanged: the conversation may be that of a model that observed before.
    contextTokens,
    observations,
    folded: [],
    seen: [],
    skipped: messages
      .filter(({ id }) => !sources.has(id))
      .map(({ id }) => ({ eventId: id, reason: skipReason(actions, id) })),
    turns: [
      memoTurn({
        ...memo,
        open,
        edits: commits.edits,
        commit: commits.last,
        outcomes: [...lastOutcomes(actions, memo.outcomes), ...commits.outcomes],
        promptRead: Math.max(memo.promptRead, promptNumber),
        said: [...memo.said, ...statementsOf(observations)],
        // Also those outside of the project: the agent did something.
        chars: memo.chars + messages.length + actions.reduce((sum, action) => sum + action.size, 0),
      }),
    ],
  }
}

/** How long the daemon's thread may be blocked, in ms: hooks wait for their acks meanwhile. */
const MAX_BLOCKED_MS = 8

/** Without what happened outside of the project: scratch files, settings of the user. */
async function readActions(messages: readonly InboxEvent[], cwd: string): Promise<ToolAction[]> {
  const actions: ToolAction[] = []
  let since = performance.now()
  for (const message of messages) {
    if (isProjectEvent(message, cwd)) actions.push(readToolAction(message, JSON.stringify(message).length))
    if (performance.now() - since < MAX_BLOCKED_MS) continue
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
  return actions
}

const CHANGED_DIRECTORY = /^\s{0,20}cd\s{1,8}["']?([^\s"';&|]{1,400})/

function isProjectEvent(message: InboxEvent, cwd: string): boolean {
  if (message.kind === 'subagent_end') return true
  const input = asFields(message.input)
  const file = stringField(input, 'file_path') || stringField(input, 'notebook_path')
  const directory = CHANGED_DIRECTORY.exec(stringField(input, 'command').slice(0, 1_000))?.[1]
  const path = file === '' ? directory : file
  return path === undefined || isInProject(path, [cwd, message.cwd])
}

/** The user's choices in a prompt, and his answer to the question that the turn before ended with. */
function userChoices(
  memo: RulesMemo,
  { prompt, promptNumber }: ObserverSession,
  sources: readonly string[],
): ObservationDraft[] {
  // An observation without a source could not be traced or forgotten with it.
  if (sources.length === 0) return []
  const answer = findAnswer(questionBefore(memo, promptNumber), prompt)
  const said = new Set(memo.said)
  // The answer is told with all of its words.
  const isTold = (choice: string) =>
    answer?.toLowerCase().includes(trimEndMatching(choice.toLowerCase(), /[.\s]/)) === true
  const choices = [...(answer === null ? [] : [answer]), ...findUserChoices(prompt).filter((choice) => !isTold(choice))]
  return composeChoices(
    choices.filter((choice) => !said.has(fingerprintOf(choice))),
    sources,
  )
}

function observeUser(action: ToolAction): ObservationDraft[] {
  if (action.kind === 'answers') return composeAnswers(action.answers, [action.id])
  if (action.kind !== 'refused') return []
  const refusal = composeRefusal(action.tool, action.subject, action.reason, action.id)
  return refusal === null ? [] : [refusal]
}

/** The end of a subagent has the same text as the result of the tool that started it, which also says what it was for. */
function observeReports(actions: readonly ToolAction[], said: readonly string[]): ObservationDraft[] {
  const known = new Set(said)
  const reports = new Map<string, ObservationDraft>()
  for (const action of actions) {
    const report = action.kind === 'agent' ? observeReport(action) : null
    const narrative = report?.narrative ?? ''
    if (report !== null && !known.has(fingerprintOf(report.facts[0] ?? narrative))) reports.set(narrative, report)
  }
  return [...reports.values()]
}

/** Paths in the project are relative to it. */
function withoutDirectory(text: string, cwd: string): string {
  return cwd.length < 2 ? text : text.replaceAll(`${cwd}/`, '')
}

function withRelativePaths(draft: ObservationDraft, cwd: string): ObservationDraft {
  const { title, narrative, facts } = draft
  return {
    ...draft,
    title: title === null ? null : withoutDirectory(title, cwd),
    narrative: narrative === null ? null : withoutDirectory(narrative, cwd),
    facts: facts.map((fact) => withoutDirectory(fact, cwd)),
  }
}

/** Each commit takes the edits before it. */
function observeCommits(actions: readonly ToolAction[], memo: RulesMemo) {
  const observations: ObservationDraft[] = []
  const outcomes: CommandOutcome[] = []
  let edits = memo.edits
  let last = memo.commit
  let from = 0
  const commands = actions.flatMap((action, at) =>
    action.kind === 'command' ? readCommits(action).map((commit) => ({ commit, at })) : [],
  )
  const final = mergeAmended(
    commands.map(({ commit }) => commit),
    memo.commit,
  )
  for (const commit of final) {
    const at = actions.indexOf(commit.action)
    edits = trackEdits(edits, actions.slice(from, at + 1))
    from = at + 1
    const committed = committedEdits(
      commit,
      edits.filter((edit) => !edit.committed),
    )
    const files = unique([...committed.map((edit) => edit.file), ...(commit.replaces?.files ?? [])])
    const statements = commitStatements(commit)
    if (statements.length > 0) observations.push(composeCommit(commit, statements, committed, files))
    else
      outcomes.push({
        key: `commit ${commit.subject}`,
        sentence: commitSentence(commit),
        ok: true,
        id: commit.action.id,
      })
    const message = `${commit.subject}\n\n${commit.body}`.slice(0, MAX_MESSAGE_CHARS)
    last = { hash: commit.hash, message, files: files.slice(0, MAX_COMMIT_FILES) }
    edits = edits.flatMap((edit) => {
      if (!committed.includes(edit)) return [edit]
      return statements.length > 0 ? [] : [{ ...edit, committed: true }]
    })
  }
  return { observations, outcomes, edits: trackEdits(edits, actions.slice(from)), last }
}

/** Kept of a commit for one that amends it. */
const MAX_MESSAGE_CHARS = 1_200
const MAX_COMMIT_FILES = 10

function skipReason(actions: readonly ToolAction[], id: string): string {
  const action = actions.find((one) => one.id === id)
  if (action === undefined) return 'outside of the project, or undone'
  switch (action.kind) {
    case 'nothing':
      return action.reason
    case 'command':
      return action.result.kind === 'look' ? 'only showed something' : 'told at the end of the turn'
    case 'edit':
      return 'told at the end of the turn'
    default:
      return 'looked without a finding'
  }
}

async function summarize(request: SummarizeRequest): Promise<SummarizeAnswer> {
  const { prompt, promptNumber, turnEnd, observations, turns, conversation, contextTokens } = request
  if (turns !== null) {
    const summary = composeSessionSummary(turns, observations)
    return { ...COMMON_ANSWER, contextTokens, summary, skipReason: null, observations: [], turns: [] }
  }
  const memo = readMemo(conversation)
  const message = turnEnd?.lastMessage ?? ''
  const isWork = memo.edits.some((edit) => !edit.told)
  const statements = readStatements(withoutDirectory(message, request.cwd), isWork ? 'The change' : null)
  const asked = openQuestion(statements)
  const before = questionBefore(memo, promptNumber)
  const choices = memo.promptRead < promptNumber ? userChoices(memo, request, turnEnd === null ? [] : [turnEnd.id]) : []
  const turn = observeTurn(memo, statements, message, request)
  const corrected = isCorrection(before, prompt) ? promptNumber - 1 : null
  const recorded = turn.length === 0 ? [] : await request.recorded()
  const made = [...choices, ...withSuperseded(turn, recorded, corrected)]
  const summary = composeSummary({
    request: requestOf(prompt, before),
    statements,
    asked,
    error: turnEnd?.error ?? null,
    observations: [...observations, ...made],
    filesEdited: memo.edits.map((edit) => edit.file),
  })
  const next: RulesMemo = {
    ...memo,
    edits: memo.edits.filter((edit) => !edit.committed).map((edit) => ({ ...edit, told: true })),
    outcomes: [],
    asked,
    askedIn: promptNumber,
    promptRead: Math.max(memo.promptRead, promptNumber),
    said: [...memo.said, ...statementsOf(made)],
    chars: 0,
  }
  return { ...COMMON_ANSWER, contextTokens, summary, skipReason: null, observations: made, turns: [memoTurn(next)] }
}

/** What the turn came to: in the agent's words, or else in those of the request and the results. */
function observeTurn(
  memo: RulesMemo,
  statements: readonly Statement[],
  message: string,
  request: SummarizeRequest,
): ObservationDraft[] {
  const { turnEnd, observations, prompt } = request
  const edits = memo.edits.filter((edit) => !edit.told)
  const work: TurnWork = {
    edits,
    outcomes: memo.outcomes,
    hasWork: edits.length > 0 || observations.some(isChange),
    chars: memo.chars,
    sources: turnEnd === null ? [] : [turnEnd.id],
  }
  if (turnEnd === null) return composeWork(work, requestOf(prompt, null))
  const known = {
    said: new Set([...memo.said, ...statementsOf(observations)]),
    told: observations.map(observationWords),
  }
  const { closing, findings } = readWords(turnEnd.words, known)
  const kept = keptStatements([...closing, ...statements], known, work)
  if (kept.length > 0 && edits.length > 0 && kept.every(({ text }) => isStatus(text))) {
    return composeWork(
      work,
      requestOf(prompt, null),
      kept.map(({ text }) => text),
    )
  }
  // What was found on the way may have been changed since; the closing message tells what is left of it.
  if (kept.length > 0) return observeClosing(kept, work, statements.length > 0 ? [] : findings)
  const outer =
    statements.length > 0 ? [] : outerSentences(message).filter((text) => !known.said.has(fingerprintOf(text)))
  if (outer.length > 0) return observeClosing(outer.map(asResult), work, findings)
  const done = composeWork(work, requestOf(prompt, null))
  // The turn was interrupted: what was found until then is all there is.
  return done.length > 0 || message !== '' ? done : observeClosing(findings.map(asResult), work)
}

const asResult = (text: string): Statement => ({ text, section: null, role: 'result' })

function observationWords({ title, narrative, facts }: Observation): string {
  return [title, narrative, ...facts].join(' ')
}

const isChange = ({ type }: Observation): boolean => type !== 'discovery' && type !== 'decision'

/** Fingerprints of what the observations say. */
function statementsOf(observations: readonly ObservationDraft[]): string[] {
  return unique(
    observations
      .flatMap(({ narrative, facts }) => [...readStatements(narrative ?? '').map(({ text }) => text), ...facts])
      .map(fingerprintOf),
  )
}
