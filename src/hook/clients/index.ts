/** The clients that can run the hook. */
import type { ClientAdapter } from './adapter.ts'
import { claudeCodeAdapter } from './claude-code.ts'
import { cursorAdapter } from './cursor.ts'

export const CLIENT_ADAPTERS: readonly ClientAdapter[] = [claudeCodeAdapter, cursorAdapter]

/** The adapter named by `--client NAME`; Claude Code if it is missing or unknown. */
export function adapterFromArgs(args: readonly string[]): ClientAdapter {
  const given = args.flatMap((arg, i) =>
    arg === '--client' ? (args[i + 1] ?? []) : (/^--client=(.*)/.exec(arg)?.[1] ?? []),
  )
  return clientAdapterNamed(given[0] ?? '') ?? claudeCodeAdapter
}

export function clientAdapterNamed(name: string): ClientAdapter | undefined {
  return CLIENT_ADAPTERS.find((adapter) => adapter.name === name)
}
