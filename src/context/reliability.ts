/**
 * Which statements may not be in the context although they were said: what the work since then has changed, what was only
 * discussed, guessed or rejected, and what cannot be understood alone. A search still finds all of them; a start that tells
 * an outdated state is worse than one that tells less.
 */
import { isHandWritten } from '../domain/observation.ts'
import type { Passage } from '../domain/passage.ts'
import type { Candidate, LastSession } from './candidates.ts'
import { isCheck } from './state.ts'
import { informativeTerms, isHedged, NAME_WEIGHT } from './statements.ts'
import { type SpokenTurn, turnKeyOf } from './turns.ts'

interface SessionRecord {
  passages: readonly Passage[]
  turns: readonly SpokenTurn[]
  last: LastSession | null
}

export function reliableCandidates(candidates: readonly Candidate[], record: SessionRecord): Candidate[] {
  const turns = new TurnFacts(record)
  const isReliable = (candidate: Candidate) =>
    candidate.said === 'user' ? isUnderstandable(candidate) : isAgentsResult(candidate, turns)
  // What somebody asked to be remembered was meant to be read alone.
  const kept = candidates.filter((candidate) => isHandWritten(candidate) || isReliable(candidate))
  return kept.filter((candidate) => candidate.said === 'user' || candidate.byModel || !isReplaced(candidate, kept))
}

/** A pronoun whose referent is in an earlier message. */
const STANDS_FOR = /\b(?:something|anything|stuff|that|this|it|them|these|those|one|above|below)\b/i
/** A longer sentence says itself what its pronouns stand for. */
const MAX_UNNAMED_WORDS = 10
const LATIN = /^[\p{Script=Latin}\p{P}\p{S}\p{N}\s]*$/u

/** A choice of the user is kept if it has a name, or no pronoun without a referent. */
function isUnderstandable({ text: line, terms }: Candidate): boolean {
  const text = line.replace(/^The user: /, '')
  if (POINTS_AWAY.test(text) || COMPLAINS.test(text)) return false
  const names = namesOf(terms).filter((name) => !HYPHENATED.test(name))
  return names.length > 0 || !LATIN.test(text) || !STANDS_FOR.test(text) || text.split(' ').length > MAX_UNNAMED_WORDS
}

/** It is about something that the reader does not see. */
const POINTS_AWAY = /\b(?:above|below)\b|^\W*(?:the (?:issue|problem|other|same)|it|this|that)\b/i
/** A complaint is no choice; what was done about it is told elsewhere. */
const COMPLAINS = /\b(?:trouble|doesn'?t work|not work(?:ing)?|broken)\b/i
const HYPHENATED = /^[a-z]+(?:-[a-z]+)+$/

/** How the quotation of an order or a condition begins: it is advice or a plan, not a result. */
const QUOTES_ADVICE = /^the agent said:/i
/** The agent is content with its work. */
const PRAISES =
  /\b(?:\w+-ready|much (?:cleaner|better)|flows? naturally|completely implemented|(?:all|every) .{0,40}issues? resolved|comprehensive .{0,60}improvements?|works? perfectly|mission accomplished)\b/i
/** A statement with its reason tells something even without a name. */
const REASON = /\b(?:because|since|due to|caused by|so that|therefore)\b/i
/** A remark on the sentence before it, or on what was before the change. */
const ASIDE = /^(?:note that (?:it|this|that)|before:)/i
/** How the checks ended when it was said. */
const TELLS_RESULT =
  /\b\d+(?:\/\d+)? (?:tests? )?(?:pass(?:ed|ing)?|fail(?:ed|ing|ures?)?)\b|\btests? pass(?:ed|ing)?\b|\(\d+\/\d+\)|\b(?:formatting|lint(?:ing|er)?|type) (?:issues|errors|problems)\b/i
/** A condition: it did not happen, or not yet. */
const CONDITION = /^(?:if|when|once|unless|until)\b/i

export function praises(text: string): boolean {
  return PRAISES.test(text)
}

/** `file.py`: a few words, as in a table whose heading said what was done. */
const MAX_ENTRY_WORDS = 8

function isBareEntry(text: string): boolean {
  return /^`[^`]{1,80}`:/.test(text) && text.replace(/`[^`]{0,200}`/g, '').split(/\s+/).length <= MAX_ENTRY_WORDS
}

export function quotesAdvice(text: string): boolean {
  return QUOTES_ADVICE.test(text)
}

function isAgentsResult(candidate: Candidate, turns: TurnFacts): boolean {
  const { text, terms, said, part, byModel, observation } = candidate
  // It is open until it is resolved.
  if (observation?.status === 'open') return true
  if (turns.isRejected(candidate) && (observation === null || observation.type === 'discovery')) return false
  if (said === 'commit' || byModel) return true
  if (isRoutineFix(candidate) && (turns.hasClosing(candidate) || DIAGNOSTIC.test(text))) return false
  if (TELLS_RESULT.test(text) && turns.isCheckedSince(candidate)) return false
  if (praises(text) || ASIDE.test(text)) return false
  if (observation !== null && observation.type !== 'discovery') return true
  if (quotesAdvice(text) || isBareEntry(text)) return false
  if (!turns.isLast(candidate) && (isHedged(text) || CONDITION.test(text) || turns.isDiscussion(candidate)))
    return false
  if (observation === null && LATIN.test(text) && namesOf(terms).length === 0 && !REASON.test(text)) return false
  const describes = part === 'learned' || part === 'places' || (observation === null && part !== 'state')
  return !describes || !turns.isEditedSince(candidate)
}

