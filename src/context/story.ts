/**
 * How it got here: turns with what came of them, and whole statements of their closing words, chosen over all turns by what they add.
 *
 * gain = prior · Σ weight(term) · REPEATED^(times told) / tokens^COST_POWER
 *
 * The weight of a term is its rarity among all statements, more for names and numbers. The prior of a statement falls with the age
 * of its turn and session.
 * A turn is never told without its outcome: whatever is chosen of a turn brings its opening with it, the date, the request and
 * the statement that says what came of it, and pays for them. So the budget is filled with what says most, repetition pays nothing,
 * and many independent tasks are each named before one of them is told at length.
 *
 * docs/context.md says how the constants were chosen.
 */
import { CHARS_PER_TOKEN } from '../domain/observation.ts'
import { speakerName } from '../domain/quotation.ts'
import { commitsOf } from '../reading/git.ts'
import { firstTelling, isSpecific, TermWeights, termsOf } from '../reading/terms.ts'
import { isQuestion, readWords, type WordBlock, withHeading } from '../reading/words.ts'
import type { Choice } from './choices.ts'
import { type PastTurn, requestBegin, type TurnNote } from './turns.ts'

export const STORY = {
  /** Names and numbers compared with other words. */
  specific: 5,
  /** What a word is worth that is told already. */
  repeated: 0.2,
  /** Per turn and per session before the newest. */
  turnAge: 0.95,
  sessionAge: 0.9,
  costPower: 0.8,
  /** Priors of the first statements of a report, which say what came of the turn, and of what is no closing word. */
  lead: 2.5,
  request: 1,
  commit: 0.5,
  words: 0.3,
  earlier: 0.5,
  choice: 1.5,
}

/**
 * `report`: the closing words, or a note of them; `earlier`: closing words before the client continued the turn;
 * `words`: what the agent wrote in a turn without closing words.
 */
export type StatementKind = 'request' | 'earlier' | 'report' | 'words' | 'commit'

/** What competes for a place in the text. */
interface Candidate {
  terms: ReadonlySet<string>
  prior: number
  /** Characters that it takes, without the opening of its turn. */
  chars: number
  /** Null for what is told elsewhere than below its turn. */
  turn: PastTurn | null
}

export interface Statement extends Candidate {
  turn: PastTurn
  kind: StatementKind
  /** The note that says it, with its speaker: `#12 page:`; null for what user and agent said. */
  note: string | null
  text: string
  /** It is an item of a list or a row of a table. */
  isItem: boolean
  /** Subject of the commit whose message says it. */
  commit?: string
  /** Place in the turn. */
  order: number
}

/** What the user decided: a line of its own, beside the turns. */
export interface DecisionLine extends Candidate {
  turn: null
  choice: Choice
}

/** A statement with fewer terms says nothing alone, unless it names something. */
const MIN_TERMS = 6
const MIN_CHARS = 16
/** A longer one is data, or should have been several. */
const MAX_CHARS = 420
/** Most statements of one text, half of them from its beginning and half from its end. */
const MAX_STATEMENTS = 80
/** A longer request is a template or something pasted. */
const MAX_REQUEST_STATEMENTS = 4
const LEAD_STATEMENTS = 3

type Said = Pick<Statement, 'kind' | 'note' | 'text' | 'isItem' | 'commit' | 'prior'>

/** Everything that can be told of a turn, in its order. */
function saidIn({ request, notes, closing, earlier, words, steps }: PastTurn, isContinued: boolean): Said[] {
  const commits = commitsOf(steps).flatMap(({ title, body }) => [
    ...readWords(title).map(toSaid('commit', STORY.commit)),
    ...blocksOf(body)
      .map(toSaid('commit', STORY.commit))
      .map((said) => ({ ...said, commit: onOneLine(title) })),
  ])
  const spoken = [
    ...earlier.flatMap((report) => blocksOf(report).map(toSaid('earlier', STORY.earlier))),
    ...(closing === null
      ? words.flatMap(blocksOf).map(toSaid('words', STORY.words))
      : reportBlocks(closing.text, isContinued).map(toSaid('report', 1))),
  ]
  return [
    ...blocksOf(request ?? '')
      .slice(0, MAX_REQUEST_STATEMENTS)
      .map(toSaid('request', STORY.request)),
    ...(notes.length > 0 ? notes.flatMap(noteStatements) : spoken),
    ...commits,
  ]
}

