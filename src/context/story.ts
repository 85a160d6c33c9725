/**
 * How it got here: whole statements of requests, closing words and notes, chosen over all turns by what they add.
 *
 * gain = prior · Σ weight(term) · REPEATED^(times told) / tokens^COST_POWER
 *
 * The weight of a term is its rarity among all statements, three times as much for names and numbers. The prior of a statement falls with
 * the age of its turn and session. A turn that is not told yet costs its head (date and request), too, and gains the words
 * of it. So the budget is filled with what says most, repetition pays nothing, and many independent tasks are each named
 * before one of them is told at length. What is chosen is told by turn, newest first, in the words and order it was said.
 *
 * docs/context.md says how the constants were chosen, and which of them by hand.
 */
import { CHARS_PER_TOKEN, type Observation } from '../domain/observation.ts'
import { commitsOf } from '../reading/git.ts'
import { isSpecific, TermWeights, termsOf } from '../reading/terms.ts'
import { readWords, type WordBlock } from '../reading/words.ts'
import type { Choice } from './choices.ts'
import type { PastTurn } from './turns.ts'

const STORY = {
  /** Names and numbers compared with other words. */
  specific: 3,
  /** What a word is worth that is told already. */
  repeated: 0.25,
  /** Per turn and per session before the newest. */
  turnAge: 0.97,
  sessionAge: 0.9,
  costPower: 0.85,
  /** The first statements of a report say what came of the turn. */
  lead: 1.3,
  leadStatements: 3,
  /** Priors of what is no closing word; of a request that is told without what came of it. */
  headAlone: 0.5,
  request: 0.5,
  commit: 1,
  words: 0.2,
  code: 0.5,
  choice: 2,
}

/** What competes for a place in the text. */
interface Told {
  terms: ReadonlySet<string>
  prior: number
  /** Characters that it takes, without the head of its turn. */
  chars: number
  /** Null for what is told elsewhere than below its turn. */
  turn: PastTurn | null
}

export interface Statement extends Told {
  turn: PastTurn
  /** Id of the note that says it; null for what user and agent said. */
  note: number | null
  text: string
  /** Place in the turn. */
  order: number
}

/** What the user decided: a line of its own, beside the turns. */
export interface DecisionLine extends Told {
  turn: null
  line: string
  at: number
}

/** A shorter statement says nothing alone, nor one with fewer terms and no name. */
const MIN_CHARS = 16
const MIN_TERMS = 4
/** A request with fewer terms ("continue") names no task. */
const MIN_HEAD_TERMS = 2
/** A longer one is cut into sentences by whoever wrote it, or is data. */
const MAX_CHARS = 420
/** A longer request is a template or something pasted, which the rest of it belongs to. */
const MAX_REQUEST_STATEMENTS = 6
/** Statements of a text that are compared, from the beginning and the end of the words. */
const MAX_STATEMENTS = 80

function statementsOf(turn: PastTurn, age: number): Omit<Statement, 'terms' | 'chars'>[] {
  const closing = turn.notes.length > 0 || turn.closing === null ? [] : blocksOf(turn.closing.text)
  const request = turn.request === null ? [] : blocksOf(turn.request).slice(0, MAX_REQUEST_STATEMENTS)
  const commits = commitsOf(turn.steps).flatMap(({ title, body }) => [title, ...textsOf(body)])
  const between = turn.notes.length > 0 ? [] : [...turn.words, ...turn.earlier].flatMap(textsOf)
  const spoken = (text: string, prior: number) => ({ note: null, text: onOneLine(text), prior })
  const lead = (i: number) => (i < STORY.leadStatements ? STORY.lead : 1)
  const said = [
    ...request.map(({ text }) => spoken(text, STORY.request)),
    ...commits.map((text) => spoken(text, STORY.commit)),
    ...between.map((text) => spoken(text, STORY.words)),
    ...closing.map((block, i) => spoken(withHeading(block, closing[i - 1]), lead(i) * blockPrior(block))),
  ].filter(({ text }) => saysSomething(text))
  return [...turn.notes.flatMap(noteStatements), ...said]
    .filter(({ text }) => text.length <= MAX_CHARS)
    .map((one, order) => ({ ...one, turn, order, prior: one.prior * age }))
}