/** What a compiler or a linter says about code that is being written. */
const DIAGNOSTIC =
  /\berror TS\d|\blint\/|\bSyntaxError\b|\b(?:Attribute|Type|Name|Import|Reference)Error\b|\berror\[E\d|\bunused\b|\bimplicitly\b|\bundefined:|\b[EFWC]\d{3,4}\b/

/** A command that failed and passed after a change of the same turn: if it matters, the agent tells it at the end of the turn. */
function isRoutineFix({ observation }: Candidate): boolean {
  return observation !== null && observation.type === 'bugfix' && observation.concepts.includes('problem-solution')
}

/** A later turn has a statement with all of its names: the last state counts. */
function isReplaced(candidate: Candidate, all: readonly Candidate[]): boolean {
  const names = namesOf(candidate.terms)
  if (names.length === 0) return false
  return all.some(
    (other) =>
      other.session === candidate.session &&
      other.promptNumber > candidate.promptNumber &&
      names.every((name) => other.terms.has(name)),
  )
}

function namesOf(terms: ReadonlyMap<string, number>): string[] {
  return [...terms].filter(([, weight]) => weight >= NAME_WEIGHT).map(([term]) => term)
}

type TurnOf = Pick<Candidate, 'session' | 'promptNumber'>

/** Names that an edit must share with a statement to concern it: one may be chance. */
const MIN_EDITED_NAMES = 2
/** Part of the words of a statement that later edits have too: it describes what was there before. */
const EDITED_SHARE = 0.4
/** A subagent explores before the work begins. */
const REPORT = 'A subagent reported'
const REPORT_EDITED_SHARE = 0.2
/** Documents say what was found; they are not what the statement describes. */
const DOCUMENT = /\.(?:md|mdx|txt|rst|adoc)$/i

/** What the passages say about the turns of the last session. */
class TurnFacts {
  readonly #worked = new Set<string>()
  readonly #rejected: ReadonlySet<string>
  readonly #closed: ReadonlySet<string>
  /** Edits and commits. */
  readonly #changes: { session: string; at: number; kind: string; terms: ReadonlySet<string> }[] = []
  readonly #last: SpokenTurn | undefined
  readonly #checkedAt = new Map<string, number>()
  readonly #lastWorked = new Map<string, number>()

  constructor({ passages, turns, last }: SessionRecord) {
    this.#rejected = new Set(turns.filter(({ isRejected }) => isRejected).map(turnKeyOf))
    this.#closed = new Set(turns.filter(({ closing }) => closing !== null).map(turnKeyOf))
    this.#last = turns.find(({ session }) => session === last?.session)
    for (const passage of passages) {
      const { kind, session, promptNumber, subject, text, at } = passage
      if (kind !== 'edit' && kind !== 'commit' && !isCheck(passage)) continue
      this.#worked.add(turnKeyOf(passage))
      if (kind === 'command') this.#checkedAt.set(session, Math.max(at, this.#checkedAt.get(session) ?? 0))
      this.#lastWorked.set(session, Math.max(promptNumber, this.#lastWorked.get(session) ?? 0))
      if (kind === 'command' || DOCUMENT.test(subject ?? '')) continue
      this.#changes.push({ session, at, kind, terms: new Set(informativeTerms(`${subject ?? ''} ${text}`).keys()) })
    }
  }

  /** The checks ran again after it was said. */
  isCheckedSince({ session, at }: Candidate): boolean {
    return (this.#checkedAt.get(session) ?? 0) > at
  }

  isLast({ session, promptNumber }: TurnOf): boolean {
    return session === this.#last?.session && promptNumber === this.#last.promptNumber
  }

  isRejected(turn: TurnOf): boolean {
    return this.#rejected.has(turnKeyOf(turn))
  }

  hasClosing(turn: TurnOf): boolean {
    return this.#closed.has(turnKeyOf(turn))
  }

  /** Nothing was run or edited in it, but something was later: what was only talked about is in what was done. */
  isDiscussion(turn: TurnOf): boolean {
    return !this.#worked.has(turnKeyOf(turn)) && (this.#lastWorked.get(turn.session) ?? 0) > turn.promptNumber
  }

  /** It describes what was edited after it was said, or what a later commit tells. */
  isEditedSince({ session, at, terms, observation }: Candidate): boolean {
    const share = observation?.subtitle?.startsWith(REPORT) === true ? REPORT_EDITED_SHARE : EDITED_SHARE
    if (this.#editedShare(session, at, terms) >= share) return true
    const names = namesOf(terms)
    const needed = Math.min(MIN_EDITED_NAMES, names.length)
    return (
      needed > 0 &&
      this.#changes.some(
        (edit) =>
          edit.kind === 'edit' &&
          edit.session === session &&
          edit.at > at &&
          names.filter((name) => edit.terms.has(name)).length >= needed,
      )
    )
  }

  #editedShare(session: string, at: number, terms: ReadonlyMap<string, number>): number {
    const later = this.#changes.filter((edit) => edit.session === session && edit.at > at)
    const edited = [...terms.keys()].filter((term) => later.some((edit) => edit.terms.has(term)))
    return terms.size === 0 ? 0 : edited.length / terms.size
  }
}
