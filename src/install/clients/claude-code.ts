/** Claude Code: hooks in its settings, the MCP server in the file that it keeps for itself. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findClient } from '../client.ts'
import { hookCommand, SERVE, serverCommand } from '../command-line.ts'
import { eventsFor, FILE_CONTEXT_EVENT, wantedEvents } from '../events.ts'
import { mergeHooks } from '../hooks.ts'
import { mergeServer } from '../mcp-server.ts'
import type { Adapter, Where } from './adapter.ts'
import { BOTH_REMEMBER, enabledPlugins, KEEP_ONE } from './plugin.ts'

export const claudeCode: Adapter = {
  name: 'claude-code',
  title: 'Claude Code',
  files: (where) => [
    { path: settingsFile(where), format: 'hooks' },
    { path: serversFile(where), format: 'mcp-servers' },
  ],
  find: ({ env, home }) => findClient(env, home, claudeConfigDirectory(env, home)),
  registration: ({ node, hook, cli }, { version, fileContext, registered }) => {
    const optional = fileContext ? [FILE_CONTEXT_EVENT] : []
    const known = eventsFor(version, optional)
    // A client that cannot be found now was found when it got more than that.
    const wanted = wantedEvents(optional)
    const events = wanted.filter((name) => known.includes(name) || (version === null && registered.includes(name)))
    const command = hookCommand(node, hook)
    const server = { type: 'stdio', command: node, args: [cli, SERVE] }
    return {
      events,
      leftOut: wanted.filter((name) => !events.includes(name)),
      command,
      commands: [command, serverCommand(node, server.args)],
      merge: (format, text, isOurs, file) =>
        format === 'mcp-servers'
          ? mergeServer(text, server, isOurs, file)
          : mergeHooks(text, events, command, isOurs, file),
    }
  },
  notes: (where, [settings = '{}']) => [
    ...settingsNotes(where, settings),
    ...(where.scope === 'project' ? SHARED : []),
  ],
}

const SHARED = [
  'The paths in these files are those of this machine: other people who get them with the project have other ones.',
  'Claude Code asks once whether it may start the server of a .mcp.json.',
]

function settingsNotes(where: Where, text: string): string[] {
  const settings: { disableAllHooks?: unknown; enabledPlugins?: unknown } = JSON.parse(text)
  const { own, original } = enabledPlugins(settings)
  return [
    ...(settings.disableAllHooks === true
      ? [`"disableAllHooks" is true in ${settingsFile(where)}: no hook runs until that is removed.`]
      : []),
    ...(original ? [`Note that ${BOTH_REMEMBER}. ${KEEP_ONE}.`] : []),
    ...(own
      ? [
          'The claude-mem plugin is enabled too, so each event is reported twice. It is counted once (with Claude Code 2.1 or ' +
            'newer), but costs twice the time: one of the two is enough.',
        ]
      : []),
  ]
}

export function claudeConfigDirectory(env: NodeJS.ProcessEnv, home: string): string {
  const configured = env.CLAUDE_CONFIG_DIR
  return configured !== undefined && configured !== '' ? configured : join(home, '.claude')
}

function settingsFile({ scope, env, home, root }: Where): string {
  return join(scope === 'project' ? join(root, '.claude') : claudeConfigDirectory(env, home), 'settings.json')
}

/** As the client itself looks for it, seen in 2.0.76 and 2.1.197: a file of older days goes first. */
function serversFile({ scope, env, home, root }: Where): string {
  if (scope === 'project') return join(root, '.mcp.json')
  const older = join(claudeConfigDirectory(env, home), '.config.json')
  return existsSync(older) ? older : join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')
}
