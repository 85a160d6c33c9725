/** The clients that can run the hook. */
import type { ClientAdapter, HookPayload } from './adapter.ts'
import { claudeCodeAdapter } from './claude-code.ts'
import { codexAdapter } from './codex.ts'
import { copilotAdapter, hasCopilotHooks, isCopilotPayload } from './copilot.ts'
import { cursorAdapter } from './cursor.ts'
import { geminiAdapter } from './gemini.ts'
import { openCodeAdapter } from './opencode.ts'
import { qwenAdapter } from './qwen.ts'

export const CLIENT_ADAPTERS: readonly ClientAdapter[] = [
  claudeCodeAdapter,
  codexAdapter,
  geminiAdapter,
  openCodeAdapter,
  copilotAdapter,
  cursorAdapter,
  qwenAdapter,
]

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

/**
 * The adapter of the client that sent the payload: Copilot runs the hooks of a project's Claude Code settings, too. Null if
 * its own hooks report the event.
 */
export function adapterOfPayload(
  named: ClientAdapter,
  payload: HookPayload,
  env: NodeJS.ProcessEnv,
): ClientAdapter | null {
  if (named !== claudeCodeAdapter || !isCopilotPayload(payload, env)) return named
  return hasCopilotHooks(env) ? null : copilotAdapter
}
