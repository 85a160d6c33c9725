/**
 * The files of the Claude Code plugin: `claude --plugin-dir dist/plugin`. The plugin contains no program; it runs the one
 * in the directory above and works only together with it.
 */

import { hookGroup, supportedEvents } from '../install/claude-code-events.ts'
import { CLI_FILE, HOOK_FILE, MCP_ARGUMENT } from '../install/command-line.ts'
import { SERVER_NAME } from '../install/entries.ts'
import type { Json } from '../install/json-edit.ts'

/** The oldest supported client: an event that it does not know would disable all of the plugin's hooks. */
const OLDEST_CLIENT = '2.0.56'
// biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
const ROOT = '${CLAUDE_PLUGIN_ROOT}'

interface Package {
  name: string
  version: string
  description: string
  license: string
}

/** The content of each file, by its path inside the plugin. */
export function pluginFiles({ name, version, description, license }: Package): Record<string, Json> {
  // A built plugin may be copied to any machine, so node is found on the PATH.
  const command = `node "${ROOT}/${HOOK_FILE}"`
  const hooks = supportedEvents(OLDEST_CLIENT, false).map((event): [string, Json] => [
    event,
    [hookGroup(event, command)],
  ])
  const server = { type: 'stdio', command: 'node', args: [`${ROOT}/../${CLI_FILE}`, MCP_ARGUMENT] }
  return {
    '.claude-plugin/plugin.json': { name, version, description, author: { name }, license },
    'hooks/hooks.json': { description, hooks: Object.fromEntries(hooks) },
    '.mcp.json': { mcpServers: { [SERVER_NAME]: server } },
  }
}
