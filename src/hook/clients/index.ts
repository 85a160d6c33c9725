/** Every client that can run the hook. A further one is a file, and a line here. */
import { claudeCode } from './claude-code.ts'
import type { Client } from './client.ts'
import { cursor } from './cursor.ts'

export type { Client, Outcome, Payload } from './client.ts'
export { NOTHING } from './client.ts'

export const CLIENTS: readonly Client[] = [claudeCode, cursor]

/** `--client cursor` among the arguments; without it, and for a name that nobody knows, Claude Code. */
export function clientIn(args: readonly string[]): Client {
  const given = args.flatMap((arg, i) =>
    arg === '--client' ? (args[i + 1] ?? []) : (/^--client=(.*)/.exec(arg)?.[1] ?? []),
  )
  return CLIENTS.find(({ name }) => name === given[0]) ?? claudeCode
}
