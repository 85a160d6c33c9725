/**
 * Any number of generated observations: sentences, facts and names of the recorded sessions in new combinations, with the
 * passages of recorded events. In each
 * session half of the words are replaced, always by the same ones, drawn from the bundled vocabulary by Zipf's law: so
 * sessions have different subjects, and words are as rare and as frequent as in real texts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { OBSERVATION_TYPES, type ObservationDraft, type SummaryDraft } from '../../src/domain/observation.ts'
import type { PassageDraft } from '../../src/domain/passage.ts'
import type { Project } from '../../src/domain/project.ts'
import { STOP_WORDS } from '../../src/lib/words.ts'
import { passagesOfEvent } from '../../src/reading/passages.ts'
import { decodeWordVectors } from '../../src/search/embedders/word-vectors.ts'
import { type Commit, closedSessionState, contentHash, emptyCommit, type InboxUpdate } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import type { Random } from '../lib/random.ts'
import { ROOT } from '../lib/sandbox.ts'

/** Facts of an observation: with the narrative four vectors. */
const FACTS = 3
const SENTENCES = 3
const FILES = 2
/** Share of the words of a session that are replaced. */
const REPLACED = 0.5
/** Words are drawn from this rank on: the most frequent ones are in every text anyway. */
const FIRST_RANK = 100
const MIN_REPLACED_CHARS = 4

type Some = readonly [string, ...string[]]
type Source = Pick<ObservationDraft, 'title' | 'narrative' | 'facts' | 'concepts' | 'filesRead' | 'filesModified'>

interface RecordedPassages {
  event: MemoryEvent
  passages: PassageDraft[]
}

interface Parts {
  titles: Some
  sentences: Some
  facts: Some
  concepts: Some
  files: Some
}

/** An event of a generated session with its passages. `observation`: the index of the one that was made of it. */
interface GeneratedEvent {
  event: MemoryEvent
  passages: PassageDraft[]
  observation: number | null
}

interface GeneratedSession {
  observations: ObservationDraft[]
  events: GeneratedEvent[]
}

/** Share of the events with passages that an observation was made of. */
const OBSERVED = 0.5

export class Corpus {
  readonly #parts: Parts
  readonly #recorded: readonly RecordedPassages[]
  readonly #words: readonly string[]
  readonly #random: Random

  /** `events`: those of the recorded sessions, for sessions with passages. */
  constructor(sources: readonly Source[], random: Random, events: readonly MemoryEvent[] = []) {
    this.#recorded = events
      .map((event) => ({ event, passages: passagesOfEvent(event, 1) }))
      .filter(({ passages }) => passages.length > 0)
    this.#parts = {
      titles: some(sources.flatMap(({ title }) => title ?? [])),
      sentences: some(sources.flatMap(({ narrative }) => sentencesOf(narrative ?? ''))),
      facts: some(sources.flatMap(({ facts }) => facts)),
      concepts: some(sources.flatMap(({ concepts }) => concepts)),
      files: some(sources.flatMap(({ filesRead, filesModified }) => [...filesRead, ...filesModified])),
    }
    this.#words = vocabulary()
    this.#random = random
  }

  /** Observations of one session. With `apart` false, facts are part of the narrative: the same words, one vector. */
  session(count: number, apart: boolean): ObservationDraft[] {
    return this.#observations(count, apart, new Map())
  }

  /** The same with at least `least` passages: those of recorded events, in the words of this session. */
  sessionWithPassages(count: number, apart: boolean, least: number): GeneratedSession {
    const words = new Map<string, string>()
    const observations = this.#observations(count, apart, words)
    const [first, ...others] = this.#recorded
    if (first === undefined) throw new Error('the recorded sessions gave no passage')
    const events: GeneratedEvent[] = []
    for (let made = 0; made < least; ) {
      const { event, passages } = this.#random.pick([first, ...others])
      const id = `event-${events.length}`
      const told = passages.map((passage) => ({
        ...passage,
        subject: passage.subject === null ? null : this.#told(passage.subject, words),
        text: this.#told(passage.text, words),
        eventId: id,
      }))
      const observation = this.#random.chance(OBSERVED) ? this.#random.between(0, count - 1) : null
      events.push({ event: { ...event, id }, passages: told, observation })
      made += told.length
    }
    return { observations, events }
  }

  #observations(count: number, apart: boolean, words: Map<string, string>): ObservationDraft[] {
    return Array.from({ length: count }, () => this.#observation((text) => this.#told(text, words), apart))
  }

  #observation(told: (text: string) => string, apart: boolean): ObservationDraft {
    const { titles, sentences, facts, concepts, files } = this.#parts
    const narrative = this.#some(sentences, SENTENCES).map(told).join(' ')
    const said = this.#some(facts, FACTS).map(told)
    return {
      type: this.#random.pick(OBSERVATION_TYPES),
      title: told(this.#random.pick(titles)),
      subtitle: null,
      narrative: apart ? narrative : [narrative, ...said].join(' '),
      facts: apart ? said : [],
      concepts: this.#some(concepts, 1),
      filesRead: [],
      filesModified: this.#some(files, this.#random.between(0, FILES)).map(told),
      functionsChanged: [],
      agent: null,
      discoveryTokens: 0,
      discoveryEstimated: true,
      sources: [],
    }
  }

  #some(of: Some, count: number): string[] {
    return Array.from({ length: count }, () => this.#random.pick(of))
  }

  /** Also inside names: `getUserById` becomes `getHarbourById`. */
  #told(text: string, words: Map<string, string>): string {
    return text.replace(/\p{Lu}?\p{Ll}+/gu, (word) => {
      const lower = word.toLowerCase()
      if (lower.length < MIN_REPLACED_CHARS || STOP_WORDS.has(lower)) return word
      const known = words.get(lower)
      const other = known ?? (this.#random.chance(REPLACED) ? this.#drawn() : lower)
      if (known === undefined) words.set(lower, other)
      return word === lower ? other : `${other.charAt(0).toUpperCase()}${other.slice(1)}`
    })
  }

  /** A word at twice the rank is half as likely. */
  #drawn(): string {
    const rank = FIRST_RANK * (this.#words.length / FIRST_RANK) ** this.#random.next()
    return this.#words[Math.floor(rank)] ?? 'word'
  }
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.:;])\s+/u).filter((sentence) => sentence.trim() !== '')
}

