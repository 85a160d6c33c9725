/** Where the fast hook is, and what the build puts into its script (fast-hook.sh). */
import { HOOK_SETTINGS } from './variables.ts'

export const FAST_HOOK_FILE = 'fast-hook.sh'

/** Shells on these systems have Unix sockets and POSIX tools. */
export function isFastHookPlatform(platform: NodeJS.Platform): boolean {
  return platform === 'linux' || platform === 'darwin'
}

/** The script as it is shipped. Every variable that changes what a hook does makes it use the hook's own process. */
export function fastHookScript(source: string, version: string): string {
  // COPILOT_CLI: whether hooks of Claude Code's settings run in Copilot is known to the adapter.
  const variables = ['CLAUDE_MEM_HOOK_DISABLED', 'COPILOT_CLI', ...HOOK_SETTINGS]
  const names = variables.map((name) => `\${${name}+x}`).join('')
  if (!/^[\w.+-]+$/.test(version)) throw new Error(`the version ${version} cannot be put into a shell script`)
  return source.replaceAll('@VERSION@', encodeURIComponent(version)).replaceAll('@VARIABLES@', names)
}
