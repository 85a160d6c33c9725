/**
 * Observations about what the agent said on purpose: its closing message and the reports of subagents. Statements are
 * grouped by their headings, so that a long message gives a few observations with facts instead of a line each.
 */

import type { ObservationDraft, ObservationType } from '../../domain/observation.ts'
import { sentencesOfLine } from '../../domain/sentences.ts'
import { fileName, firstAndLast, unique } from '../tool-events/text.ts'
import { composeDraft } from './drafts.ts'
import { changedFiles } from './edits.ts'
import type { CommandOutcome, EditedFile, OpenQuestion } from './memo.ts'
import { contentWords, fingerprintOf, isSpecific, sentenceWeight } from './statement-roles.ts'
import { cleanInline, readStatements, type Statement } from './statements.ts'

/** What was done in the turn that a message closes. */
export interface TurnWork {
  /** Changed and in no observation yet. */
  edits: readonly EditedFile[]
  outcomes: readonly CommandOutcome[]
  /** Whether anything was changed or committed. */
  hasWork: boolean
  chars: number
  sources: readonly string[]
}

const MAX_GROUPS = 5
/** A group of fewer characters is added to the one before it. */
const MIN_GROUP_CHARS = 160
/** Statements of a discussion, in which nothing was changed: most of them are thoughts. */
const MAX_DISCUSSION_STATEMENTS = 6
const MAX_AGENT_CHOICES = 2
/** Results of commands that are added to a message. */
const MAX_OUTCOMES = 3

/** What is known already when a message is read. */
export interface KnownStatements {
  /** Fingerprints of the statements that are stored. */
  said: ReadonlySet<string>
  /** Of the observations of the turn: a message that repeats a commit says nothing new. */
  told: readonly string[]
}

/** The statements that are kept: certain, and not stored before. */
export function keptStatements(
  statements: readonly Statement[],
  { said, told }: KnownStatements,
  work: Pick<TurnWork, 'hasWork' | 'chars'>,
): Statement[] {
  const seen = new Set(said)
  const toldWords = told.map((text) => new Set(contentWords(text)))
  const kept = statements.filter(({ text, role }) => {
    if (role !== 'result' && role !== 'cause' && role !== 'choice') return false
    const fingerprint = fingerprintOf(text)
    if (seen.has(fingerprint) || toldWords.some((words) => isContained(text, words))) return false
    seen.add(fingerprint)
    return true
  })
  if (work.hasWork) return kept
  // Without any tool use nothing was found out: it is a discussion.
  const isTelling = ({ text, role }: Statement) =>
    work.chars === 0 ? role !== 'result' && isSpecific(text) : role !== 'result' || isSpecific(text)
  const telling = kept.filter((statement) => isTelling(statement) && !isPlan(statement))
  const best = [...telling]
    .sort((a, b) => sentenceWeight(b.text) - sentenceWeight(a.text))
    .slice(0, MAX_DISCUSSION_STATEMENTS)
  return telling.filter((statement) => best.includes(statement))
}

/** A text of this length between tool uses is a closing message after which the turn went on. */
const MIN_CLOSING_CHARS = 700
const MAX_FINDINGS = 6

export interface SpokenWords {
  /** Statements of messages that closed the work, before something made the agent go on. */
  closing: Statement[]
  /** What the agent found on the way: causes, and facts about names in the code. The newest. */
  findings: string[]
}

/** What the agent wrote between tool uses. Most of it announces the next step. */
export function readWords(words: readonly string[], known: KnownStatements): SpokenWords {
  const closing = words.filter((text) => text.length >= MIN_CLOSING_CHARS).flatMap((text) => readStatements(text))
  const findings = words
    .filter((text) => text.length < MIN_CLOSING_CHARS)
    .flatMap((text) => readStatements(text))
    .filter(({ text, role }) => isSpecific(text) && (role === 'cause' || (role === 'result' && isFinding(text))))
    .map(({ text }) => text)
    .filter((text) => !known.said.has(fingerprintOf(text)) && !text.includes('; '))
  return { closing, findings: unique(findings).slice(-MAX_FINDINGS) }
}