/** A turn may be told by its date and request alone, so that each task is named. */
function headAlone(turn: PastTurn, age: number): Omit<Statement, 'terms' | 'chars'> {
  return { turn, note: null, text: '', order: -1, prior: STORY.headAlone * age }
}

/** A model has weighed what it says: each of its statements is a whole. */
function noteStatements({ id, title, narrative, facts }: Observation): Pick<Statement, 'note' | 'text' | 'prior'>[] {
  const texts = [title ?? '', ...readWords(narrative ?? '').map(({ text }) => text), ...facts]
  return texts
    .map((text, i) => ({ note: id, text: onOneLine(text), prior: i < STORY.leadStatements ? STORY.lead : 1 }))
    .filter(({ text }) => text !== '')
}

function blocksOf(text: string): WordBlock[] {
  const blocks = readWords(text).filter(({ kind }) => kind !== 'heading')
  return blocks.length <= MAX_STATEMENTS
    ? blocks
    : [...blocks.slice(0, MAX_STATEMENTS / 2), ...blocks.slice(-MAX_STATEMENTS / 2)]
}

/** An announcement ends in a colon; a few common words say nothing alone. */
function saysSomething(text: string): boolean {
  if (text.length < MIN_CHARS || /[:：]$/.test(text)) return false
  const terms = [...termsOf(text)]
  return terms.length >= MIN_TERMS || terms.some(isSpecific)
}

/** A heading that is longer is not repeated. */
const MAX_HEADING_CHARS = 60

/** The first item below a heading is understood with it, the first row of a table with its header. */
function withHeading({ kind, text, heading, header }: WordBlock, before: WordBlock | undefined): string {
  if (kind === 'row') return header === null || before?.header === header ? text : `${header} ${text}`
  const isFirst = kind === 'item' && heading !== null && before?.heading !== heading
  return isFirst && heading.length <= MAX_HEADING_CHARS ? `${heading}: ${text}` : text
}

const textsOf = (text: string): string[] => blocksOf(text).map((block) => block.text)
const blockPrior = ({ kind }: WordBlock): number => (kind === 'code' ? STORY.code : 1)

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Two line ends and the indentation of the second line. */
const LINE_CHARS = 4

export interface StoryOptions {
  /** Characters that may be used. */
  chars: number
  /** What is told already. */
  told: readonly string[]
  /** The line that a turn begins with. */
  head: (turn: PastTurn) => string
  /** Characters that a statement takes in its line, beside its own; `note`: its number, if it is of a note. */
  overhead: (note: number | null) => number
}

export interface Story {
  /** The chosen statements by turn, in the order of the turns. */
  turns: Map<PastTurn, Statement[]>
  decisions: DecisionLine[]
}

/** `choices`: what the user decided in each turn. */
export function chooseStory(turns: readonly PastTurn[], choices: readonly Choice[], options: StoryOptions): Story {
  const ages = turnAges(turns)
  const statements = statementsNotTold(turns, ages, options)
  const decisions = choices.map(({ line, at, turn, words }): DecisionLine => {
    const prior = STORY.choice * (turn === null ? 1 : (ages.get(turn) ?? 1))
    return { turn: null, line, at, prior, terms: termsOf(words), chars: line.length + 1 }
  })
  const teller = new Teller(turns, [...statements, ...decisions], options)
  teller.tellBest()
  const toldDecisions = decisions.filter((one) => teller.isChosen(one))
  const toldStatements = turns.flatMap((turn): [PastTurn, Statement[]][] => {
    const own = statements.filter((one) => one.turn === turn && teller.isChosen(one))
    return own.length === 0 ? [] : [[turn, own]]
  })
  return { turns: new Map(toldStatements), decisions: toldDecisions }
}

/** How much a turn counts for its age, and for that of its session. */
function turnAges(turns: readonly PastTurn[]): Map<PastTurn, number> {
  const sessions = new Map([...new Set(turns.map(({ session }) => session))].map((session, age) => [session, age]))
  return new Map(
    turns.map((turn, i) => [turn, STORY.turnAge ** i * STORY.sessionAge ** (sessions.get(turn.session) ?? 0)]),
  )
}

