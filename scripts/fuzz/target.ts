/** What a fuzz target is: something that takes damaged inputs, one after the other, and throws where a rule is broken. */
import type { Paths } from '../../src/lib/paths.ts'
import { Random } from '../lib/random.ts'

/** No input may take longer, in ms. */
export const INPUT_LIMIT_MS = 1_000

export interface TargetContext {
  /** An empty directory for files. */
  scratch: string
  /** Of the daemon that runs for targets with `daemon`. */
  paths: Paths
  /** The environment of processes that work with this daemon. */
  env: NodeJS.ProcessEnv
}

export interface FuzzTarget {
  /** Inputs that are fed at the same time. Parsers on this thread have one. */
  lanes: number
  /**
   * Makes an input and returns the function that feeds it, which is timed. It throws a `Finding` if the input broke a rule;
   * any other error is one too.
   */
  prepare(random: Random, index: number, lane: number): () => void | Promise<void>
  /** What can only be judged when all inputs are processed. */
  close(): void | Promise<void>
}

export interface TargetSpec {
  about: string
  /** Of a million inputs. */
  share: number
  /** Whether it needs a running daemon. */
  daemon: boolean
  open(context: TargetContext): FuzzTarget | Promise<FuzzTarget>
}

/** A broken rule. The text says which, and is the same for all inputs that break it in the same way. */
export class Finding extends Error {
  override readonly name = 'Finding'
}

/** The dice of one input: the same for the same seed, target and index. */
export function randomOf(seed: number, target: string, index: number): Random {
  let mixed = Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)
  for (const letter of target) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193)
  const random = new Random(mixed)
  // Neighbouring states of the generator begin with similar numbers.
  random.next()
  return random
}
