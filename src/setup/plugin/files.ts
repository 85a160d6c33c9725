/**
 * The files of the Claude Code plugin, without the program that the build copies beside them (`dist/`, `prompts/`,
 * `assets/`). The directory is self-contained: it works from any place, and is a marketplace of one plugin. Its `gemini/` is an
 * extension of Gemini CLI.
 */

import { PACKAGE_NAME } from '../../lib/names.ts'
import { hookGroup, supportedEvents } from '../install/claude-code-events.ts'
import { CODEX_EVENTS, codexHookEntry } from '../install/clients/codex.ts'
import { GEMINI_EVENTS, geminiHookEntry } from '../install/clients/gemini.ts'
import { CLI_FILE, HOOK_FILE, MCP_ARGUMENT } from '../install/command-line.ts'
import { SERVER_NAME } from '../install/entry-format.ts'
import type { Json } from '../install/json-edit.ts'

/** The oldest supported client: an event that it does not know would disable all of the plugin's hooks. */
const OLDEST_CLIENT = '2.0.56'
// biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
const ROOT = '${CLAUDE_PLUGIN_ROOT}'
/** The client puts it before the names of commands: /mem:search. */
const PLUGIN_NAME = 'mem'
/** Of the marketplace and the extension, as people see it. */
const NAME = 'claude-mem'

const CODEX_SERVERS = '.codex-plugin/mcp.json'
/** Codex reads it instead of `hooks/hooks.json`: Claude Code would ignore all hooks because of an event that only Codex has. */
const CODEX_HOOKS = '.codex-plugin/hooks.json'

interface Package {
  version: string
  description: string
  license: string
}

/** The content of each file, by its path inside the plugin. */
export function pluginFiles({ version, description, license }: Package): Record<string, string> {
  // A built plugin may be copied to any machine, so node is found on the PATH.
  const command = `node "${ROOT}/${HOOK_FILE}"`
  const hooks = supportedEvents(OLDEST_CLIENT, false).map((event): [string, Json] => [
    event,
    [hookGroup(event, command)],
  ])
  const codexHooks = CODEX_EVENTS.map((event): [string, Json] => [event, [{ hooks: [codexHookEntry(event, command)] }]])
  const server = { type: 'stdio', command: 'node', args: [`${ROOT}/dist/${CLI_FILE}`, MCP_ARGUMENT] }
  const plugin = { name: PLUGIN_NAME, version, description, author: { name: NAME }, license }
  const listed = { ...plugin, source: './' }
  return {
    '.claude-plugin/plugin.json': json(plugin),
    '.claude-plugin/marketplace.json': json({ name: NAME, description, owner: { name: NAME }, plugins: [listed] }),
    'hooks/hooks.json': json({ description, hooks: Object.fromEntries(hooks) }),
    '.mcp.json': json({ mcpServers: { [SERVER_NAME]: server } }),
    // The program finds its version and its prompts beside this file.
    'package.json': json({ name: PACKAGE_NAME, version, description, license, type: 'module' }),
    '.codex-plugin/plugin.json': json({ ...plugin, hooks: `./${CODEX_HOOKS}`, mcpServers: `./${CODEX_SERVERS}` }),
    [CODEX_HOOKS]: json({ hooks: Object.fromEntries(codexHooks) }),
    [CODEX_SERVERS]: json({ mcpServers: { [SERVER_NAME]: codexServer(NAME, version) } }),
    ...geminiExtensionFiles({ version, description }),
    'commands/search.md': SEARCH_COMMAND,
    'commands/status.md': STATUS_COMMAND,
    'skills/memory/SKILL.md': MEMORY_SKILL,
  }
}

/**
 * Codex installs this plugin too. It replaces no variable in the entry of a server and tells it neither the plugin's directory nor
 * `CODEX_HOME`, and with a `cwd` the server would not know the project: so the program is looked for where Codex puts it.
 */
function codexServer(marketplace: string, version: string): Json {
  const place = ['.codex', 'plugins', 'cache', marketplace, PLUGIN_NAME, version, 'dist', CLI_FILE]
  const code = [
    `const file = require('path').join(require('os').homedir(), ${place.map((name) => `'${name}'`).join(', ')})`,
    'process.argv.splice(1, 0, file)',
    "import(require('url').pathToFileURL(file))",
  ]
  return { command: 'node', args: ['-e', code.join('; '), MCP_ARGUMENT] }
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
const EXTENSION = '${extensionPath}'

/**
 * An extension of Gemini CLI in a directory of its own: `gemini extensions link gemini`. Both clients read
 * `hooks/hooks.json`, and an event that it does not know makes Claude Code ignore all hooks of a plugin. It runs the program
 * in the directory above, so it is linked, not copied.
 */
function geminiExtensionFiles({ version, description }: Omit<Package, 'license'>): Record<string, string> {
  const command = `node "${EXTENSION}/../dist/${HOOK_FILE}" --client gemini`
  const hooks = GEMINI_EVENTS.map((event): [string, Json] => [event, [{ hooks: [geminiHookEntry(event, command)] }]])
  const server = { command: 'node', args: [`${EXTENSION}/../dist/${CLI_FILE}`, MCP_ARGUMENT] }
  return {
    'gemini/gemini-extension.json': json({ name: NAME, version, description, mcpServers: { [SERVER_NAME]: server } }),
    'gemini/hooks/hooks.json': json({ hooks: Object.fromEntries(hooks) }),
  }
}

function json(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The words go to a tool and not into a shell: they may contain anything. */
const SEARCH_COMMAND = `---
description: Search what earlier sessions learned about this project
argument-hint: what to look for
---

Search the memory with the tool \`search_memory\` of the MCP server ${SERVER_NAME} for:

$ARGUMENTS

Answer from what it finds: the hits that matter, each with its number (such as #12), its date and one sentence. If a hit is
cut, read it in full with \`get_observations\`. If nothing fits, say so and name the words you searched for; do not guess.
`

const STATUS_COMMAND = `---
description: Show whether claude-mem works, and what waits
allowed-tools: Bash(node:*)
---

This is what claude-mem says about itself:

!\`node "${ROOT}/dist/${CLI_FILE}" status\`

Repeat it for the user in a few lines: whether it works, how much it remembers, what waits and what to do about it.
`

const MEMORY_SKILL = `---
name: memory
description: Search the memory of earlier sessions. Use it before you investigate something that an earlier session may have found out - why something was built as it is, what was tried and failed, how to build, test or deploy here, where something is - and when the user says "again", "last time", "we decided", "remember".
---

# When to search the memory

Earlier sessions in this project left observations (decisions, bug fixes, discoveries) and passages of what was said and done.
The start of a session contains only the most useful ones; the tools of the MCP server ${SERVER_NAME} find the others.

Search **before**:

- reading many files to find out why something is as it is, or where it is;
- debugging an error: search for its exact text, then for its cause in words;
- repeating something that may have failed before, or choosing between alternatives;
- answering a question about what was decided, tried or done.

Do not search for what the code itself says in one place, or for general knowledge.

# How

1. \`search_memory\` with a question in plain words, or an exact name: \`getUserById\`, \`ERR_MODULE_NOT_FOUND\`, \`src/auth/jwt.ts\`.
2. \`get_observations\` with the numbers of the hits that matter; \`timeline\` for what happened around one.
3. Say what you use and where it comes from (#12). Memory can be out of date: check it against the code before you rely on it.
4. \`remember\` stores what a later session should know and could not find out quickly itself.
`
