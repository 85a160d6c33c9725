/**
 * The commands of package.json: `node scripts/npm.mjs NAME [arguments]`. Each works on a fresh clone with nothing but
 * Node and npm: it installs packages and builds the program first, where that is needed. It imports no package itself.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE = 20
/** The newest Claude Code that runs on the oldest Node that claude-mem supports. */
const CLIENT_VERSION = '2.1.197'

/** The clients of `npm run test:clients`, each with the version that its tests are written for. */
const CLIENTS = {
  'claude-code': {
    title: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    program: 'claude',
    version: CLIENT_VERSION,
  },
  codex: { title: 'Codex', package: '@openai/codex', program: 'codex', version: '0.166.0' },
  gemini: { title: 'Gemini CLI', package: '@google/gemini-cli', program: 'gemini', version: '0.61.0' },
  opencode: { title: 'OpenCode', package: 'opencode-ai', program: 'opencode', version: '1.18.33' },
  copilot: { title: 'Copilot CLI', package: '@github/copilot', program: 'copilot', version: '1.0.102' },
  qwen: { title: 'Qwen Code', package: '@qwen-code/qwen-code', program: 'qwen', version: '0.24.4', node: '22' },
}

const BENCHMARKS = {
  hook: 'time of a hook compared with starting node, with the daemon up and down, and for a payload of each client',
  ingest: 'durable acks per second on 16 connections compared with bare SQLite; draining a spool of 1,000 events',
  quality: 'what an observer keeps of recorded sessions: [--sessions DIR] [--provider NAME]',
  answers:
    'whether the memory of a session answers questions about it, compared with its raw transcript: --sessions DIR',
  asof: 'whether the memory of a project tells what is true now, beside a naive start: --histories DIR [--dump DIR]',
  next: 'how many of the paths and names that the next session uses its start has, beside a naive start: --histories DIR',
  constants:
    'what the constants of the start are worth on a set that they were not chosen on: --starts DIR [--settings 120]',
  rows: 'sheets to judge what a session gets at its start, and pairs of two versions: --sessions DIR --histories DIR --out DIR',
  retrieval: 'whether the search finds what answers a question: --data FILE (LoCoMo format), --code',
  tokens: 'cost of the observer with a model: tokens per observation and tool use, facts that reach the model',
  year: 'a year of sessions read by backfill: duration, memory, search and context compared with a small memory',
  search: 'time of a search at 1k, 10k and 100k observations, compared with plain FTS5, and its effect on hooks',
  context: 'time until a starting session has its context, at 100, 10k and 100k observations, warm and cold',
  prompts: 'which prompts get memories at which floor: prompts about the project and unrelated ones',
  viewer: 'the page: its size, frames while events arrive, memory, and the effect of fifty viewers on hooks',
  secrets: 'secrets that are masked before anything is stored, and harmless texts that are changed',
  restore: 'a start on 10,000 sessions, 1,000 of them unfinished: first ack, memory, sessions awake',
  soak: 'an hour of events, viewers, searches, restarts and provider faults: what grows, and what was lost: [--minutes 60]',
  package: 'the published package: its size, what npm installs with it, and how long that takes',
  team: 'sharing through PostgreSQL: records per second, delay to another machine, first load, hooks while the server is away',
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = process.env.CLAUDE_MEM_BUILD_DIR ?? join(root, 'dist')

const COMMANDS = {
  start: (args) => runBuilt([join(dist, 'cli.js'), 'start', '--foreground', ...args]),
  test: (args) => runBuilt([...vitest(), ...args]),
  'test:long': (args) => runBuilt([...vitest('vitest.long.config.ts'), ...args]),
  'test:browser': (args) => runBuilt([...vitest('vitest.browser.config.ts'), ...args]),
  'test:client': testClient,
  'test:clients': testClients,
  demo: (args) => runBuilt([...script('demo'), ...args]),
  chaos: (args) => runBuilt([...script('chaos'), ...args]),
  fuzz: (args) => runBuilt([...script('fuzz'), ...args]),
  docs: (args) => runInstalled([...script('docs'), ...args]),
  screenshots: (args) => runBuilt([...script('screenshots'), ...args]),
  recording: (args) => runBuilt([...script('recording'), ...args]),
  bench,
}

function main([name, ...args]) {
  const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined
  if (command === undefined) fail(`unknown command "${name}"; choose one of: ${Object.keys(COMMANDS).join(', ')}`)
  command(args)
}

function bench([name, ...args]) {
  if (name === undefined || !Object.hasOwn(BENCHMARKS, name)) {
    if (name !== undefined) printNote(`there is no benchmark "${name}"; choose one of these:`)
    for (const [known, description] of Object.entries(BENCHMARKS)) {
      process.stdout.write(`${known.padEnd(14)}${description}\n`)
    }
    process.exit(name === undefined ? 0 : 2)
  }
  runBuilt([...script(`bench/${name}`), ...args])
}

/** `npm run test:client [-- --client VERSION]`: the real Claude Code. */
function testClient(args) {
  const at = args.indexOf('--client')
  const version = at === -1 ? CLIENT_VERSION : (args[at + 1] ?? '')
  ensureInstalled()
  runClientTests('claude-code', version, at === -1 ? args : args.toSpliced(at, 2))
}

/**
 * `npm run test:clients [-- --client NAME[,NAME] --version V | --together]`: real clients, each against a scripted model on loopback;
 * without --client all of them, one after the other.
 */
function testClients(args) {
  if (args.includes('--together')) return testTogether(args.filter((arg) => arg !== '--together'))
  const { client, version, rest } = clientOptions(args)
  const names = client === undefined || client === 'all' ? Object.keys(CLIENTS) : client.split(',')
  const unknown = names.find((name) => !Object.hasOwn(CLIENTS, name))
  if (unknown !== undefined) fail(`unknown client "${unknown}"; choose one of: ${Object.keys(CLIENTS).join(', ')}`, 2)
  if (version !== undefined && names.length !== 1) fail('--version needs --client with one name', 2)
  ensureInstalled()
  for (const name of names) runClientTests(name, version ?? CLIENTS[name].version, rest)
}

/** Clients that work in one repository. */
const TOGETHER = ['claude-code', 'codex', 'gemini', 'opencode']

function testTogether(args) {
  ensureInstalled()
  const programs = Object.fromEntries(TOGETHER.map((name) => [name, ensureClient(name, CLIENTS[name].version)]))
  run(process.execPath, [...vitest('vitest.client.config.ts'), ...args], {
    ...process.env,
    CLAUDE_MEM_TEST_PROGRAMS: JSON.stringify(programs),
  })
}

function clientOptions(args) {
  const rest = [...args]
  const take = (flag) => {
    const at = rest.indexOf(flag)
    return at === -1 ? undefined : rest.splice(at, 2)[1]
  }
  return { client: take('--client'), version: take('--version'), rest }
}

/** With the client from npm, installed once into a cache. */
function runClientTests(name, version, args) {
  const { title } = CLIENTS[name]
  if (!/^\d+\.\d+\.\d+$/.test(version))
    fail(`"${version}" is no version of ${title}, such as ${CLIENTS[name].version}`, 2)
  const client = ensureClient(name, version)
  process.stdout.write(`${title} ${version}: ${client}\n`)
  run(process.execPath, [...vitest('vitest.client.config.ts'), ...args], {
    ...process.env,
    CLAUDE_MEM_TEST_CLIENT: client,
    CLAUDE_MEM_TEST_CLIENT_NAME: name === 'claude-code' ? '' : name,
    CLAUDE_MEM_TEST_CLIENT_VERSION: version,
  })
}

function ensureClient(name, version) {
  const { title, package: packageName, program: file, node } = CLIENTS[name]
  const clients = join(homedir(), '.cache', 'claude-mem', 'clients')
  const cache = name === 'claude-code' ? join(clients, version) : join(clients, name, version)
  const program = join(cache, 'node_modules', '.bin', process.platform === 'win32' ? `${file}.cmd` : file)
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  printNote(`installing ${title} ${version} into ${cache}…`)
  // A client that needs a newer node finds it beside itself: the tests put its directory first on the PATH.
  const packages = [`${packageName}@${version}`, ...(node === undefined ? [] : [`node@${node}`])]
  run('npm', ['install', '--prefix', cache, '--no-audit', '--no-fund', ...packages])
  return program
}

const vitest = (config) => [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  ...(config === undefined ? [] : ['--config', config]),
]
const script = (name) => [join(root, 'scripts', 'run.mjs'), name]

function runBuilt(args) {
  ensureInstalled()
  // A build directory in the environment belongs to the caller, who has built it.
  if (process.env.CLAUDE_MEM_BUILD_DIR === undefined) ensureBuilt()
  runInstalled(args)
}

function runInstalled(args) {
  ensureInstalled()
  // The child handles Ctrl-C (the daemon drains, the demo cleans up); this process waits for it.
  process.on('SIGINT', () => undefined)
  run(process.execPath, args)
}

function ensureInstalled() {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    fail(`claude-mem needs Node ${OLDEST_NODE} or newer; this is ${process.version}.`)
  }
  const stamp = join(root, 'node_modules', '.cache', 'claude-mem', 'installed')
  const lockFile = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockFile) return
  printNote('installing packages (two of them compile native code; this takes a few minutes the first time)…')
  // Not `npm ci`: the lock file names only the platform packages of the machine that wrote it.
  const install = ['install', '--no-save', '--no-audit', '--no-fund']
  const env = { ...nodeHeaders(), ...process.env }
  if (statusOf('npm', install, env) !== 0) {
    // hnswlib-node has no prebuilt binary, and everything works without it.
    printNote('that failed; if there is no compiler, this may work: only what is needed is built…')
    run('npm', [...install, '--ignore-scripts'], env)
    run('npm', ['rebuild', 'better-sqlite3', 'esbuild'], env)
  }
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, lockFile)
}

