/** The environment variables that say something to a hook. */
import type { Settings } from '../settings/settings.ts'

/** The settings that a hook uses. As environment variables they concern only the session of this hook. */
export const HOOK_SETTINGS = [
  'CLAUDE_MEM_CONTEXT_MESSAGE',
  'CLAUDE_MEM_CONTEXT_TOKENS',
  'CLAUDE_MEM_EXCLUDED_PROJECTS',
  'CLAUDE_MEM_FILE_CONTEXT',
  'CLAUDE_MEM_MAX_FIELD_KB',
  'CLAUDE_MEM_MAX_MESSAGE_KB',
  'CLAUDE_MEM_SKIP_TOOLS',
  'CLAUDE_MEM_TEAM_START_WAIT_MS',
] as const satisfies readonly (keyof Settings)[]

/** COPILOT_CLI: whether hooks of Claude Code's settings run in Copilot. */
const VARIABLES: readonly string[] = [...HOOK_SETTINGS, 'COPILOT_CLI', 'COPILOT_HOME', 'COPILOT_PROJECT_DIR']

/** What a hook passes on with a payload. */
export function hookVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}
