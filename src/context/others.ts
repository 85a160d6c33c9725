/**
 * Other people's memories in the context of a session. They are evidence: their decisions, causes and findings are
 * candidates for lines, with a lower weight than one's own and at most a share of the budget, each a quotation that ends
 * with its author. Their summaries, prompts and commands are not used, so they are never the goal, the next step, the
 * state of checks or the last session.
 */
import { byline, isOwn } from '../domain/authorship.ts'
import { DAY_MS } from '../domain/dates.ts'
import type { Observation, ObservationType } from '../domain/observation.ts'
import type { ContextMaterial } from '../store/port.ts'
import { type Candidate, observationCandidate } from './candidates.ts'

/** What somebody else's work means for this session: what was decided, what was broken and why, what was found. */
const OTHERS_TYPES: readonly ObservationType[] = ['decision', 'bugfix', 'discovery']
/** Concept of an observation that states a reason. A change of any type with its reason is a cause. */
const REASON_CONCEPT = 'why-it-exists'

/** Of a line of somebody else compared with one's own. */
const OTHERS_WEIGHT = 0.6
/** Age at which the weight is halved, in days: as for one's own. */
const HALF_LIFE_DAYS = 7

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

export interface OthersMemories {
  /** Those that can be lines, newest first. */
  observations: Observation[]
  /** Most recently pinned first. */
  pinned: Observation[]
  /** Number of those that are of no use for this session. */
  unused: number
}

export function othersMemories({ observations, pinned }: ContextMaterial, me: string | null): OthersMemories {
  const foreign = observations.filter((one) => !isOwn(one, me))
  const used = foreign.filter(({ type, concepts }) => OTHERS_TYPES.includes(type) || concepts.includes(REASON_CONCEPT))
  return { observations: used, pinned: pinned.filter((one) => !isOwn(one, me)), unused: foreign.length - used.length }
}

/** `newest`: time of the newest memory of anybody, which the age of the others is relative to. */
export function othersCandidate(
  observation: Observation,
  { now, me, newest }: { now: number; me: string | null; newest: number },
): Candidate {
  const candidate = observationCandidate(observation, me)
  const { type, createdAt } = observation
  const age = Math.max(0, newest - createdAt) / DAY_MS
  return {
    ...candidate,
    // Somebody else's open problem is not the next step of this session.
    part: type === 'decision' ? 'decisions' : type === 'discovery' ? 'learned' : 'fixes',
    by: byline(observation, createdAt, now),
    weight: (candidate.weight * OTHERS_WEIGHT) / (1 + age / HALF_LIFE_DAYS),
  }
}