const toSaid =
  (kind: StatementKind, prior: number) =>
  (block: WordBlock, i: number, all: readonly WordBlock[]): Said => ({
    kind,
    note: null,
    text: onOneLine(inPlace(block, all[i - 1])),
    isItem: block.kind === 'item' || block.kind === 'row',
    prior: kind === 'report' ? prior * leadPrior(i) : prior,
  })

const leadPrior = (i: number): number => (i < LEAD_STATEMENTS ? STORY.lead : 1)

/** A model has weighed what it says: each of its statements is a whole. */
function noteStatements(observation: TurnNote): Said[] {
  const { id, title, narrative, facts, amendedBy } = observation
  // Another machine of the same user is no other member.
  const speaker = speakerName({ ...observation, author: null })
  const amended = amendedBy.length === 0 ? '' : `, amended by ${amendedBy.map((other) => `#${other}`).join(', ')}`
  const note = `#${id} ${speaker}${amended}:`
  const texts = [title ?? '', ...readWords(narrative ?? '').map(({ text }) => text), ...facts]
  return texts
    .map((text, i) => ({ kind: 'report' as const, note, text: onOneLine(text), isItem: true, prior: leadPrior(i) }))
    .filter(({ text }) => text !== '')
}

/** The end of a report says what is open, and questions wait for an answer: the turn after it has overtaken both. */
function reportBlocks(report: string, isContinued: boolean): WordBlock[] {
  const blocks = blocksOf(report)
  if (!isContinued) return blocks
  const last = blocks.at(-1)?.group
  const isShort = blocks[0]?.group === last
  return blocks.filter(({ group, text }) => (isShort || group !== last) && !isQuestion(text))
}

/** Without headings, which stand before what is below them, and code. */
function blocksOf(text: string): WordBlock[] {
  const blocks = readWords(text).filter(({ kind }) => kind !== 'heading' && kind !== 'code')
  return blocks.length <= MAX_STATEMENTS
    ? blocks
    : [...blocks.slice(0, MAX_STATEMENTS / 2), ...blocks.slice(-MAX_STATEMENTS / 2)]
}

/** A few common words say nothing alone, an announcement (`Now the tests:`) nothing at all, and a long line is data. */
function saysSomething(text: string, terms: ReadonlySet<string>): boolean {
  if (text.length < MIN_CHARS || text.length > MAX_CHARS || /[:：]$/.test(text)) return false
  return terms.size >= MIN_TERMS || (terms.size > 1 && [...terms].some(isSpecific))
}

