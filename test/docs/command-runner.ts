/**
 * Runs every command that README.md, CONTRIBUTING.md and docs/*.md name, as a new user types it: in a shell, with an
 * empty HOME and a private data directory, against the built program. A command that cannot run in a test is listed in
 * `NOT_RUN` with the reason; one that must fail here is listed in `EXPECTED_FAILURES`. A list may only name commands that
 * the documentation still has. Two test files share this runner, so that they run at the same time.
 */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/lib/postgres.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { initPostgresLog } from '../../src/team/postgres/log.ts'
import { stopDaemons } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST, ROOT } from '../support/paths.ts'
import { exited, type Finished, runProgram } from '../support/programs.ts'
import { git, repository } from '../support/repository.ts'
import { waitUntil } from '../support/waiting.ts'
import { originalDatabase } from '../transfer/exchange/original-database.ts'
import { type DocumentedCommand, distinctCommands, documentedCommands, typedCommand } from './documented-commands.ts'

const RUN_MS = 120_000

/** Commands that are not run here, with the reason. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^npm test\b/, 'runs the suite that this test belongs to'],
  [/^npm run (?:lint|types|chaos|fuzz|test:\w+)/, 'a whole suite of its own; .ci/run runs it'],
  [/^npm run bench -- /, 'takes minutes; commands.test.ts checks that the benchmark exists'],
  [/^npm run (?:docs|format|build)$/, 'writes into the working tree; .ci/run checks the result'],
  [/^npm run screenshots/, 'writes pictures into the working tree and needs a browser'],
  [/^ssh /, 'needs another machine'],
  [/^claude /, 'needs Claude Code; npm run test:client uses the real client'],
  [/^claude-mem models (?:pull|use) \S+\//, 'downloads a model, or needs one on disk'],
]

interface ExpectedFailure {
  command: RegExp
  code: number
  output: RegExp
  reason: string
}

/** Commands that are run and must fail in this environment with a clear message. */
const EXPECTED_FAILURES: readonly ExpectedFailure[] = [
  {
    command: /config set \w+-api-key$/,
    code: 2,
    output: /stdin/,
    reason: 'prompts for the key, which needs a terminal',
  },
  { command: /^claude-mem doctor(?: --\w+)?$/, code: 1, output: /claude-mem install/, reason: 'no hook is installed' },
  { command: /--provider anthropic/, code: 1, output: /anthropic-api-key/, reason: 'there is no key' },
  { command: /^claude-mem providers test gemini$/, code: 1, output: /gemini-api-key/, reason: 'there is no key' },
  { command: /--provider claude-code$/, code: 1, output: /claude-code-path/, reason: 'Claude Code is not installed' },
  {
    command: /^claude-mem team connect postgres:\/\/ana@db\.example\.com/,
    code: 1,
    output: /db\.example\.com/,
    reason: 'there is no such server',
  },
  {
    command: /^claude-mem team connect$/,
    code: 2,
    output: /stdin/,
    reason: 'asks for the URL, which needs a terminal',
  },
  {
    command: /^claude-mem (?:update --check|packages install)/,
    code: 1,
    output: /registry cannot be reached/,
    reason: 'no package is downloaded in tests',
  },
  {
    command: /^claude-mem update(?! --check)/,
    code: 1,
    output: /claude-mem install/,
    reason: 'no program is installed; test/setup/program runs them with one',
  },
  {
    command: /^claude-mem install --client codex --trust-hooks$/,
    code: 1,
    output: /PATH/,
    reason: 'Codex is not installed',
  },
  { command: /^claude-mem uninstall --purge$/, code: 1, output: /--yes/, reason: 'asks first, which needs a terminal' },
]

