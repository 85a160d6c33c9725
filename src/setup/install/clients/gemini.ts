/** Gemini CLI: hooks and MCP server in its settings, `~/.gemini/settings.json` or the `.gemini` of a project. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clientHookCommand, serverArguments, serverCommand } from '../command-line.ts'
import type { Json } from '../json-edit.ts'
import { findClientProgram, type InstallAdapter, type InstallTarget, PROJECT_NOTE } from './adapter.ts'

const TIMEOUT_MS = 10_000
/** Its PreCompress is reported before nearly every request, and is not registered. */
export const GEMINI_EVENTS = ['SessionStart', 'BeforeAgent', 'AfterTool', 'AfterAgent', 'SessionEnd']

export function geminiHookEntry(event: string, command: string): { [name: string]: Json } {
  return { name: `claude-mem-${event}`, type: 'command', command, timeout: TIMEOUT_MS }
}

export const geminiInstall: InstallAdapter = {
  name: 'gemini',
  title: 'Gemini CLI',
  files: (where) => [{ path: join(geminiDirectory(where), 'settings.json'), format: 'hooks-and-servers' }],
  find: async (where) => {
    const program = await findClientProgram('gemini', where.env)
    if (program !== null) return program
    const directory = geminiDirectory({ ...where, scope: 'user' })
    return existsSync(directory) ? { path: directory, version: null } : null
  },
  registration: (program) => {
    const { node, cli, dataDir } = program
    const command = clientHookCommand(program, geminiInstall.name)
    const server = { command: node, args: serverArguments(cli, dataDir) }
    return {
      events: GEMINI_EVENTS,
      leftOut: [],
      command,
      commands: [command, serverCommand(node, server.args)],
      server,
      hookEntry: geminiHookEntry,
    }
  },
  notes: ({ scope }) => [
    'Gemini CLI runs hooks and MCP servers only in folders that you trusted: answer its question when it starts there, or /permissions.',
    ...(scope === 'project' ? [PROJECT_NOTE] : []),
  ],
}

function geminiDirectory({ scope, home, root }: InstallTarget): string {
  return join(scope === 'project' ? root : home, '.gemini')
}
