/**
 * Codex: hooks in `hooks.json`, the MCP server in `config.toml`, both in `CODEX_HOME` or in the `.codex` of a project. It
 * runs a hook only after its user has trusted it; the trust is for event, matcher and entry, not for the program, so the
 * entries stay the same as long as the program stays where it is.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readTextFile } from '../../../lib/files.ts'
import { clientHookCommand, serverArguments, serverCommand } from '../command-line.ts'
import type { IsOurs } from '../entry-format.ts'
import type { Json } from '../json-edit.ts'
import { untrustedEvents } from '../toml-server.ts'
import {
  findClientProgram,
  type InstallAdapter,
  type InstalledText,
  type InstallTarget,
  PROJECT_NOTE,
} from './adapter.ts'
import { readHookHashes } from './codex-trust.ts'

/** Seconds, as in Claude Code. It ends a SessionEnd hook after three at most. */
const TIMEOUT_SECONDS = 10
const EVENT_TIMEOUTS: Readonly<Record<string, number>> = {
  SessionStart: 15,
  UserPromptSubmit: TIMEOUT_SECONDS,
  PostToolUse: TIMEOUT_SECONDS,
  PreCompact: TIMEOUT_SECONDS,
  SubagentStop: TIMEOUT_SECONDS,
  Stop: TIMEOUT_SECONDS,
  Interrupt: 3,
  SessionEnd: 3,
}

/** Their context is not cut to 2,500 tokens: it has a limit of its own. */
const CONTEXT_EVENTS: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit'])

export const CODEX_EVENTS = Object.keys(EVENT_TIMEOUTS)

export function codexHookEntry(event: string, command: string): { [name: string]: Json } {
  const timeout = EVENT_TIMEOUTS[event] ?? TIMEOUT_SECONDS
  return { type: 'command', command, timeout, ...(CONTEXT_EVENTS.has(event) ? { additionalContextLimit: 0 } : {}) }
}

export const codexInstall: InstallAdapter = {
  name: 'codex',
  title: 'Codex',
  files: (where) => [
    { path: join(codexDirectory(where), 'hooks.json'), format: 'hooks' },
    { path: join(codexDirectory(where), 'config.toml'), format: 'toml-server' },
  ],
  find: async (where) => {
    const program = await findClientProgram('codex', where.env)
    if (program !== null) return program
    const directory = codexDirectory({ ...where, scope: 'user' })
    return existsSync(directory) ? { path: directory, version: null } : null
  },
  registration: (program, { trust }) => {
    const { node, cli, dataDir } = program
    const command = clientHookCommand(program, codexInstall.name)
    const server = { command: node, args: serverArguments(cli, dataDir) }
    return {
      events: CODEX_EVENTS,
      leftOut: [],
      command,
      commands: [command, serverCommand(node, server.args)],
      server,
      ...(trust === undefined ? {} : { trust }),
      hookEntry: codexHookEntry,
    }
  },
  trust: {
    hashes: (where, { path }, command) => {
      const hooksFile = join(codexDirectory(where), 'hooks.json')
      return readHookHashes(path, { env: where.env, cwd: where.root, hooksFile, command })
    },
    missing: (where, isOurs, current) => {
      const directory = codexDirectory(where)
      const [hooksFile, config] = [join(directory, 'hooks.json'), readTextFile(join(directory, 'config.toml')) ?? '']
      const hooks = readTextFile(hooksFile)
      return hooks === undefined ? [] : untrustedEvents(config, hooks, hooksFile, isOurs, current)
    },
  },
  notes: (where, [hooks, config], isOurs) => [
    ...(needsTrust(where, hooks, config, isOurs)
      ? [
          'Codex runs a hook only after you trusted it: start codex, and when it says that hooks need review, choose to ' +
            'trust them (or open /hooks). Until then it skips them without a word, in codex exec, too.',
        ]
      : []),
    ...(where.scope === 'project'
      ? [PROJECT_NOTE, 'Codex reads the .codex of a project only if you trusted the project.']
      : []),
  ],
}

/** A changed entry needs new trust: the hash in config.toml is of the old one. */
function needsTrust(
  where: InstallTarget,
  hooks: InstalledText | undefined,
  config: InstalledText | undefined,
  isOurs: IsOurs,
): boolean {
  if (hooks === undefined || hooks.changed) return true
  return untrustedEvents(config?.text ?? '', hooks.text, join(codexDirectory(where), 'hooks.json'), isOurs).length > 0
}

function codexDirectory({ scope, env, home, root }: InstallTarget): string {
  if (scope === 'project') return join(root, '.codex')
  return env.CODEX_HOME || join(home, '.codex')
}