/** With its heading, the first row of a table with its header. */
function inPlace(block: WordBlock, before: WordBlock | undefined): string {
  const { kind, text, header } = block
  if (kind !== 'row') return withHeading(block, before)
  return header === null || before?.header === header ? text : `${header} ${text}`
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

export interface StoryOptions {
  /** Characters that may be used. */
  chars: number
  /** What is told already. */
  told: readonly string[]
  /** The line that a turn begins with. */
  head: (turn: PastTurn) => string
}

export interface Story {
  /** What is told of each turn, in the order of the turns, its statements in theirs. */
  turns: Map<PastTurn, Statement[]>
  decisions: DecisionLine[]
}

/** `choices`: what the user decided in each turn. */
export function chooseStory(turns: readonly PastTurn[], choices: readonly Choice[], options: StoryOptions): Story {
  const ages = turnAges(turns)
  const ageOf = (turn: PastTurn) => ages.get(turn) ?? 1
  const openings = openingsOf(turns, ageOf, options)
  const decisions = choices.map((choice): DecisionLine => {
    const { line, turn, words, isReply } = choice
    const prior = (isReply ? STORY.request : STORY.choice) * (turn === null ? 1 : ageOf(turn))
    return { turn: null, choice, prior, terms: termsOf(words), chars: line.length + 1 }
  })
  const teller = new Teller(openings, decisions, options)
  const chosen = teller.tellBest()
  return {
    turns: new Map([...openings].flatMap(([turn, opening]) => toldOf(turn, opening, chosen))),
    decisions: decisions.filter((one) => chosen.has(one)),
  }
}

function toldOf(turn: PastTurn, opening: Opening, chosen: ReadonlySet<Candidate>): [PastTurn, Statement[]][] {
  const says = opening.statements.filter((one) => chosen.has(one))
  const commits = new Set(says.map(({ commit }) => commit))
  const told = opening.statements.filter((one) => chosen.has(one) || (one.kind === 'commit' && commits.has(one.text)))
  if (told.length === 0 && !chosen.has(opening)) return []
  const { lead } = opening
  return [[turn, [...told, ...(lead === null ? [] : [lead])].sort((a, b) => a.order - b.order)]]
}

/** The head of a turn with the statement that says what came of it. Chosen alone, or brought by another statement of the turn. */
interface Opening extends Candidate {
  turn: PastTurn
  lead: Statement | null
  /** The others of the turn. */
  statements: Statement[]
}

/** What is left out between two statements is marked with these. */
const JOIN_CHARS = 5
/** Line ends, indentation and quotation marks. */
const OPENING_CHARS = 8

/** A head that has so much of a statement is the beginning of it. */
const BEGIN_CHARS = 60

/** Each statement once, by the newest turn that says it, and nothing that is told already. */
function openingsOf(
  turns: readonly PastTurn[],
  ageOf: (turn: PastTurn) => number,
  { told, head }: StoryOptions,
): Map<PastTurn, Opening> {
  const above = told.join('\n')
  const continued = new Set(turns.map(({ session, promptNumber }) => `${session}\n${promptNumber - 1}`))
  const seen = new Set<string>()
  const asked = new Set<string>()
  const openings = new Map<PastTurn, Opening>()
  for (const turn of turns) {
    const line = head(turn)
    const isNew = ({ text }: Said) => {
      const isKnown = seen.has(text) || above.includes(text) || line.includes(text.slice(0, BEGIN_CHARS))
      seen.add(text)
      return !isKnown
    }
    const all = saidIn(turn, continued.has(`${turn.session}\n${turn.promptNumber}`))
      .filter(isNew)
      .map((said) => ({ said, terms: termsOf(said.text) }))
      .filter(({ said, terms }) => said.note !== null || saysSomething(said.text, terms))
      .map(({ said, terms }, order) => statement(turn, said, terms, order, ageOf(turn)))
    const isTold = turn.request !== null && above.includes(onOneLine(turn.request))
    const begin = (turn.request ?? '').slice(0, MAX_CHARS)
    const saysWhat = turn.closing !== null || saysSomething(begin, termsOf(begin))
    const isTask = saysWhat && !asked.has(requestBegin(turn))
    if (all.length === 0 && (isTold || !isTask)) continue
    asked.add(requestBegin(turn))
    const lead = isTold ? null : leadOf(all)
    openings.set(turn, {
      turn,
      lead,
      statements: all.filter((one) => one !== lead),
      prior: ageOf(turn),
      terms: new Set([...termsOf(turn.request?.slice(0, line.length) ?? ''), ...(lead?.terms ?? [])]),
      chars: line.length + (lead?.chars ?? 0) + OPENING_CHARS,
    })
  }
  return openings
}

const statement = (turn: PastTurn, said: Said, terms: Set<string>, order: number, age: number): Statement => ({
  ...said,
  turn,
  order,
  prior: said.prior * age,
  terms,
  chars: said.text.length + (said.commit?.length ?? 0) + JOIN_CHARS,
})

/** A longer statement tells more than what came of the turn. */
const MAX_LEAD_CHARS = 300
/** Statements of a report that may open its turn. */
const LEAD_TRIED = 4
const MIN_LEAD_SHARE = 0.4

/** The first statement of the report that says enough; without a report the last words before it was cut off, or a commit. */
function leadOf(statements: readonly Statement[]): Statement | null {
  const ofKind = (kind: StatementKind) =>
    statements.filter((one) => one.kind === kind && one.text.length <= MAX_LEAD_CHARS)
  const tried = ofKind('report').slice(0, LEAD_TRIED)
  const first = firstTelling(tried, ({ terms }) => terms, MIN_LEAD_SHARE)
  return first ?? ofKind('words').at(-1) ?? ofKind('earlier').at(-1) ?? ofKind('commit')[0] ?? null
}

/** How much a turn counts for its age, and for that of its session. */
function turnAges(turns: readonly PastTurn[]): Map<PastTurn, number> {
  const sessions = new Map([...new Set(turns.map(({ session }) => session))].map((session, age) => [session, age]))
  return new Map(
    turns.map((turn, i) => [turn, STORY.turnAge ** i * STORY.sessionAge ** (sessions.get(turn.session) ?? 0)]),
  )
}

interface Waiting {
  one: Candidate
  gain: number
}

/** What is told so far, and what a further statement would add and cost. */
class Teller {
  readonly #weights = new TermWeights(STORY.specific)
  readonly #openings: ReadonlyMap<PastTurn, Opening>
  readonly #told = new Map<string, number>()
  readonly #chosen = new Set<Candidate>()
  /** Turns of which something is told. */
  readonly #begun = new Set<PastTurn>()
  #queue: Waiting[]
  #left: number

  constructor(
    openings: ReadonlyMap<PastTurn, Opening>,
    decisions: readonly DecisionLine[],
    { chars, told }: StoryOptions,
  ) {
    this.#left = chars
    this.#openings = openings
    for (const line of told) this.#add(termsOf(line))
    const all = [...[...openings.values()].flatMap((one) => [one, ...one.statements]), ...decisions]
    for (const { terms } of all) this.#weights.add(terms)
    this.#queue = all.map((one) => ({ one, gain: this.#gain(one) })).sort((a, b) => b.gain - a.gain)
  }

  /** A gain only falls while others are chosen: the first one whose gain is still the highest is the best of all. */
  tellBest(): ReadonlySet<Candidate> {
    for (let best = this.#queue.shift(); best !== undefined; best = this.#queue.shift()) {
      const { one } = best
      if (this.#cost(one) > this.#left) continue
      const gain = this.#gain(one)
      if (gain < (this.#queue[0]?.gain ?? 0)) this.#insert({ one, gain })
      else this.#tell(one)
    }
    return this.#chosen
  }

  #tell(one: Candidate): void {
    const opening = this.#newOpening(one)
    this.#left -= this.#cost(one)
    this.#add(opening?.terms ?? [])
    this.#add(one.terms)
    this.#chosen.add(one)
    if (one.turn === null) return
    if (this.#begun.has(one.turn)) return
    this.#begun.add(one.turn)
    this.#raise(one.turn)
  }

  /** Without the cost of the opening, the other statements of the turn gain more than before. */
  #raise(turn: PastTurn): void {
    const opening = this.#openings.get(turn)
    const raised = this.#queue.filter(({ one }) => one.turn === turn && one !== opening)
    this.#queue = this.#queue.filter(({ one }) => one.turn !== turn)
    for (const { one } of raised) this.#insert({ one, gain: this.#gain(one) })
  }

  /** Keeps the order, highest gain first. */
  #insert(waiting: Waiting): void {
    let [from, to] = [0, this.#queue.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#queue[middle]?.gain ?? 0) > waiting.gain) from = middle + 1
      else to = middle
    }
    this.#queue.splice(from, 0, waiting)
  }

  #gain(one: Candidate): number {
    let sum = 0
    for (const term of one.terms) sum += this.#worth(term)
    for (const term of this.#newOpening(one)?.terms ?? []) if (!one.terms.has(term)) sum += this.#worth(term)
    return (one.prior * sum) / Math.max(1, this.#cost(one) / CHARS_PER_TOKEN) ** STORY.costPower
  }

  /** The opening that the choice of a statement brings with it; null where its turn is told already. */
  #newOpening(one: Candidate): Opening | null {
    if (one.turn === null || this.#begun.has(one.turn)) return null
    const opening = this.#openings.get(one.turn) ?? null
    return opening === one ? null : opening
  }

  #cost(one: Candidate): number {
    return one.chars + (this.#newOpening(one)?.chars ?? 0)
  }

  #worth(term: string): number {
    return this.#weights.weight(term) * STORY.repeated ** (this.#told.get(term) ?? 0)
  }

  #add(terms: Iterable<string>): void {
    for (const term of terms) this.#told.set(term, (this.#told.get(term) ?? 0) + 1)
  }
}