/** Headers that were installed with this node (`include/node` beside it): native code is then built without a download. */
function nodeHeaders() {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? { npm_config_nodedir: prefix } : {}
}

function ensureBuilt() {
  const built = statSync(join(dist, 'cli.js'), { throwIfNoEntry: false })
  const sources = ['src', 'machines', 'prompts', 'package.json', 'scripts/build.mjs']
  if (built !== undefined && built.mtimeMs > Math.max(...sources.map((source) => newestTime(join(root, source)))))
    return
  printNote('building…')
  run(process.execPath, [join(root, 'scripts', 'build.mjs')])
}

/** Runs a program in this terminal; ends this process with its exit code if it fails. */
function run(program, args, env = process.env) {
  const status = statusOf(program, args, env)
  if (status !== 0) process.exit(status ?? 1)
}

function statusOf(program, args, env) {
  // npm is a script on Windows: run it with this node.
  const npm = program === 'npm' ? process.env.npm_execpath : undefined
  const [command, all] = npm === undefined ? [program, args] : [process.execPath, [npm, ...args]]
  const { status, error } = spawnSync(command, all, { cwd: root, stdio: 'inherit', env })
  if (error !== undefined) fail(`${program} could not be run: ${error.message}`)
  return status
}

function newestTime(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newestTime(join(path, name))))
}

function printNote(text) {
  process.stderr.write(`claude-mem: ${text}\n`)
}

function fail(text, exitCode = 1) {
  printNote(text)
  process.exit(exitCode)
}

main(process.argv.slice(2))