/** What the user of an example has done before. */
const PREPARATIONS: readonly (readonly [command: RegExp, preparation: string])[] = [
  [/^claude-mem (?:team(?! connect)|flush --wait)/, 'claude-mem team connect "$URL" --share .'],
  [/^claude-mem install --client all/, 'mkdir -p ~/.codex ~/.gemini'],
  [/^claude-mem start/, 'claude-mem stop'],
  [/export memory\.jsonl/, 'rm memory.jsonl'],
  [/projects rename "Shop old"/, 'claude-mem projects rename shop "Shop old"'],
  // The original's memory, which other examples import, stands in the same directory.
  [/uninstall --purge/, 'rm -f ~/.claude-mem/claude-mem.db'],
  [
    /projects merge ~\/old\/shop/,
    `cd ~/old/shop && echo '{"session_id":"old","prompt":"look around"}' | claude-mem new`,
  ],
]

/** Commands that run until they are stopped: each is interrupted when its output matches. */
const UNTIL_STOPPED: readonly (readonly [RegExp, RegExp])[] = [
  [/^claude-mem start --foreground/, /./],
  [/^claude-mem logs (?:-f|--follow)/, /./],
  [/--watch\b/, /./],
  [/--stately\b/, /./],
]

/** Commands that only read share one state of the home directory; before any other one it is restored. */
const READ_ONLY =
  /^claude-mem (?:search|show|timeline|stats|status|inspect|usage|context|logs|doctor|replay|providers|mcp)\b/

const directory = temporaryDirectory('docs')
const home = join(directory, 'home')
const savedHome = join(directory, 'saved-home')
const project = join(home, 'work', 'shop')
const paths = dataPaths(join(home, '.claude-mem'))
const bin = join(directory, 'bin')
const inherited = Object.entries(process.env).filter(
  ([name]) => !/^(?:CLAUDE|ANTHROPIC|GEMINI|GOOGLE|OPENROUTER|XDG_|npm_)|_proxy$/i.test(name),
)
const env: NodeJS.ProcessEnv = {
  ...Object.fromEntries(inherited),
  HOME: home,
  USERPROFILE: home,
  PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
  CLAUDE_MEM_DATA_DIR: paths.dataDir,
  CLAUDE_MEM_WORKER_PORT: '0',
  CLAUDE_MEM_BUILD_DIR: DIST,
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_fetch_retries: '0',
}

/** Programs that examples call: ours, and stand-ins for tools that a machine may not have. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'claude-mem': `exec "${process.execPath}" "${join(DIST, 'cli.js')}" "$@"`,
  jq: 'cat > /dev/null',
  pass: 'echo sk-ant-example-0123456789',
  'xdg-open': 'exit 0',
}

const commands = distinctCommands(documentedCommands())
let isFresh = false
let postgres: PostgresServer | null = null

beforeAll(async () => {
  mkdirSync(bin)
  postgres = await startTeamServer()
  for (const [name, body] of Object.entries(PROGRAMS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  await fillHome()
  await stopDaemons(paths)
  cpSync(home, savedHome, { recursive: true, preserveTimestamps: true })
}, RUN_MS)

afterAll(async () => {
  await stopDaemons(paths)
  await postgres?.dispose()
})

/** The database of a team, whose address examples take from `$URL`, with the roles that they name. */
async function startTeamServer(): Promise<PostgresServer> {
  const server = await startPostgres()
  env.URL = server.url()
  await initPostgresLog(env.URL)
  const client = new pg.Client({ connectionString: env.URL })
  await client.connect()
  for (const role of ['ben', 'eve']) await client.query(`CREATE ROLE ${role} LOGIN`)
  await client.end()
  return server
}

/** Defines one test for each command that these pages are the first to name. */
export function describeCommandsOf(isIncluded: (file: string) => boolean): void {
  describe('docs.commands', () => {
    const run = commands.filter(({ command }) => reasonNotRun(typedCommand(command)) === undefined)
    for (const documented of run.filter(({ file }) => isIncluded(file))) {
      test(`${documented.file}:${documented.line}: ${documented.command}`, () => runDocumented(documented), RUN_MS)
    }
  })
}

export function describeCommandLists(): void {
  test('docs.commands: the lists name only commands that the documentation has', () => {
    const patterns = [
      ...[...NOT_RUN, ...UNTIL_STOPPED, ...PREPARATIONS].map(([pattern]) => pattern),
      ...EXPECTED_FAILURES.map(({ command }) => command),
    ]
    const typed = commands.map(({ command }) => typedCommand(command))
    expect(patterns.filter((pattern) => !typed.some((command) => pattern.test(command)))).toEqual([])
  })
}

