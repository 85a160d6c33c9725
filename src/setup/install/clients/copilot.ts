/**
 * Copilot CLI: a hooks file of our own beside those of others, in the format of Claude Code's settings, which it accepts,
 * and the MCP server in its configuration.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { COPILOT_HOOKS_FILE, copilotHome } from '../../../hook/clients/copilot.ts'
import { findProgram } from '../../../lib/find-program.ts'
import { clientHookCommand, serverArguments, serverCommand } from '../command-line.ts'
import { type InstallAdapter, PROJECT_NOTE } from './adapter.ts'

/** With these names the payloads name their event. Not PreToolUse: if such a hook fails, Copilot does not run the tool. */
const COPILOT_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStop',
  'PreCompact',
  'Stop',
  'SessionEnd',
]
/** Copilot waits for each hook. */
const TIMEOUT_SECONDS = 10
const START_TIMEOUT_SECONDS = 15

export const copilotInstall: InstallAdapter = {
  name: 'copilot',
  title: 'Copilot CLI',
  files: ({ scope, env, home, root }) =>
    scope === 'project'
      ? [{ path: join(root, '.github', COPILOT_HOOKS_FILE), format: 'hooks' }]
      : [
          { path: join(copilotHome(env, home), COPILOT_HOOKS_FILE), format: 'hooks' },
          { path: join(copilotHome(env, home), 'mcp-config.json'), format: 'mcp-servers' },
        ],
  find: async ({ env, home }) => {
    const path = (await findProgram('copilot', env)) ?? copilotHome(env, home)
    return existsSync(path) ? { path, version: null } : null
  },
  registration: (program) => {
    const { node, cli, dataDir } = program
    const command = clientHookCommand(program, copilotInstall.name)
    const server = { type: 'local', command: node, args: serverArguments(cli, dataDir), tools: ['*'] }
    return {
      events: COPILOT_EVENTS,
      leftOut: [],
      command,
      commands: [command, serverCommand(node, server.args)],
      server,
      hookEntry: (event, line) => ({
        type: 'command',
        command: line,
        timeout: event === 'SessionStart' ? START_TIMEOUT_SECONDS : TIMEOUT_SECONDS,
      }),
    }
  },
  notes: ({ scope }) =>
    scope === 'project'
      ? [
          PROJECT_NOTE,
          'Copilot runs hooks of a repository only in folders that you trust. The MCP server is installed only for the user.',
        ]
      : [],
}
