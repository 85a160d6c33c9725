/** What `npm start` and `npm test` need before they can do their work, on a fresh clone with nothing but Node and npm. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.cache', 'claude-mem', 'installed')
const OLDEST_NODE = 20

export function ensureInstalled() {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    fail(`claude-mem needs Node ${OLDEST_NODE} or newer; this is ${process.version}.`)
  }
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  say('installing packages (two of them compile native code; this takes a few minutes the first time)…')
  // Not `npm ci`: the lock file names only the platform packages of the machine that wrote it.
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund'])
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
}

export function ensureBuilt() {
  const built = join(root, 'dist', 'cli.js')
  const sources = ['src', 'machines', 'prompts', 'package.json', 'scripts/build.mjs']
  const newest = Math.max(...sources.map((source) => newestIn(join(root, source))))
  if (existsSync(built) && statSync(built).mtimeMs > newest) return
  say('building…')
  run(process.execPath, [join(root, 'scripts', 'build.mjs')])
}

/** Runs a program with this terminal; ends this process where it fails. */
export function run(program, args, env = process.env) {
  // npm is a script on Windows: it is run by the node that runs us.
  const npm = program === 'npm' ? process.env.npm_execpath : undefined
  const [command, all] = npm === undefined ? [program, args] : [process.execPath, [npm, ...args]]
  const { status, error } = spawnSync(command, all, { cwd: root, stdio: 'inherit', env })
  if (error !== undefined) fail(`${program} could not be run: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newestIn(join(path, name))))
}

function say(text) {
  process.stderr.write(`claude-mem: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