function reasonNotRun(command: string): string | undefined {
  return NOT_RUN.find(([pattern]) => pattern.test(command))?.[1]
}

async function runDocumented({ file, line, command }: DocumentedCommand): Promise<void> {
  const typed = typedCommand(command)
  if (typed === 'npm start') return await startAndStop()
  if (!READ_ONLY.test(typed)) await restoreHome()
  const preparation = PREPARATIONS.find(([pattern]) => pattern.test(typed))?.[1]
  if (preparation !== undefined) await shellOk(preparation)
  const stopAt = UNTIL_STOPPED.find(([pattern]) => pattern.test(typed))?.[1]
  const result = stopAt === undefined ? await shell(typed) : await runUntil(typed, stopAt)
  isFresh &&= READ_ONLY.test(typed)
  const failure = EXPECTED_FAILURES.find(({ command: pattern }) => pattern.test(typed))
  const output = result.stdout + result.stderr
  const where = `${file}:${line}: ${command}\nexit code ${result.code} (${result.signal ?? 'no signal'})\n${output}`
  expect(result.code, where).toBe(failure?.code ?? 0)
  expect(output, where).toMatch(failure?.output ?? /^/)
  expect(output, `a stack trace: ${where}`).not.toMatch(/^\s+at .+\(.+:\d+:\d+\)$/m)
}

/** A POSIX shell, as the examples assume. npm commands run in the clone, all others in a project of the user. */
function shell(command: string): Promise<Finished> {
  const cwd = command.startsWith('npm ') ? ROOT : project
  return runProgram('sh', ['-c', inShell(command)], { cwd, env, timeoutMs: RUN_MS })
}

