import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { MemError } from '../../errors.ts'
import type { Adapter, Client, Program, Scope, Where } from '../../install/clients/adapter.ts'
import type { Installed } from '../../install/install.ts'
import { dataDirectory } from '../../paths.ts'
import { type LoadedSettings, loadSettings, SETTINGS_FILE } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError } from '../failure.ts'
import type { ObserverPlan } from '../observer-choice.ts'
import { clean } from '../text.ts'

export const dryRunOption = { type: 'boolean', describe: 'Show the change, make none' } as const
export const placeOptions = {
  client: { type: 'string', describe: 'claude-code or cursor', default: 'claude-code' },
  scope: { type: 'string', describe: 'user: everywhere; project: only in the one you are in', default: 'user' },
} as const

export const install = command({
  usage: 'install',
  group: 'Connect it',
  summary: 'Have Claude Code or Cursor report its sessions and offer the memory: hooks and MCP server',
  about:
    "Adds claude-mem's hooks and its MCP server to the client's own settings: for Claude Code ~/.claude/settings.json and " +
    '~/.claude.json (or in CLAUDE_CONFIG_DIR), for Cursor ~/.cursor/hooks.json and mcp.json; with --scope project those of ' +
    'the project. All of them are changed or none; everything else in them stays as it is, and copies are kept. Run it again ' +
    'after node or claude-mem has moved, or after an update of the client: what is there is brought up to date, nothing is ' +
    'added twice. On a terminal it asks who observes; --provider says so without a question, and without either the ' +
    'observer stays as it is (offline, where none is set).',
  examples: [
    ['claude-mem install --dry-run', 'what would change'],
    ['claude-mem install', ''],
    ['claude-mem install --provider claude-code', 'your subscription observes'],
    ['pass show gemini | claude-mem install --provider gemini --key-stdin', 'a model by a key'],
    ['claude-mem install --client cursor', ''],
    ['claude-mem install --scope project', 'only for the project you are in'],
    ['claude-mem uninstall', 'undo it'],
  ],
  positionals: {},
  options: {
    ...placeOptions,
    provider: { type: 'string', describe: 'Who observes: offline, claude-code, anthropic, gemini or openrouter' },
    'key-stdin': { type: 'boolean', describe: 'Read the key for --provider from standard input' },
    'dry-run': dryRunOption,
    json: jsonOption,
  },
  run: async ({ client, scope, provider, 'key-stdin': keyStdin, 'dry-run': dryRun, json }, cli) => {
    const { install: installEntries } = await import('../../install/install.ts')
    const { dryRunLines, installedLines, noteLines } = await import('../render/install.ts')
    const { adapter, where, program } = await placeOf(cli, client, scope)
    for (const file of [program.hook, program.cli]) {
      if (!existsSync(file)) throw new MemError('internal', `${file} is missing; install claude-mem again`)
    }
    const loaded = loadSettings(cli.paths.dataDir, cli.env)
    const found = await adapter.find(where)
    const quiet = json === true || dryRun === true
    const observer = await planOf(cli, { provider, keyStdin: keyStdin === true, quiet }, loaded, found)
    // Before anything is written: what cannot be understood could not be set afterwards.
    if (observer !== null) (await import('../settings-file.ts')).readSettings(cli.paths.dataDir)
    const circumstances = { version: found?.version ?? null, fileContext: loaded.values.CLAUDE_MEM_FILE_CONTEXT }
    const ground = { dataDir: cli.paths.dataDir, now: new Date(), dryRun: dryRun === true }
    const result = installEntries(adapter, where, program, circumstances, ground)
    const set = dryRun === true ? null : await setObserver(cli, observer)
    const notes = [...notesOn(cli, adapter, found, program, result, dryRun === true), ...observerNotes(cli, observer)]
    const view = { client: adapter.name, scope: where.scope, dryRun: dryRun === true, program: found, ...result, notes }
    if (json === true)
      cli.printJson({ ...view, observer: observer?.provider ?? null, restarted: set?.restarted ?? false })
    else if (dryRun === true) {
      const set = observer === null ? [] : [wouldSet(cli, observer)]
      cli.print(...dryRunLines(result.files, cli.look()), ...set, ...noteLines(notes, cli.look()))
    } else {
      const done = { title: adapter.title, found, result, observer, restarted: set?.restarted ?? false }
      cli.print(...installedLines(done, undoCommand(adapter, where.scope), cli.look()), ...noteLines(notes, cli.look()))
    }
    return 0
  },
})

/** Which client's files are meant, for installing and for undoing it. */
export async function placeOf(
  cli: Cli,
  client: string,
  scope: string,
): Promise<{ adapter: Adapter; where: Where; program: Program }> {
  const { CLIENTS, clientNamed } = await import('../../install/clients/index.ts')
  const { CLI_FILE, HOOK_FILE } = await import('../../install/command-line.ts')
  const { projectRoot } = await import('../../memory/project.ts')
  const names = CLIENTS.map(({ name }) => name)
  const adapter = clientNamed(oneOf('client', client, names))
  if (adapter === undefined) throw new UsageError(`unknown client "${client}"`)
  const where: Where = {
    scope: oneOf<Scope>('scope', scope, ['user', 'project']),
    env: cli.env,
    home: homedir(),
    root: projectRoot(process.cwd()),
  }
  const own = new Set(adapter.files({ ...where, scope: 'user' }).map(({ path }) => path))
  if (where.scope === 'project' && adapter.files(where).some(({ path }) => own.has(path))) {
    throw new UsageError(
      `${where.root} is where your own settings are, not a project; go into one, or leave --scope out`,
    )
  }
  const program = { node: process.execPath, hook: join(cli.dist, HOOK_FILE), cli: join(cli.dist, CLI_FILE) }
  return { adapter, where, program }
}

