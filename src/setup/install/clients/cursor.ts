/** Cursor: hooks and MCP servers have separate files, for the user or for a project. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../../lib/find-program.ts'
import { clientHookCommand, serverArguments, serverCommand } from '../command-line.ts'
import { type InstallAdapter, type InstallTarget, PROJECT_NOTE } from './adapter.ts'

/** Registered for every version: Cursor ignores events that it does not know. */
const CURSOR_EVENTS = [
  'sessionStart',
  'beforeSubmitPrompt',
  'afterShellExecution',
  'afterFileEdit',
  'afterMCPExecution',
  'stop',
  'sessionEnd',
]

export const cursorInstall: InstallAdapter = {
  name: 'cursor',
  title: 'Cursor',
  files: (where) => [
    { path: join(cursorDirectory(where), 'hooks.json'), format: 'flat-hooks' },
    { path: join(cursorDirectory(where), 'mcp.json'), format: 'mcp-servers' },
  ],
  // The program is never run to ask for its version: on some systems that opens a window.
  find: async ({ env, home }) => {
    const path = (await findProgram('cursor', env)) ?? join(home, '.cursor')
    return existsSync(path) ? { path, version: null } : null
  },
  registration: (program) => {
    const { node, cli, dataDir } = program
    const command = clientHookCommand(program, cursorInstall.name)
    const server = {
      type: 'stdio',
      command: node,
      args: serverArguments(cli, dataDir),
      // Cursor starts the server in any directory and replaces the variable; older versions leave it as it is.
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor replaces it
      env: { CLAUDE_PROJECT_DIR: '${workspaceFolder}' },
    }
    const commands = [command, serverCommand(node, server.args)]
    return { events: CURSOR_EVENTS, leftOut: [], command, commands, server }
  },
  notes: ({ scope }) => [
    ...(scope === 'project' ? [PROJECT_NOTE] : []),
    'The memory is given to Cursor when a session starts (sessionStart, additional_context). Not tested with Cursor itself; users report that its CLI passes it on to the model and that some versions of the editor drop it.',
    'If a session knows nothing: claude-mem files on --parts cursor keeps a rules file in a project, which every version reads.',
    'Cursor runs the hooks of the user and of the project. If installed in both scopes, each event is reported twice.',
  ],
}

function cursorDirectory({ scope, home, root }: InstallTarget): string {
  return join(scope === 'project' ? root : home, '.cursor')
}