async function shellOk(command: string): Promise<void> {
  const { code, stdout, stderr } = await shell(command)
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stdout}${stderr}`)
}

const inShell = (command: string) => command.replaceAll('node dist/hook.cjs', `node "${join(DIST, 'hook.cjs')}"`)

async function runUntil(command: string, output: RegExp): Promise<Finished> {
  // A process group of its own, so that the interrupt reaches the program behind the shell.
  const child = spawn('sh', ['-c', inShell(command)], { cwd: project, env, detached: true })
  let stdout = ''
  const append = (chunk: Buffer) => {
    stdout += chunk
  }
  child.stdout.on('data', append)
  child.stderr.on('data', append)
  child.stdin.end()
  await waitUntil(`${command} prints ${output}`, () => output.test(stdout) || child.exitCode !== null)
  if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGINT')
  const code = await exited(child)
  // A program without a handler for the interrupt ends by the signal, which is what the user expects.
  return { code: child.signalCode === 'SIGINT' ? 0 : code, signal: child.signalCode, stdout, stderr: '' }
}

async function startAndStop(): Promise<void> {
  await stopDaemons(paths)
  isFresh = false
  const child = spawn('npm', ['start'], { cwd: ROOT, env, detached: true, stdio: 'ignore' })
  await waitUntil('the daemon of `npm start` answers', isRunning, RUN_MS)
  process.kill(-Number(child.pid), 'SIGINT')
  await exited(child)
  await waitUntil('the daemon of `npm start` has stopped', async () => !(await isRunning()))
}

async function isRunning(): Promise<boolean> {
  const { stdout } = await shell('claude-mem status --json')
  return stdout !== '' && JSON.parse(stdout).running === true
}

async function restoreHome(): Promise<void> {
  if (isFresh) return
  await stopDaemons(paths)
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  cpSync(savedHome, home, { recursive: true, preserveTimestamps: true })
  await shellOk('claude-mem start')
  isFresh = true
}

/** A home directory in which the names and ids of the documentation exist. */
async function fillHome(): Promise<void> {
  repository(project)
  repository(join(home, 'old', 'shop'))
  mkdirSync(join(home, 'clients', 'secret'), { recursive: true })
  mkdirSync(join(home, 'notes'))
  for (const clone of [project, repository(join(home, 'work', 'shop-experiment'))]) {
    git(clone, 'remote', 'add', 'origin', 'git@github.com:acme/shop.git')
  }
  mkdirSync(join(project, 'prompts'))
  const hook = (payload: object) =>
    runProgram(process.execPath, [join(DIST, 'hook.cjs')], { env, input: JSON.stringify(payload) })
  const session = { session_id: '5f1c2d3e-0000-4000-8000-000000000001', cwd: project }
  await hook({ ...session, hook_event_name: 'UserPromptSubmit', prompt: 'why do logins expire' })
  const edit = { file_path: join(project, 'src/auth/jwt.ts'), old_string: 'ttl = 60', new_string: 'ttl = 900' }
  await hook({
    ...session,
    hook_event_name: 'PostToolUse',
    tool_name: 'Edit',
    tool_use_id: 'toolu_01A',
    tool_input: edit,
    tool_response: { filePath: edit.file_path },
  })
  await hook({ ...session, hook_event_name: 'Stop', last_assistant_message: 'Tokens live 15 minutes now.' })
  writeFileSync(join(project, 'memory.jsonl'), exportedMemory())
  writeFileSync(join(project, 'payload.json'), JSON.stringify({ ...session, hook_event_name: 'stop' }))
  mkdirSync(join(project, 'old'))
  writeFileSync(join(project, 'old', 'session.jsonl'), transcript())
  mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
  originalDatabase(join(paths.dataDir, 'claude-mem.db')).close()
  for (const command of ['claude-mem import memory.jsonl', 'claude-mem flush', 'claude-mem backup now'])
    await shellOk(command)
}

/** More observations and passages than any id that the documentation names. */
function exportedMemory(): string {
  const { key, name } = projectOfDirectory(project)
  const at = Date.UTC(2026, 0, 1)
  const observations = Array.from({ length: 130 }, (_, i) => ({
    kind: 'observation',
    id: i + 1,
    session: 'imported',
    project: key,
    createdAt: at + i * 60_000,
    type: i % 2 === 0 ? 'decision' : 'bugfix',
    title: `Connection pool size ${i}`,
    subtitle: null,
    narrative: `Logins expire after ${i} minutes because the cache was dropped.`,
    facts: ['jwt'],
    concepts: [],
    filesRead: [],
    filesModified: ['src/auth/jwt.ts'],
    functionsChanged: [],
    agent: null,
    promptNumber: 1,
    discoveryTokens: 100,
    discoveryEstimated: true,
    sources: [],
    model: null,
    promptVersion: null,
  }))
  const session = {
    kind: 'session',
    id: 'imported',
    project: key,
    client: 'claude-code',
    cwd: project,
    prompts: 1,
    startedAt: at,
    heardAt: at,
  }
  const passages = Array.from({ length: 20 }, (_, i) => ({
    kind: 'passage',
    session: 'imported',
    project: key,
    eventId: `imported-${i}`,
    position: 0,
    promptNumber: 1,
    // Passages are kept for a limited time.
    at: Date.now() - i * 60_000,
    passage: 'closing',
    subject: null,
    outcome: null,
    text: `The connection pool has ${i} connections now.`,
  }))
  const records = [{ kind: 'project', key, name }, session, ...observations, ...passages]
  const lines = [
    { 'claude-mem': 1, program: '0.1.0', exportedAt: '2026-01-02T00:00:00Z' },
    ...records,
    { kind: 'end', records: records.length },
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}

function transcript(): string {
  const common = { sessionId: 'transcript-1', cwd: project, version: '2.1.197', timestamp: '2026-01-03T10:00:00.000Z' }
  const lines = [
    { ...common, type: 'user', uuid: 'u-1', message: { role: 'user', content: 'what is in this project?' } },
    {
      ...common,
      type: 'assistant',
      uuid: 'u-2',
      message: { id: 'm-1', role: 'assistant', content: [{ type: 'text', text: 'A shop.' }] },
    },
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}
