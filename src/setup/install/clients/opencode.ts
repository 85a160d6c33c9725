/**
 * OpenCode: one plugin file (`src/hook/opencode-plugin.ts`), which also adds the MCP server when OpenCode reads its
 * configuration. No file of the user is changed.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MemError } from '../../../lib/errors.ts'
import { readTextFile } from '../../../lib/files.ts'
import { findProgram } from '../../../lib/find-program.ts'
import { clientHookCommand, serverArguments, serverCommand } from '../command-line.ts'
import { ownFileHead, PLUGIN_EVENT } from '../entries.ts'
import { SERVER_NAME } from '../entry-format.ts'
import { type InstallAdapter, type InstallTarget, PROJECT_NOTE, type ProgramPaths } from './adapter.ts'

/** Not `.mjs`: OpenCode loads `*.js` and `*.ts` of this directory, none of its subdirectories. */
const PLUGIN_FILE = join('plugin', 'claude-mem.js')
/** Beside the hook program. */
const BUILT_PLUGIN = 'opencode-plugin.js'

export const openCodeInstall: InstallAdapter = {
  name: 'opencode',
  title: 'OpenCode',
  files: (where) => [{ path: join(configDirectory(where), PLUGIN_FILE), format: 'own-file' }],
  find: async (where) => {
    const path = (await findProgram('opencode', where.env)) ?? userDirectory(where)
    return existsSync(path) ? { path, version: null } : null
  },
  registration: (program) => {
    const command = clientHookCommand(program, openCodeInstall.name)
    const args = serverArguments(program.cli, program.dataDir)
    const server = { type: 'local', command: [program.node, ...args], enabled: true }
    const commands = [command, serverCommand(program.node, args)]
    return {
      events: [PLUGIN_EVENT],
      leftOut: [],
      command,
      commands,
      server,
      // Read only where the file is written.
      get ownFiles() {
        return { 'claude-mem.js': pluginText(program, commands) }
      },
    }
  },
  notes: ({ scope }) => [
    ...(scope === 'project' ? [PROJECT_NOTE] : []),
    'OpenCode loads plugins when it starts: restart it.',
    'With a plugin OpenCode waits at its first start for an npm package of its own (@opencode-ai/plugin), for about a minute where no registry can be reached. A .npmrc with fetch-retries=0 in its configuration directory shortens that.',
  ],
}

/** OpenCode follows XDG on every system. */
function userDirectory({ env, home }: Pick<InstallTarget, 'env' | 'home'>): string {
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')
}

function configDirectory(where: InstallTarget): string {
  return where.scope === 'project' ? join(where.root, '.opencode') : userDirectory(where)
}

function pluginText(program: ProgramPaths, [command = '', server = '']: readonly string[]): string {
  const { node, hook, cli, dataDir, built } = program
  const file = join(built ?? dirname(hook), BUILT_PLUGIN)
  const text = readTextFile(file)
  if (text === undefined) throw new MemError('internal', `${file} is missing; install claude-mem again`)
  const paths = JSON.stringify({ node, hook, cli, dataDir, server: SERVER_NAME })
  const head = '// Written by claude-mem install; to remove it: claude-mem uninstall --client opencode\n'
  return `${head}${ownFileHead(command, server)}const CLAUDE_MEM_PROGRAM = ${paths}\n${text}`
}