export function undoCommand(adapter: Adapter, scope: Scope): string {
  const words = ['claude-mem uninstall']
  if (adapter.name !== placeOptions.client.default) words.push(`--client ${adapter.name}`)
  if (scope !== placeOptions.scope.default) words.push(`--scope ${scope}`)
  return words.join(' ')
}

interface Asked {
  provider: string | undefined
  keyStdin: boolean
  /** Nobody reads a question. */
  quiet: boolean
}

/** Null: the observer stays as it is. */
async function planOf(
  cli: Cli,
  { provider, keyStdin, quiet }: Asked,
  loaded: LoadedSettings,
  client: Client | null,
): Promise<ObserverPlan | null> {
  if (keyStdin && provider === undefined) throw new UsageError('--key-stdin needs --provider: whose key is it?')
  const isAsked = provider === undefined && cli.interactive && !quiet
  if (provider === undefined && !isAsked) return null
  const { chooseObserver, observerNamed, planObserver } = await import('../observer-choice.ts')
  const { surroundingsOf } = await import('../../observer/choose.ts')
  const { askHidden, readValue } = await import('../secret-input.ts')
  const found = await surroundingsOf(cli.env)
  // One that lies where its installer puts it needs not be on the PATH.
  const around = { ...found, claude: found.claude ?? (client?.version === null ? null : (client?.path ?? null)) }
  const terminal = { input: process.stdin, output: process.stderr }
  const chosen = provider === undefined ? await chooseObserver(loaded, around, terminal) : observerNamed(provider)
  if (chosen === null) return null
  if (keyStdin && (chosen === 'offline' || chosen === 'claude-code')) throw new UsageError(`${chosen} takes no key`)
  const canAsk = cli.interactive && !quiet
  const ask = keyStdin
    ? () => readValue(process.stdin)
    : canAsk
      ? (name: string) => askHidden(`${name}: `, terminal.input, terminal.output)
      : null
  return await planObserver(chosen, loaded, around, { always: keyStdin, ask })
}

/** A running daemon takes settings up at its start: it is started again. */
async function setObserver(cli: Cli, plan: ObserverPlan | null): Promise<{ restarted: boolean } | null> {
  if (plan === null) return null
  const { setSetting } = await import('../settings-file.ts')
  const { askStatus, ensureStarted, stopDaemon } = await import('../daemon-process.ts')
  for (const [name, value] of plan.settings) setSetting(cli.paths.dataDir, name, value)
  if ((await askStatus(cli.paths)) === null) return { restarted: false }
  await stopDaemon(cli)
  await ensureStarted(cli)
  return { restarted: true }
}

/** Without the values: one may be a key. */
function wouldSet(cli: Cli, { provider, settings }: ObserverPlan): string {
  const names = settings.map(([name]) => name).join(' and ')
  return `${names} would be set in ${clean(join(cli.paths.dataDir, SETTINGS_FILE))}: ${provider} observes`
}

function observerNotes(cli: Cli, plan: ObserverPlan | null): string[] {
  const inEnvironment = cli.env.CLAUDE_MEM_PROVIDER
  if (plan === null) return []
  if (inEnvironment === undefined || inEnvironment === plan.provider) return [...plan.notes]
  return [...plan.notes, `The environment says CLAUDE_MEM_PROVIDER=${inEnvironment}, which wins over the settings.`]
}

function notesOn(
  cli: Cli,
  adapter: Adapter,
  client: Client | null,
  program: Program,
  result: Installed,
  dryRun: boolean,
): string[] {
  const notes: string[] = []
  const without = result.leftOut.length === 0 ? '' : ` (without ${result.leftOut.join(' and ')})`
  if (client === null && adapter.name === 'claude-code') {
    notes.push(
      `No claude program was found, so only the events that every version knows ${dryRun ? 'would be' : 'are'} ` +
        `registered${without}. Once it is on your PATH, run claude-mem install again.`,
    )
  } else if (client === null) {
    notes.push(`No ${adapter.title} was found here; it will find its hooks when it comes.`)
  } else if (result.leftOut.length > 0) {
    notes.push(
      `${adapter.title} ${client.version} does not know ${result.leftOut.join(' and ')}, which it would answer by ` +
        'switching off every hook: left out. After updating it, run claude-mem install again.',
    )
  }
  for (const { file, taken } of result.files) {
    if (!taken) continue
    notes.push(
      `${file} has a server named claude-mem that is not this one: it was left as it is, and ours is not there.`,
    )
  }
  notes.push(...result.notes)
  if (/[\\/]_npx[\\/]/.test(program.hook)) {
    notes.push(
      'claude-mem runs from a cache of npx that may be emptied: npm install -g claude-mem, then install again.',
    )
  }
  if (cli.paths.dataDir !== dataDirectory({})) {
    notes.push(
      `The memory is kept in ${cli.paths.dataDir} only where CLAUDE_MEM_DATA_DIR says so: set it for ${adapter.title} too.`,
    )
  }
  return notes
}
