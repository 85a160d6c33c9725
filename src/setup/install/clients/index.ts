import type { InstallAdapter } from './adapter.ts'
import { claudeCodeInstall } from './claude-code.ts'
import { codexInstall } from './codex.ts'
import { copilotInstall } from './copilot.ts'
import { cursorInstall } from './cursor.ts'
import { geminiInstall } from './gemini.ts'
import { openCodeInstall } from './opencode.ts'
import { qwenInstall } from './qwen.ts'

/** The first one is the default of `--client`. */
export const INSTALL_ADAPTERS: readonly InstallAdapter[] = [
  claudeCodeInstall,
  codexInstall,
  geminiInstall,
  openCodeInstall,
  copilotInstall,
  cursorInstall,
  qwenInstall,
]

export function installAdapterNamed(name: string): InstallAdapter | undefined {
  return INSTALL_ADAPTERS.find((client) => client.name === name)
}
