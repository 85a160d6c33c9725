/**
 * The Claude Code plugin beside the program: `claude --plugin-dir dist/plugin`. It holds no program of its own and
 * moves only together with the directory around it.
 */
import { CLI_FILE, HOOK_FILE, SERVE } from '../install/command-line.ts'
import { eventsFor, groupFor } from '../install/events.ts'
import type { Json } from '../install/json-text.ts'
import { SERVER_NAME } from '../install/mcp-server.ts'

/** The oldest client that it is for: an event which that one does not know would switch off all of the plugin's hooks. */
const OLDEST_CLIENT = '2.0.56'
/** Filled in by the client. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the client that fills it in
const ROOT = '${CLAUDE_PLUGIN_ROOT}'

export interface Package {
  name: string
  version: string
  description: string
  license: string
}

/** What each file holds, by its path inside the plugin. */
export function pluginFiles({ name, version, description, license }: Package): Record<string, Json> {
  // One that is built is for any machine: node is found on the PATH.
  const command = `node "${ROOT}/${HOOK_FILE}"`
  const hooks = eventsFor(OLDEST_CLIENT).map((event): [string, Json] => [event, [groupFor(event, command)]])
  const server = { type: 'stdio', command: 'node', args: [`${ROOT}/../${CLI_FILE}`, SERVE] }
  return {
    '.claude-plugin/plugin.json': { name, version, description, author: { name }, license },
    'hooks/hooks.json': { description, hooks: Object.fromEntries(hooks) },
    '.mcp.json': { mcpServers: { [SERVER_NAME]: server } },
  }
}
