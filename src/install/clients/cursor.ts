/** Cursor: hooks and MCP servers in files of their own, for the user or for a project. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../find-program.ts'
import { clientHookCommand, SERVE, serverCommand } from '../command-line.ts'
import { mergeFlatHooks } from '../flat-hooks.ts'
import { mergeServer } from '../mcp-server.ts'
import type { Adapter, Where } from './adapter.ts'

/** What it does not know it passes over, whatever its version. */
const EVENTS = ['beforeSubmitPrompt', 'afterShellExecution', 'afterFileEdit', 'afterMCPExecution', 'stop']

export const cursor: Adapter = {
  name: 'cursor',
  title: 'Cursor',
  files: (where) => [
    { path: join(directoryOf(where), 'hooks.json'), format: 'flat-hooks' },
    { path: join(directoryOf(where), 'mcp.json'), format: 'mcp-servers' },
  ],
  // Its program opens a window on some systems: it is looked for, never run.
  find: async ({ env, home }) => {
    const path = (await findProgram('cursor', env)) ?? join(home, '.cursor')
    return existsSync(path) ? { path, version: null } : null
  },
  registration: ({ node, hook, cli }) => {
    const command = clientHookCommand(node, hook, cursor.name)
    const server = {
      type: 'stdio',
      command: node,
      args: [cli, SERVE],
      // Cursor starts it anywhere and fills in the project; a Cursor that does not leaves a word that is no path.
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Cursor that fills it in
      env: { CLAUDE_PROJECT_DIR: '${workspaceFolder}' },
    }
    return {
      events: EVENTS,
      leftOut: [],
      command,
      commands: [command, serverCommand(node, server.args)],
      merge: (format, text, isOurs, file) =>
        format === 'mcp-servers'
          ? mergeServer(text, server, isOurs, file)
          : mergeFlatHooks(text, EVENTS, command, isOurs, file),
    }
  },
  notes: ({ scope }) => [
    ...(scope === 'project'
      ? [
          'The paths in these files are those of this machine: other people who get them with the project have other ones.',
        ]
      : []),
    'Cursor takes no memory from a hook: claude-mem files on, run in a project, keeps a rules file there that it reads.',
    'Cursor runs the hooks of the user and of the project: installed in both scopes, each event is reported twice.',
  ],
}

function directoryOf({ scope, home, root }: Where): string {
  return join(scope === 'project' ? root : home, '.cursor')
}
