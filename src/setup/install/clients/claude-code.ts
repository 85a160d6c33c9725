/** Claude Code: hooks go into its settings, the MCP server into its state file (`.claude.json`). */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isProgram, programFiles } from '../../../lib/find-program.ts'
import { eventsToRegister, supportedEvents } from '../claude-code-events.ts'
import { hookCommand, serverArguments, serverCommand } from '../command-line.ts'
import {
  type InstallAdapter,
  type InstalledClient,
  type InstallTarget,
  PROJECT_NOTE,
  reportedVersion,
} from './adapter.ts'

export const claudeCodeInstall: InstallAdapter = {
  name: 'claude-code',
  title: 'Claude Code',
  files: (where) => [
    { path: settingsFile(where), format: 'hooks' },
    { path: serversFile(where), format: 'mcp-servers' },
  ],
  find: ({ env, home }) => findClaudeCode(env, home, claudeConfigDirectory(env, home)),
  registration: (program, { version, fileContext, registered }) => {
    const { node, cli, dataDir } = program
    const known = supportedEvents(version, fileContext)
    // If the client cannot be found now, events that an earlier installation registered are kept.
    const allEvents = eventsToRegister(fileContext)
    const events = allEvents.filter((name) => known.includes(name) || (version === null && registered.includes(name)))
    const command = hookCommand(program)
    const server = { type: 'stdio', command: node, args: serverArguments(cli, dataDir) }
    return {
      events,
      leftOut: allEvents.filter((name) => !events.includes(name)),
      command,
      commands: [command, serverCommand(node, server.args)],
      server,
    }
  },
  notes: (where, [settings]) => [
    ...settingsNotes(where, settings?.text ?? '{}'),
    ...(where.scope === 'project'
      ? [PROJECT_NOTE, 'Claude Code asks once whether it may start the server of a .mcp.json.']
      : []),
  ],
}

function settingsNotes(where: InstallTarget, text: string): string[] {
  const settings: { disableAllHooks?: unknown; enabledPlugins?: unknown } = JSON.parse(text)
  const { own, original } = enabledPlugins(settings)
  return [
    ...(settings.disableAllHooks === true
      ? [`"disableAllHooks" is true in ${settingsFile(where)}: no hook runs until it is removed.`]
      : []),
    ...(original ? [`Note that ${ORIGINAL_PLUGIN_ENABLED}. ${ORIGINAL_PLUGIN_FIX}.`] : []),
    ...(own
      ? [
          'The claude-mem plugin is enabled too, so each event is reported twice. Claude Code 2.1 or newer counts it once, ' +
            'but it takes twice the time: disable one of the two.',
        ]
      : []),
  ]
}

export function claudeConfigDirectory(env: NodeJS.ProcessEnv, home: string): string {
  const configured = env.CLAUDE_CONFIG_DIR
  return configured !== undefined && configured !== '' ? configured : join(home, '.claude')
}

function settingsFile({ scope, env, home, root }: InstallTarget): string {
  return join(scope === 'project' ? join(root, '.claude') : claudeConfigDirectory(env, home), 'settings.json')
}

/** In the client's own order (seen in 2.0.76 and 2.1.197): the file of older versions first. */
function serversFile({ scope, env, home, root }: InstallTarget): string {
  if (scope === 'project') return join(root, '.mcp.json')
  const legacyFile = join(claudeConfigDirectory(env, home), '.config.json')
  return existsSync(legacyFile) ? legacyFile : join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')
}

const PROGRAM_NAME = 'claude'

/** The first `claude` that reports a version; null if there is none. */
export async function findClaudeCode(
  env: NodeJS.ProcessEnv,
  home: string,
  configDir: string,
): Promise<InstalledClient | null> {
  for (const path of candidates(env, home, configDir)) {
    if (!(await isProgram(path))) continue
    const version = await reportedVersion(path, env)
    if (version !== null) return { path, version }
  }
  return null
}

/** On the PATH, then where Claude Code's installers put it. */
function candidates(env: NodeJS.ProcessEnv, home: string, configDir: string): string[] {
  const installerDirectories = [join(home, '.local', 'bin'), join(configDir, 'local')]
  const files = installerDirectories.flatMap((directory) =>
    programFiles(PROGRAM_NAME, { PATHEXT: env.PATHEXT, PATH: directory }, process.platform),
  )
  return [...new Set([...programFiles(PROGRAM_NAME, env, process.platform), ...files])]
}

/** The plugin of the original claude-mem, which keeps its own memory. */
const ORIGINAL_PLUGIN = 'claude-mem@thedotmack'
/** `mem@claude-mem`, and the name that it had before. */
const OWN_PLUGIN = /^(?:mem@claude-mem$|claude-mem(?:@|$))/

/** Which plugins named claude-mem a settings file enables. */
export function enabledPlugins(settings: { enabledPlugins?: unknown }): { own: boolean; original: boolean } {
  const on = Object.entries(Object(settings.enabledPlugins)).flatMap(([name, value]) => (value === true ? [name] : []))
  return {
    own: on.some((name) => OWN_PLUGIN.test(name) && name !== ORIGINAL_PLUGIN),
    original: on.includes(ORIGINAL_PLUGIN),
  }
}

export const ORIGINAL_PLUGIN_ENABLED =
  'the plugin of the original claude-mem is enabled too: both observe each session, both add context, and both cost tokens'
export const ORIGINAL_PLUGIN_FIX =
  'run claude-mem import to copy its memories, then disable it with /plugin in Claude Code'