function statementsNotTold(
  turns: readonly PastTurn[],
  ages: ReadonlyMap<PastTurn, number>,
  { told, head, overhead }: StoryOptions,
): Statement[] {
  const above = told.join('\n')
  const seen = new Set<string>()
  const isNew = (text: string, line: string) =>
    !seen.has(text) && seen.add(text) && !above.includes(text) && !line.includes(text)
  const asked = new Set<string>()
  const isAskedFirst = ({ request }: PastTurn) =>
    request !== null &&
    termsOf(request).size >= MIN_HEAD_TERMS &&
    !asked.has(request) &&
    asked.add(request) &&
    !above.includes(onOneLine(request))
  return turns.flatMap((turn) => {
    const age = ages.get(turn) ?? 1
    const alone = isAskedFirst(turn) ? [headAlone(turn, age)] : []
    const line = head(turn)
    return [...alone, ...statementsOf(turn, age).filter(({ text }) => isNew(text, line))].map((one) => ({
      ...one,
      terms: termsOf(one.text),
      chars: one.text === '' ? 0 : one.text.length + overhead(one.note),
    }))
  })
}

interface Waiting {
  one: Told
  gain: number
}

/** What is told so far, and what a further statement would add and cost. */
class Teller {
  readonly #weights = new TermWeights(STORY.specific)
  readonly #heads: ReadonlyMap<PastTurn, { chars: number; terms: ReadonlySet<string> }>
  readonly #told = new Map<string, number>()
  readonly #chosen = new Set<Told>()
  readonly #begun = new Set<PastTurn>()
  #queue: Waiting[]
  #left: number

  constructor(turns: readonly PastTurn[], all: readonly Told[], { chars, told, head }: StoryOptions) {
    this.#left = chars
    this.#heads = new Map(
      turns.map((turn) => {
        const line = head(turn)
        return [turn, { chars: line.length + LINE_CHARS, terms: termsOf(turn.request?.slice(0, line.length) ?? '') }]
      }),
    )
    for (const line of told) this.#add(termsOf(line))
    for (const { terms } of all) this.#weights.add(terms)
    this.#queue = all.map((one) => ({ one, gain: this.#gain(one) })).sort((a, b) => b.gain - a.gain)
  }

  isChosen(one: Told): boolean {
    return this.#chosen.has(one)
  }

  /** A gain only falls while others are chosen: the first one whose gain is still the highest is the best of all. */
  tellBest(): void {
    for (let best = this.#queue.shift(); best !== undefined; best = this.#queue.shift()) {
      if (this.#cost(best.one) > this.#left) continue
      const gain = this.#gain(best.one)
      if (gain < (this.#queue[0]?.gain ?? 0)) this.#insert({ one: best.one, gain })
      else this.#tell(best.one)
    }
  }

  #tell(one: Told): void {
    const head = this.#newHead(one.turn)
    this.#left -= this.#cost(one)
    this.#add(head?.terms ?? [])
    this.#add(one.terms)
    this.#chosen.add(one)
    if (one.turn === null || head === null) return
    this.#begun.add(one.turn)
    this.#raise(one.turn)
  }

  /** Without the cost of the head, the other statements of the turn gain more than before. */
  #raise(turn: PastTurn): void {
    const raised = this.#queue.filter(({ one }) => one.turn === turn)
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

  #gain(one: Told): number {
    let sum = 0
    for (const term of one.terms) sum += this.#worth(term)
    for (const term of this.#newHead(one.turn)?.terms ?? []) if (!one.terms.has(term)) sum += this.#worth(term)
    return (one.prior * sum) / Math.max(1, this.#cost(one) / CHARS_PER_TOKEN) ** STORY.costPower
  }

  /** Null where the turn is told already. */
  #newHead(turn: PastTurn | null) {
    return turn === null || this.#begun.has(turn) ? null : (this.#heads.get(turn) ?? null)
  }

  #cost({ turn, chars }: Told): number {
    return chars + (this.#newHead(turn)?.chars ?? 0)
  }

  #worth(term: string): number {
    return this.#weights.weight(term) * STORY.repeated ** (this.#told.get(term) ?? 0)
  }

  #add(terms: Iterable<string>): void {
    for (const term of terms) this.#told.set(term, (this.#told.get(term) ?? 0) + 1)
  }
}
