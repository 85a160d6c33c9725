import type { Adapter } from './adapter.ts'
import { claudeCode } from './claude-code.ts'
import { cursor } from './cursor.ts'

/** The first one is meant where none is named. */
export const CLIENTS: readonly Adapter[] = [claudeCode, cursor]

export function clientNamed(name: string): Adapter | undefined {
  return CLIENTS.find((client) => client.name === name)
}
