/**
 * The turns of a project's newest sessions, put together from what is stored: the request, the user's choices, what was done,
 * the closing words, and the notes that a model made of them.
 */
import { isOwn } from '../domain/authorship.ts'
import { isImportedId } from '../domain/event.ts'
import { isHandWritten, type Observation } from '../domain/observation.ts'
import type { Passage, PassageKind } from '../domain/passage.ts'
import { joinPieces } from '../reading/pieces.ts'
import { withoutBoilerplate } from '../reading/prompt.ts'
import type { ContextMaterial } from '../store/port.ts'

export interface PastTurn {
  session: string
  promptNumber: number
  /** When it began. */
  at: number
  /** The user's words; null where none are known. */
  request: string | null
  /** A part of it came from a file: what it asks and answers decides nothing here, and what it did is known of nothing else. */
  isImported: boolean
  /** The agent's last message, whole as far as it is stored; null where there is none. */
  closing: { text: string; at: number } | null
  /** Closing messages before the last one, where the client continued the turn; oldest first. */
  earlier: string[]
  /** What the agent wrote between tool uses, oldest first. */
  words: string[]
  /** The user's explicit choices, oldest first. */
  answers: Passage[]
  /** What was done, oldest first. */
  steps: Passage[]
  /** Made by a model, or of words that are no longer kept; oldest first. */
  notes: TurnNote[]
}

/** With the ids of the later ones that replace a statement of it. */
export type TurnNote = Observation & { amendedBy: readonly number[] }

/** The observer without a model stores this name. */
const OFFLINE_MODEL = 'offline'

const STEPS: ReadonlySet<PassageKind> = new Set(['commit', 'check', 'status', 'link', 'file', 'edit', 'command'])

/** Newest first. */
export function turnsOf({ passages, prompts, observations, amends }: ContextMaterial): PastTurn[] {
  const turns = new Map<string, PastTurn>()
  const turnOf = ({ session, promptNumber }: { session: string; promptNumber: number }, at: number): PastTurn => {
    const key = `${session}\n${promptNumber}`
    const known = turns.get(key)
    if (known !== undefined) return known
    const made = {
      session,
      promptNumber,
      at,
      request: null,
      isImported: false,
      closing: null,
      earlier: [],
      words: [],
      answers: [],
      steps: [],
      notes: [],
    }
    turns.set(key, made)
    return made
  }
  const ordered = passages.toSorted((a, b) => a.at - b.at || compare(a.eventId, b.eventId) || a.position - b.position)
  for (const passage of ordered) {
    const turn = turnOf(passage, passage.at)
    const isImported = isImportedId(passage.eventId)
    turn.isImported ||= isImported
    if (STEPS.has(passage.kind)) {
      if (!isImported) turn.steps.push(passage)
    } else if (passage.kind === 'answer') {
      if (!isImported) turn.answers.push(passage)
    } else if (passage.kind === 'words') turn.words.push(passage.text)
  }
  for (const { at, text, kind, ...place } of spokenTexts(ordered)) {
    const turn = turnOf(place, at)
    if (kind === 'prompt') turn.request ??= text
    else {
      // A turn that the client continued has several closing messages: the last one is its result.
      if (turn.closing !== null) turn.earlier.push(turn.closing.text)
      turn.closing = { text, at }
    }
  }
  for (const { text, at, imported, ...place } of prompts) {
    const turn = turnOf(place, at)
    turn.isImported ||= imported
    turn.request = withoutBoilerplate(text) || null
    turn.at = at
  }
  for (const note of observations.toReversed()) {
    if (isHandWritten(note)) continue
    const amendedBy = amends.filter(({ to }) => to === note.id).map(({ from }) => from)
    turnOf(note, note.createdAt).notes.push({ ...note, amendedBy })
  }
  // The observer without a model repeats the words of the turn: its notes count where those are no longer kept.
  for (const turn of turns.values()) {
    if (turn.closing !== null) turn.notes = turn.notes.filter(({ model }) => model !== OFFLINE_MODEL)
  }
  return [...turns.values()].sort(
    (a, b) => endOfTurn(b) - endOfTurn(a) || compare(a.session, b.session) || b.promptNumber - a.promptNumber,
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Time of the last thing that is known of it. */
export function endOfTurn({ at, closing, steps }: PastTurn): number {
  return Math.max(at, closing?.at ?? 0, steps.at(-1)?.at ?? 0)
}

type SpokenText = Pick<Passage, 'session' | 'promptNumber' | 'at' | 'text' | 'kind'>

/** The pieces of each prompt and each closing message as one text, oldest first. */
function spokenTexts(ordered: readonly Passage[]): SpokenText[] {
  const events = new Map<string, Passage[]>()
  for (const passage of ordered) {
    if (passage.kind !== 'prompt' && passage.kind !== 'closing') continue
    const key = `${passage.session}\n${passage.kind}\n${passage.eventId}`
    const pieces = events.get(key)
    if (pieces === undefined) events.set(key, [passage])
    else pieces.push(passage)
  }
  return [...events.values()].flatMap((pieces) => {
    const [first] = pieces
    if (first === undefined) return []
    const { session, promptNumber, at, kind } = first
    return [{ session, promptNumber, at, kind, text: joinPieces(pieces.map(({ text }) => text)) }]
  })
}

/** Whether anything was done or said in the turn beside the request. */
export function hasOutcome({ closing, steps, notes }: PastTurn): boolean {
  return closing !== null || steps.length > 0 || notes.length > 0
}

/** The material without other people's memories. */
export function ownMaterial(material: ContextMaterial, me: string | null): ContextMaterial {
  const own = <T extends Parameters<typeof isOwn>[0]>(list: readonly T[]) => list.filter((one) => isOwn(one, me))
  const { observations, pinned, summaries, passages } = material
  return {
    ...material,
    observations: own(observations),
    pinned: own(pinned),
    summaries: own(summaries),
    passages: own(passages),
  }
}

/** Requests that begin alike are one task that was given several times, mostly by a program. */
const ALIKE_CHARS = 140

export const requestBegin = ({ request }: PastTurn): string => request?.slice(0, ALIKE_CHARS) ?? ''

/** The newest turn of each task that was given in three sessions or more, with all of its turns, newest first. */
export function repeatedTasks(turns: readonly PastTurn[]): Map<PastTurn, PastTurn[]> {
  const alike = new Map<string, PastTurn[]>()
  for (const turn of turns) alike.set(requestBegin(turn), [...(alike.get(requestBegin(turn)) ?? []), turn])
  return new Map(
    [...alike].flatMap(([begin, all]): [PastTurn, PastTurn[]][] => {
      const [newest] = all
      const isRepeated = begin !== '' && new Set(all.map(({ session }) => session)).size >= MIN_REPEATS
      return isRepeated && newest !== undefined ? [[newest, all]] : []
    }),
  )
}

const MIN_REPEATS = 3
