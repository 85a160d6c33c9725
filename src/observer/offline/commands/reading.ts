/** The words the families of programs share: a run goes in, a reading comes out. */
import type { CommandKind } from '../types.ts'
import type { Output } from './output.ts'

/** One simple command of a shell line, freed from what surrounds it. */
export interface Run {
  kind: CommandKind
  /** `pytest` for `sudo python3.11 -m pytest`. */
  program: string
  args: string[]
  /** As it would be typed: without environment, redirections and pipes to filters. */
  shown: string
  key: string
  /** The first heredoc's text, or null. */
  body: string | null
}

export interface Reading {
  headline: string | null
  facts: string[]
  /** The output itself says that it went wrong, whatever the exit code was. */
  failed: boolean
  faults: Fault[]
}

/** One thing that went wrong, and where. */
export interface Fault {
  message: string
  /** `src/a.ts:3:5`, or null where nobody said. */
  place: string | null
}

export type Reader = (run: Run, out: Output) => Reading | null

export function reading(parts: Partial<Reading>): Reading {
  return { headline: null, facts: [], failed: false, faults: [], ...parts }
}

export function fault(message: string, place: string | null = null): Fault {
  return { message: message.trim(), place: place === '' ? null : place }
}
