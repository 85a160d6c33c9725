import type { InstallAdapter } from './adapter.ts'
import { claudeCodeInstall } from './claude-code.ts'
import { cursorInstall } from './cursor.ts'

/** The first one is the default of `--client`. */
export const INSTALL_ADAPTERS: readonly InstallAdapter[] = [claudeCodeInstall, cursorInstall]

export function installAdapterNamed(name: string): InstallAdapter | undefined {
  return INSTALL_ADAPTERS.find((client) => client.name === name)
}
