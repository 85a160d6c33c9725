/** What a scenario file exports, and where scenarios and their recordings are. */
import type { Recorder } from './recorder.ts'

export interface Fact {
  ask: string
  /** Each stands, in any case, in one and the same observation or summary of a good memory. */
  expect: string[]
}

export interface Scenario {
  default(recorder: Recorder): Promise<void>
  facts: Fact[]
  /** The project's directory below /home/dev; the scenario's name if it is not given. */
  project?: string
  /** Version of the client that is played. */
  client?: string
}

export const SETS = ['dev', 'check'] as const
export type SetName = (typeof SETS)[number]