/** A sentence about what is, with a name: not about what the agent does next, nor how a command ended. */
function isFinding(text: string): boolean {
  if (/^(?:now|next|first|then|i|we|all|good|clean|build|tests?)\b/i.test(text)) return false
  return (
    /`/.test(text) &&
    /\b(?:is|are|was|were|has|have|uses?|expects?|needs?|requires?|calls?|returns?|reads?|writes?)\b/i.test(text)
  )
}

/** Share of its words that a statement must have in common with an observation to repeat it. */
const CONTAINED_SHARE = 0.7

function isContained(text: string, words: ReadonlySet<string>): boolean {
  const own = contentWords(text)
  return own.length > 0 && own.filter((word) => words.has(word)).length >= own.length * CONTAINED_SHARE
}

const PLAN =
  /\b(?:phase \w{1,2}\b|propos(?:al|ed?)|plans?\b|approach(?:es)?|roadmap|suggest(?:ed|ions?)?|recommend(?:ed|ations?)?|would|could|we(?:'d| would)? need|option \w\b|alternatives?)/i

/** What might be done: in a turn that did nothing, nobody has decided it. */
function isPlan({ text, section }: Statement): boolean {
  return PLAN.test(text) || (section !== null && PLAN.test(section))
}

const MAX_OUTER_CHARS = 16_000

/** A text that no rule understands is told by its first and last sentence. */
export function outerSentences(message: string): string[] {
  const sentences = firstAndLast(message, MAX_OUTER_CHARS)
    .split('\n')
    .flatMap((line) => sentencesOfLine(cleanInline(line)))
    .filter((sentence) => contentWords(sentence).length >= 3 && !/[?？]$/.test(sentence))
  const isForeign = /[^\p{ASCII}\p{Script=Latin}\p{P}\p{S}]/u.test(message) || /[àâçéèêîïôûùüöäßñ¿¡]/i.test(message)
  return isForeign ? unique([...sentences.slice(0, 1), ...sentences.slice(-1)]) : []
}

/** `findings` are added to the first observation. */
export function observeClosing(
  kept: readonly Statement[],
  work: TurnWork,
  findings: readonly string[] = [],
): ObservationDraft[] {
  const choices = kept.filter(({ role }) => role === 'choice').slice(0, MAX_AGENT_CHOICES)
  const groups = groupBySection(kept.filter((statement) => !choices.includes(statement)))
  // Of a failure that stays, the message itself speaks.
  const told = work.outcomes
    .filter(({ ok }) => ok)
    .map(({ sentence }) => sentence)
    .slice(-MAX_OUTCOMES)
  const owners = fileOwners(groups, work.edits)
  const drafts = groups.map((group, i) => {
    const edits = owners[i] ?? []
    const texts = group.map(({ text }) => text)
    const unnamed = edits.filter(({ file }) => !texts.some((text) => text.includes(fileName(file))))
    return composeDraft({
      type: groupType(group, work.hasWork, edits.length > 0 || i === 0),
      statements: texts,
      facts: [
        ...(i === 0 ? [...findings, ...told] : []),
        ...(unnamed.length === 0 ? [] : [`${changedFiles(unnamed)}.`]),
      ],
      concepts: [group.some(({ role }) => role === 'cause') ? 'how-it-works' : 'what-changed'],
      filesModified: edits.map((edit) => edit.file),
      functionsChanged: edits.flatMap((edit) => edit.functions),
      chars: Math.ceil(work.chars / groups.length),
      sources: [...work.sources, ...edits.map((edit) => edit.id)],
      saidBy: 'agent',
    })
  })
  return [...drafts, ...choices.map(({ text }) => composeAgentChoice(text, work.sources))]
}

function composeAgentChoice(text: string, sources: readonly string[]): ObservationDraft {
  const parts = { statements: [text], subtitle: 'The agent said so', concepts: ['trade-off'], sources }
  return composeDraft({ type: 'decision', ...parts, saidBy: 'agent' })
}

function groupBySection(statements: readonly Statement[]): Statement[][] {
  const groups: Statement[][] = []
  for (const statement of statements) {
    const last = groups.at(-1)
    const isSame = last?.[0]?.section === statement.section
    const isSmall = last !== undefined && charsOf(last) < MIN_GROUP_CHARS
    if (last !== undefined && (isSame || isSmall)) last.push(statement)
    else groups.push([statement])
  }
  const smallEnd = groups.length > 1 && charsOf(groups.at(-1) ?? []) < MIN_GROUP_CHARS ? groups.pop() : undefined
  if (smallEnd !== undefined) groups.at(-1)?.push(...smallEnd)
  while (groups.length > MAX_GROUPS) joinSmallest(groups)
  return groups
}

const charsOf = (group: readonly Statement[]): number => group.reduce((sum, { text }) => sum + text.length, 0)

/** Two neighbours that are the shortest together become one group. */
function joinSmallest(groups: Statement[][]): void {
  let at = 0
  const size = (i: number) => charsOf(groups[i] ?? []) + charsOf(groups[i + 1] ?? [])
  for (let i = 1; i < groups.length - 1; i++) if (size(i) < size(at)) at = i
  groups.splice(at, 2, [...(groups[at] ?? []), ...(groups[at + 1] ?? [])])
}

/** A file belongs to the first group that names it; the others to the first group. */
function fileOwners(groups: readonly Statement[][], edits: readonly EditedFile[]): EditedFile[][] {
  const texts = groups.map((group) => group.map(({ text, section }) => `${section ?? ''} ${text}`).join(' '))
  const owners: EditedFile[][] = groups.map(() => [])
  for (const edit of edits) {
    const named = texts.findIndex((text) => text.includes(fileName(edit.file)))
    owners[Math.max(0, named)]?.push(edit)
  }
  return owners
}

/** What was done begins a statement, or follows its label. */
const FIXED =
  /(?:^|[.:;] )(?:(?:i|we)(?:'ve| have)? )?(?:bug ?fix|fix(?:ed|es)?|resolved?|repaired|corrected)\b|\b(?:is|are|was|were|bug|now) fixed\b/i
const PROBLEM =
  /\b(?:bugs?|fail(?:s|ed|ing|ure)?|errors?|broken?|crash(?:es|ed)?|wrong|regression|leak|race|conflicts?|root cause|missing|because|caused?)\b/i
const REFACTORED =
  /(?:^|[.:;] )(?:(?:i|we)(?:'ve| have)? )?(?:refactored|renamed|extracted|moved|simplified|split|restructured|deduplicated|inlined)\b/i
const ADDED = /(?:^|[.:;-] )(?:(?:i|we)(?:'ve| have)? )?(?:added|implemented|created|introduced|built|new|ported)\b/i

function groupType(group: readonly Statement[], hasWork: boolean, hasEdits: boolean): ObservationType {
  if (!hasWork) return 'discovery'
  const text = group.map((statement) => statement.text).join(' ')
  if (FIXED.test(text) && PROBLEM.test(text)) return 'bugfix'
  if (REFACTORED.test(text) && !ADDED.test(text)) return 'refactor'
  if (ADDED.test(text)) return 'feature'
  return hasEdits ? 'change' : 'discovery'
}

const MAX_REPORT_STATEMENTS = 6
/** Where in a file something is: the repository tells it, and the next edit moves it. */
const LOCATION = /^(?:location|file|path|lines?)\b[^:]{0,24}:/i

/** Most of the text is names: the code has them. */
const NAME_SHARE = 0.5

function isNameList(text: string): boolean {
  const names = text.match(/`[^`]+`/g) ?? []
  return names.length > 3 && names.join('').length > text.length * NAME_SHARE
}

/** The report of a subagent: what it found, or did. Null if it says nothing. */
export function observeReport(report: {
  found: string
  subject: string
  id: string
  agent: string | null
  size: number
}): ObservationDraft | null {
  const statements = readStatements(report.found).filter(
    ({ role }) => role === 'result' || role === 'cause' || role === 'choice',
  )
  const texts = statements.map(({ text }) => text).filter((text) => !LOCATION.test(text) && !isNameList(text))
  const best = [...texts].sort((a, b) => sentenceWeight(b) - sentenceWeight(a)).slice(0, MAX_REPORT_STATEMENTS)
  const kept = texts.length > 0 ? texts.filter((text) => best.includes(text)) : outerSentences(report.found)
  if (kept.length === 0) return null
  return composeDraft({
    type: 'discovery',
    statements: kept,
    subtitle: report.subject === '' ? null : `A subagent reported: ${report.subject}`,
    concepts: ['how-it-works'],
    agent: report.agent,
    chars: report.size,
    sources: [report.id],
    saidBy: 'agent',
  })
}

/** The question that the message ends with, with the options before it; null if it asks nothing. */
export function openQuestion(statements: readonly Statement[]): OpenQuestion | null {
  const last = statements.findLastIndex(({ role }) => role === 'question')
  const options = statements.filter(({ role }) => role === 'option').map(({ text }) => text)
  const question = statements[last]?.text ?? null
  const isAtEnd = last >= statements.length - MAX_AFTER_QUESTION
  if (question !== null && isAtEnd) return { question, options: lastList(options) }
  return null
}

/** A question may be followed by a remark. */
const MAX_AFTER_QUESTION = 3
const MAX_OPTIONS = 8

function lastList(options: readonly string[]): string[] {
  return options.slice(-MAX_OPTIONS)
}
