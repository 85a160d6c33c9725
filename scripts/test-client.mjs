/**
 * `npm run test:client [-- --client VERSION]`: the loop with the real Claude Code, against a scripted model on loopback.
 * The client is installed once into a cache outside the repository.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensureInstalled, root, run } from './ensure.mjs'

/** The newest one made for the oldest Node that claude-mem runs on. */
const DEFAULT_VERSION = '2.1.197'

const { version, rest } = parseArguments(process.argv.slice(2))
ensureInstalled()
const client = ensureClient(version)
console.log(`Claude Code ${version}: ${client}`)
run(
  process.execPath,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', 'vitest.client.config.ts', ...rest],
  { ...process.env, CLAUDE_MEM_TEST_CLIENT: client, CLAUDE_MEM_TEST_CLIENT_VERSION: version },
)

function ensureClient(wanted) {
  const cache = join(homedir(), '.cache', 'claude-mem', 'clients', wanted)
  const program = join(cache, 'node_modules', '.bin', process.platform === 'win32' ? 'claude.cmd' : 'claude')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  console.log(`installing Claude Code ${wanted} into ${cache}…`)
  run('npm', ['install', '--prefix', cache, '--no-audit', '--no-fund', `@anthropic-ai/claude-code@${wanted}`])
  return program
}

function parseArguments(args) {
  const at = args.indexOf('--client')
  if (at === -1) return { version: DEFAULT_VERSION, rest: args }
  const wanted = args[at + 1]
  if (wanted === undefined || !/^\d+\.\d+\.\d+$/.test(wanted)) {
    console.error('claude-mem: --client takes a version of Claude Code, like 2.1.197')
    process.exit(2)
  }
  return { version: wanted, rest: args.toSpliced(at, 2) }
}
