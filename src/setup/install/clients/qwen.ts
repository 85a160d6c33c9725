/** Qwen Code: hooks in Claude Code's format and MCP server in its settings, `~/.qwen/settings.json` or a project's `.qwen`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../../lib/find-program.ts'
import { clientHookCommand, serverArguments, serverCommand } from '../command-line.ts'
import { type InstallAdapter, type InstallTarget, PROJECT_NOTE } from './adapter.ts'

const QWEN_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStop',
  'PreCompact',
  'Stop',
  'StopFailure',
  'SessionEnd',
]
const TIMEOUT_SECONDS = 15

export const qwenInstall: InstallAdapter = {
  name: 'qwen',
  title: 'Qwen Code',
  files: (where) => [{ path: join(qwenDirectory(where), 'settings.json'), format: 'hooks-and-servers' }],
  find: async (where) => {
    const path = (await findProgram('qwen', where.env)) ?? qwenDirectory({ ...where, scope: 'user' })
    return existsSync(path) ? { path, version: null } : null
  },
  registration: (program) => {
    const { node, cli, dataDir } = program
    const command = clientHookCommand(program, qwenInstall.name)
    const server = { command: node, args: serverArguments(cli, dataDir) }
    return {
      events: QWEN_EVENTS,
      leftOut: [],
      command,
      commands: [command, serverCommand(node, server.args)],
      server,
      hookEntry: (_, line) => ({ type: 'command', command: line, timeout: TIMEOUT_SECONDS }),
    }
  },
  notes: ({ scope }) => (scope === 'project' ? [PROJECT_NOTE] : []),
}

function qwenDirectory({ scope, home, root }: InstallTarget): string {
  return join(scope === 'project' ? root : home, '.qwen')
}