/** Words of the bundled vocabulary, most frequent first. */
function vocabulary(): string[] {
  const { text, starts } = decodeWordVectors(readFileSync(join(ROOT, 'assets', 'word-vectors.bin')))
  const bytes = Buffer.from(text)
  const words: string[] = []
  for (let n = 0; n + 1 < starts.length; n++) words.push(bytes.toString('utf8', starts[n], starts[n + 1]))
  return words.filter((word) => /^[a-z]{3,}$/.test(word))
}

function some(texts: readonly string[]): Some {
  const [first, ...others] = texts
  if (first === undefined) throw new Error('the recorded sessions gave no observation')
  return [first, ...others]
}

const LEAST_WORDS = 3
const MOST_WORDS = 6
const ASKED: readonly [(words: string) => string, ...((words: string) => string)[]] = [
  (words) => `how did we fix ${words}`,
  (words) => `why does ${words} fail in the tests`,
  (words) => `where is the ${words} set up`,
  (words) => `what was decided about ${words}`,
  (words) => `which file has ${words} and what changed there`,
]

/** One query per observation: a few of its words, half of the time inside a sentence. */
export function queriesOf(observations: readonly ObservationDraft[], random: Random): string[] {
  return observations.map(({ title, narrative, facts }, n) => {
    const text = [title, narrative, ...facts].join(' ')
    const words = [...new Set(text.match(/\p{L}[\p{L}\p{N}_]{2,}/gu) ?? [])]
    const telling = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()))
    const asked = random.shuffled(telling).slice(0, random.between(LEAST_WORDS, MOST_WORDS)).join(' ')
    return n % 2 === 0 ? asked : random.pick(ASKED)(asked)
  })
}

interface ClosedSession {
  id: string
  project: Project
  observations: readonly ObservationDraft[]
  events?: readonly GeneratedEvent[]
  /** Summary of its only turn. */
  summary?: SummaryDraft
  /** Time of its first observation, epoch ms. */
  at: number
}

/** Time between two observations of a session, and between two of its events with passages, in ms. */
const STEP_MS = 60_000
const EVENT_MS = 10_000

/** Commits closed sessions to a store, all in one transaction. */
export async function keepSessions(store: Store, sessions: readonly ClosedSession[]): Promise<void> {
  for (const result of await store.commit(sessions.map(commitOf))) {
    if (!result.ok) throw new Error(`a session could not be committed: ${JSON.stringify(result)}`)
  }
}

function commitOf({ id, project, observations, events = [], summary, at }: ClosedSession): Commit {
  const sourcesOf = (i: number) => events.flatMap(({ event, observation }) => (observation === i ? event.id : []))
  return {
    ...emptyCommit(id, 1, at),
    state: closedSessionState({ project, client: 'claude-mem', cwd: project.name, heardAt: at }),
    events: events.map(({ event }) => ({
      event: { ...event, session: id, project, at },
      receivedAt: at,
      outcome: null,
    })),
    passages: events.flatMap(({ passages }, n) => passages.map((passage) => ({ ...passage, at: at + n * EVENT_MS }))),
    inbox: events.length === 0 ? [] : [settledUpdate(events, at)],
    observations: observations.map((draft, i) => ({
      ...draft,
      sources: sourcesOf(i),
      promptNumber: 1,
      contentHash: contentHash(draft),
      promptVersion: null,
      model: null,
      createdAt: at + i * STEP_MS,
    })),
    summaries:
      summary === undefined
        ? []
        : [{ ...summary, promptNumber: 1, model: null, createdAt: at + observations.length * STEP_MS }],
  }
}

/** Links the events with the observations that were made of them, as the end of an observer's work does. */
function settledUpdate(events: readonly GeneratedEvent[], at: number): InboxUpdate {
  return {
    at,
    changes: [{ type: 'settle', effectId: 'observed', prompt: 1, kind: 'observe' }],
    event: null,
    outcomes: events.map(({ event, observation }) => ({
      eventId: event.id,
      kind: observation === null ? 'folded' : 'observed',
      reason: null,
    })),
  }
}
