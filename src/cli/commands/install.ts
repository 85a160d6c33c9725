/** `claude-mem install` and `claude-mem uninstall`: hooks and MCP server in the settings of a client. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CLIENT_NAMES } from '../../domain/clients.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { commandCall, currentDist } from '../../lib/installed-program.ts'
import { COMMAND_NAME } from '../../lib/names.ts'
import { dataDirectory } from '../../lib/paths.ts'
import {
  type LoadedSettings,
  loadSettings,
  OWN_SETTINGS_FILE,
  originalDatabase,
  settingsFileName,
} from '../../settings/settings.ts'
import { readSettingsObject } from '../../settings/settings-file.ts'
import type { InstallRecord } from '../../setup/install/change.ts'
import type {
  InstallAdapter,
  InstalledClient,
  InstallScope,
  InstallTarget,
  ProgramPaths,
} from '../../setup/install/clients/adapter.ts'
import type { TrustedHook } from '../../setup/install/entry-format.ts'
import type { HookKind, InstallResult, UninstallResult } from '../../setup/install/install.ts'
import type { CommandState, CommandSurroundings } from '../../setup/program/shell-command.ts'
import { commaList, oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED, yesOption } from '../command.ts'
import { parseClients } from '../filters.ts'
import { askLine, askSecret, readStdinValue } from '../input.ts'
import type { ObserverChange } from '../observer-choice.ts'
import { isInNpxCache } from '../program-versions.ts'
import { installDryRunLines, installedLines, installNoteLines, uninstalledLines } from '../render/install.ts'
import { terminalSafe } from '../text.ts'
import { setSetting } from './config.ts'

const dryRunOption = { type: 'boolean', describe: 'Print the change, make none' } as const
const targetOptions = {
  client: { type: 'string', describe: `${CLIENT_NAMES.join(', ')}; several with commas, or all` },
  scope: { type: 'string', describe: 'user: all projects; project: only the current one', default: 'user' },
} as const

export const installCommand = defineCommand({
  usage: 'install',
  group: 'Integrations',
  summary: 'Connect coding agents: hooks that report their sessions, and the MCP server',
  about:
    'Copies the program into the data directory (program/current), where clients run it, and puts the command claude-mem into ' +
    '~/.local/bin, unless a file of another program has that name there: the clone can be deleted. If a new shell does not ' +
    "find the command, it prints the line to add to the shell's profile. Adds claude-mem's hooks and its MCP server to the client's own settings: for Claude Code ~/.claude/settings.json and " +
    '~/.claude.json (or in CLAUDE_CONFIG_DIR), for the others see docs/agents.md; with --scope project those of the project. ' +
    'Without --client it looks for all clients on this machine; on a terminal it shows what it found and asks, with --yes it ' +
    'takes all of them, and otherwise only Claude Code. Codex runs hooks only after you have reviewed and trusted them there; ' +
    '--trust-hooks writes that trust into its config.toml for our hooks, so that it never asks you about them. Either all files are changed or none; other entries are not changed, and copies of the files are kept. ' +
    'Run it again after node or claude-mem has moved, or after an update of the client: existing entries are updated, ' +
    'nothing is added twice. On a terminal it asks for the observer; --provider sets it without a question, and without ' +
    'either the observer stays as it is (offline, if none is set). There are two hooks: node, a node program, works ' +
    'everywhere; fast, a shell script with curl for Linux and macOS, takes a fraction of a node start and hands over to the ' +
    'other one when the daemon does not answer. On a terminal both are measured and the fast one is offered; --hook decides ' +
    'without a question, and without either the registered one stays (node, if none is).',
  examples: [
    ['claude-mem install --dry-run', 'what would change'],
    ['claude-mem install', ''],
    ['claude-mem install --provider claude-code', 'with your subscription as observer'],
    ['pass show gemini | claude-mem install --provider gemini --key-stdin', 'a model with an API key'],
    ['claude-mem install --client codex,gemini', 'other agents'],
    ['claude-mem install --client all --dry-run', 'what would change in each agent that is found here'],
    ['claude-mem install --hook fast', 'the hook without a node start (Linux, macOS; needs curl)'],
    ['claude-mem install --scope project', 'only for the current project'],
    ['claude-mem uninstall', 'undo it'],
  ],
  options: {
    ...targetOptions,
    provider: { type: 'string', describe: 'The observer: offline, claude-code, anthropic, gemini or openrouter' },
    'key-stdin': { type: 'boolean', describe: 'Read the API key for --provider from standard input' },
    link: { type: 'boolean', describe: 'For development: register this program itself, copy nothing' },
    hook: { type: 'string', describe: 'fast: sh and curl, a fraction of a node start; node: everywhere' },
    'trust-hooks': {
      type: 'boolean',
      describe: 'Codex: also write that you trust our hooks, instead of your review in Codex',
    },
    yes: { ...yesOption, describe: 'Do not ask: without --client in all clients that are found' },
    'dry-run': dryRunOption,
  },
  run: async ({ client, scope, ...args }, cli) => {
    const { provider, 'key-stdin': keyStdin, link, hook, 'trust-hooks': trustHooks, yes, 'dry-run': dryRun } = args
    const chosen = await chooseClients(cli, { client, scope, yes, dryRun, link })
    await install(cli, chosen, { dryRun, provider, keyStdin, yes, link, hook, trustHooks })
  },
})

export interface InstallClient {
  adapter: InstallAdapter
  where: InstallTarget
  program: ProgramPaths
}

/** A client that is going to be connected, and the program that was found of it. */
interface ChosenClient extends InstallClient {
  found: InstalledClient | null
}

interface ChosenClients {
  clients: ChosenClient[]
  /** Clients that were found and not chosen. */
  others: InstallAdapter[]
}

interface InstallOptions {
  trustHooks: boolean
  yes: boolean
  dryRun: boolean
  provider: string | undefined
  keyStdin: boolean
  /** The program is used where it is. */
  link: boolean
  hook: string | undefined
}

async function install(cli: Cli, { clients, others }: ChosenClients, options: InstallOptions): Promise<void> {
  const { dryRun, link } = options
  const [setup, { rollBack }, { programPaths }] = await Promise.all([
    import('../../setup/install/install.ts'),
    import('../../setup/install/change.ts'),
    import('../../setup/program/place.ts'),
  ])
  const own = programPaths(cli.dist, cli.paths)
  for (const file of [own.hook, own.cli]) {
    if (!existsSync(file)) throw new MemError('internal', `${file} is missing; install claude-mem again`)
  }
  const { dataDir } = cli.paths
  const loaded = loadSettings(dataDir, cli.env)
  const claude = clients.find(({ adapter }) => adapter.name === CLAUDE_CODE)
  const observer = await chooseObserverChange(cli, options, loaded, claude?.found ?? null)
  const hook = await chooseHook(cli, clients, own, options)
  // Fails before anything is written if the settings file cannot be parsed, because it could not be changed later.
  if (observer !== null) readSettingsObject(dataDir)
  const undo: (() => void)[] = []
  const change = (chosen: ChosenClient, dry: boolean, trust?: readonly TrustedHook[]): InstallResult => {
    const { adapter, where, found } = chosen
    const program = { ...chosen.program, built: cli.dist, ...(hook.curl === null ? {} : { curl: hook.curl }) }
    const base = { version: found?.version ?? null, fileContext: loaded.values.CLAUDE_MEM_FILE_CONTEXT }
    const circumstances = trust === undefined ? base : { ...base, trust }
    return setup.installClient(adapter, where, program, circumstances, { dataDir, now: new Date(), dryRun: dry, undo })
  }
  const register = async (): Promise<ClientResult[]> => {
    const registered: ClientResult[] = []
    try {
      for (const client of clients) {
        const result = change(client, false)
        const trust = options.trustHooks ? await hookHashes(client, result.command) : null
        // The hashes are of what was installed just now; the second change has the notes that apply then.
        const trusted = trust === null ? result : change(client, false, trust)
        registered.push({ client, result: { ...trusted, changed: result.changed || trusted.changed } })
      }
    } catch (error) {
      const failure = rollBack(undo, error)
      throw failure === error ? withSentence(error, 'The files of all clients are as before.') : failure
    }
    return registered
  }
  // A file that cannot be changed is found before the program is copied, and before the files of another client are changed.
  const planned = clients.map(
    (client): ClientResult => ({ client, result: orWithout(client, clients, () => change(client, true)) }),
  )
  if (options.trustHooks) await checkTrust(planned, dryRun)
  const results = dryRun ? planned : link ? await register() : await placeAndRegister(cli, register)
  const { placeCommand } = await import('../../setup/program/shell-command.ts')
  const around = await commandSurroundings(cli, link)
  const command = await placeCommand(around, dryRun)
  const restarted = !dryRun && observer !== null && (await applyObserverChange(cli, observer))
  const { commandLines, commandNotes } = await commandReport(command, around, dryRun)
  const installations = results.map(({ client, result }) => installationView(cli, client, result, hook, dryRun))
  const [only] = installations
  const observerView = { observer: observer?.provider ?? null, restarted, shellCommand: command }
  const view =
    installations.length === 1 && only !== undefined
      ? { ...only, notes: [...only.notes, ...observerNotes(cli, observer)], ...observerView }
      : { dryRun, clients: installations, notes: observerNotes(cli, observer), ...observerView }
  printResult(cli, view, () => {
    const display = cli.display()
    const plannedObserver = dryRun && observer !== null ? [plannedSettingsText(cli, observer)] : []
    return [
      ...results.flatMap(({ client, result }, index) => {
        const { adapter, where, found } = client
        const notes = [
          ...(installations[index]?.notes ?? []),
          ...(index === results.length - 1 ? [...observerNotes(cli, observer), ...commandNotes] : []),
        ]
        const installed = { title: adapter.title, found, result, observer, restarted }
        const undo = uninstallCommandText(adapter, where.scope)
        const call = commandCall(cli.paths)
        const lines = dryRun
          ? installDryRunLines(result.files, display)
          : installedLines(installed, { call, undo: undo.replace(COMMAND_NAME, call) }, display)
        const planned = index === results.length - 1 ? [...commandLines, ...plannedObserver] : []
        return [...(index === 0 ? [] : ['']), ...lines, ...planned, ...installNoteLines(notes, display)]
      }),
      ...otherClientLines(others),
    ]
  })
}

async function commandSurroundings(cli: Cli, link = false): Promise<CommandSurroundings> {
  const { programPaths } = await import('../../setup/program/place.ts')
  const { node, cli: file } = programPaths(link ? cli.dist : currentDist(cli.paths), cli.paths)
  return { paths: cli.paths, env: cli.env, home: homedir(), node, cli: file }
}

async function commandReport(command: CommandState, around: CommandSurroundings, dryRun: boolean) {
  const { commandProblem, commandText } = await import('../../setup/program/shell-command.ts')
  const found = commandProblem(command, around)
  const file = terminalSafe(command.file)
  const text = commandText(around).trimEnd().split(/\r?\n/)
  const planned = [`${file} would be written:`, ...text.map((line) => `+${terminalSafe(line)}`)]
  const lines = command.type !== 'placed' ? [] : dryRun ? planned : [`The command ${COMMAND_NAME} is ${file}`]
  return { commandLines: lines, commandNotes: found === null ? [] : [`${found.detail}. To do: ${found.fix}`] }
}

interface ClientResult {
  client: ChosenClient
  result: InstallResult
}

/** An error of one client's files also says how to connect the others. */
function orWithout<T>({ adapter }: InstallClient, clients: readonly InstallClient[], make: () => T): T {
  try {
    return make()
  } catch (error) {
    const others = clients.map((one) => one.adapter.name).filter((name) => name !== adapter.name)
    if (!(error instanceof MemError) || others.length === 0) throw error
    throw withSentence(
      error,
      `To connect the others without ${adapter.title}: claude-mem install --client ${others.join(',')}`,
    )
  }
}

function withSentence(error: unknown, sentence: string): unknown {
  if (!(error instanceof MemError)) return error
  const { code, message, retryable } = error
  return new MemError(code, `${message.replace(/\.$/, '')}. ${sentence}`, { cause: error, retryable })
}

/** Whether hashes can be asked for at all: those of our hooks are known only when the client's files are written. */
async function checkTrust(planned: readonly ClientResult[], dryRun: boolean): Promise<void> {
  for (const { client, result } of planned) {
    try {
      if (dryRun) trustedProgram(client)
      else await hookHashes(client, result.command)
    } catch (error) {
      throw withSentence(error, 'Nothing was changed.')
    }
  }
}

/** Null: this client asks for no trust. */
async function hookHashes(client: ChosenClient, command: string): Promise<TrustedHook[] | null> {
  const program = trustedProgram(client)
  return program === null ? null : await program.trust.hashes(client.where, program.found, command)
}

/** The client to ask for the hashes of hooks; null: it needs no trust. */
function trustedProgram({ adapter: { trust, title }, found }: ChosenClient) {
  if (trust === undefined) return null
  if (found !== null && found.version !== null) return { trust, found }
  const fix = 'put it on your PATH, or install without --trust-hooks'
  throw new MemError(
    'not_found',
    `--trust-hooks asks ${title} for the hashes of its hooks, and it was not found: ${fix}`,
  )
}

function installationView(cli: Cli, client: ChosenClient, result: InstallResult, hook: HookChoice, dryRun: boolean) {
  const { adapter, where, found } = client
  const notes = [...installNotes(cli, client, found, result, dryRun), ...hook.notes]
  const kind: HookKind = hook.curl === null ? 'node' : 'fast'
  return { hook: kind, client: adapter.name, scope: where.scope, dryRun, program: found, ...result, notes }
}

function otherClientLines(others: readonly InstallAdapter[]): string[] {
  if (others.length === 0) return []
  const titles = others.map(({ title }) => title).join(', ')
  const names = others.map(({ name }) => name).join(',')
  return [
    '',
    `Also on this machine: ${titles}. To connect ${others.length === 1 ? 'it' : 'them'}: claude-mem install --client ${names}`,
  ]
}

const CLAUDE_CODE = 'claude-code'

interface ClientChoice {
  client: string | undefined
  scope: string
  yes: boolean
  dryRun: boolean
  link: boolean
}

/** The clients to connect: those that --client names, those that the user picks, or Claude Code. */
async function chooseClients(cli: Cli, { client, scope, yes, dryRun, link }: ClientChoice): Promise<ChosenClients> {
  const { INSTALL_ADAPTERS } = await import('../../setup/install/clients/index.ts')
  const names = client === undefined ? null : parseClients(client)
  const wanted = names ?? INSTALL_ADAPTERS.map(({ name }) => name)
  const candidates = await Promise.all(
    wanted.map(async (name) => {
      const resolved = await resolveClient(cli, name, scope, link)
      return { ...resolved, found: await resolved.adapter.find(resolved.where) }
    }),
  )
  if (names !== null) return { clients: candidates, others: [] }
  // An extension of an editor brings a Claude Code that is on no PATH.
  const present = candidates.filter(
    ({ adapter, where, found }) =>
      found !== null || (adapter.name === CLAUDE_CODE && adapter.files(where).some(({ path }) => existsSync(path))),
  )
  if (present.length > 0 && (client !== undefined || yes)) return { clients: present, others: [] }
  if (client !== undefined) {
    throw new MemError(
      'not_found',
      `no client was found on this machine; name one: claude-mem install --client ${CLAUDE_CODE}`,
    )
  }
  const standard = candidates.filter(({ adapter }) => adapter.name === CLAUDE_CODE)
  const canAsk = cli.interactive && !cli.json && !dryRun
  const picked =
    canAsk && present.some(({ adapter }) => adapter.name !== CLAUDE_CODE) ? await pickClients(present) : standard
  const clients = picked.length === 0 ? standard : picked
  return { clients, others: present.filter((one) => !clients.includes(one)).map(({ adapter }) => adapter) }
}

/** Shows the clients with the files that would be changed, and asks for some of them. */
async function pickClients(present: readonly ChosenClient[]): Promise<ChosenClient[]> {
  const lines = present.map(({ adapter, where, found }, index) => {
    const files = adapter.files(where).map(({ path }) => terminalSafe(path))
    const version = found?.version ?? null
    return `  ${index + 1}  ${adapter.title}${version === null ? '' : ` ${version}`}: ${files.join(', ')}`
  })
  process.stderr.write(`Coding agents on this machine, and the files that would be changed:\n${lines.join('\n')}\n`)
  const streams = { input: process.stdin, output: process.stderr }
  const numbers = commaList(await askLine('Which ones? Numbers with commas; Enter for all: ', streams))
  if (numbers.length === 0) return [...present]
  return numbers.map((given) => {
    const chosen = present[Number(given) - 1]
    if (chosen === undefined) throw new UsageError(`there is no client ${given}; choose 1 to ${present.length}`)
    return chosen
  })
}

/** Copies the program, registers it and makes it the current one. A running daemon of an older version hands over to it. */
async function placeAndRegister<T>(cli: Cli, register: () => Promise<T>): Promise<T> {
  const { placeProgram, switchProgram, withProgramLock } = await import('../../setup/program/place.ts')
  const { ensureDatabaseDriver } = await import('../daemon-process.ts')
  const { handOverTo, refuseNewerDatabase } = await import('../program-versions.ts')
  await ensureDatabaseDriver(cli)
  const waiting = () => cli.progress('Waiting for another installation …')
  const { result, program } = await withProgramLock(
    cli.paths,
    async () => {
      cli.progress('Copying the program …')
      const placed = await placeProgram(cli.dist, cli.paths)
      refuseNewerDatabase(cli.paths, placed)
      switchProgram(cli.paths, placed)
      return { result: await register(), program: placed }
    },
    waiting,
  ).finally(() => cli.progress(''))
  await handOverTo(cli, program)
  return result
}

/** The client and the files that --client and --scope name. `link`: the program is this one, not the installed one. */
async function resolveClient(cli: Cli, client: string, scope: string, link = false): Promise<InstallClient> {
  const [{ INSTALL_ADAPTERS, installAdapterNamed }, { programPaths }, { workingTreeRoot }] = await Promise.all([
    import('../../setup/install/clients/index.ts'),
    import('../../setup/program/place.ts'),
    import('../../domain/project.ts'),
  ])
  const names = INSTALL_ADAPTERS.map(({ name }) => name)
  const adapter = installAdapterNamed(oneOf('client', client, names))
  if (adapter === undefined) throw new UsageError(`unknown client "${client}"`)
  const where: InstallTarget = {
    scope: oneOf<InstallScope>('scope', scope, ['user', 'project']),
    env: cli.env,
    home: homedir(),
    root: workingTreeRoot(process.cwd()),
  }
  const userFiles = new Set(adapter.files({ ...where, scope: 'user' }).map(({ path }) => path))
  const isUserScope = adapter.files(where).some(({ path }) => userFiles.has(path))
  refuseIf(
    where.scope === 'project' && isUserScope,
    `${where.root} contains your user settings and is not a project; change to one, or omit --scope`,
  )
  return { adapter, where, program: programPaths(link ? cli.dist : currentDist(cli.paths), cli.paths) }
}

function uninstallCommandText(adapter: InstallAdapter, scope: InstallScope): string {
  const client = adapter.name === CLAUDE_CODE ? '' : ` --client ${adapter.name}`
  return `claude-mem uninstall${client}${scopeWords(scope)}`
}

function scopeWords(scope: InstallScope): string {
  return scope === targetOptions.scope.default ? '' : ` --scope ${scope}`
}

/** `curl` is null for the hook that is a node program. */
interface HookChoice {
  curl: string | null
  notes: string[]
}

/** One for all clients. `own`: this program, which is tried; what is registered may not be there yet. */
async function chooseHook(
  cli: Cli,
  clients: readonly InstallClient[],
  own: ProgramPaths,
  { hook, dryRun, yes }: InstallOptions,
): Promise<HookChoice> {
  const node: HookChoice = { curl: null, notes: [] }
  const given = hook === undefined ? null : oneOf<HookKind>('hook', hook, ['fast', 'node'])
  if (given === 'node') return node
  const [{ findFastHook, measureHooks }, { registeredHookKind }] = await Promise.all([
    import('../../setup/install/fast-hook.ts'),
    import('../../setup/install/install.ts'),
  ])
  const canAsk = cli.interactive && !cli.json && !dryRun && !yes
  const options = { dataDir: cli.paths.dataDir, now: new Date(), dryRun }
  const isRegistered =
    given === null &&
    clients.some((client) => {
      const { adapter, where, program } = client
      return orWithout(client, clients, () => registeredHookKind(adapter, where, program, options)) === 'fast'
    })
  if (given === null && !isRegistered && !canAsk) return node
  const search = await findFastHook(own, cli.env)
  if (search.type === 'missing') {
    if (given === 'fast') {
      throw new MemError(
        'bad_setting',
        `the fast hook does not work here: ${search.reason}. Nothing was changed; to install without it: --hook node`,
      )
    }
    if (!isRegistered) return node
    return { curl: null, notes: [`The fast hook was registered, but it does not work any more: ${search.reason}.`] }
  }
  if (given === 'fast' || isRegistered) return { curl: search.curl, notes: [] }
  const { fastMs, nodeMs } = await measureHooks(own, search.curl, cli.env)
  if (fastMs >= nodeMs) return node
  const question =
    `The client waits for a hook at each tool use. On this machine it takes ${Math.round(nodeMs)} ms, ` +
    `and ${Math.round(fastMs)} ms with the fast hook (sh and curl). Use the fast hook? [Y/n] `
  const answer = await askLine(question, { input: process.stdin, output: process.stderr })
  return /^n/i.test(answer) ? node : { curl: search.curl, notes: [] }
}

/** Null: the observer stays as it is. */
async function chooseObserverChange(
  cli: Cli,
  { provider, keyStdin, dryRun, yes }: InstallOptions,
  loaded: LoadedSettings,
  client: InstalledClient | null,
): Promise<ObserverChange | null> {
  refuseIf(keyStdin && provider === undefined, '--key-stdin needs --provider')
  const canAsk = cli.interactive && !cli.json && !dryRun && !yes
  if (provider === undefined && !canAsk) return null
  const [{ parseObserverName, planObserverChange, promptForObserver }, { readProviderEnvironment }] = await Promise.all(
    [import('../observer-choice.ts'), import('../../observer/provider-choice.ts')],
  )
  const found = await readProviderEnvironment(cli.env)
  // A claude that its installer put elsewhere need not be on the PATH.
  const claude = found.claude ?? (client?.version === null ? null : (client?.path ?? null))
  const environment = { ...found, claude }
  const streams = { input: process.stdin, output: process.stderr }
  const chosen =
    provider === undefined ? await promptForObserver(loaded, environment, streams) : parseObserverName(provider)
  if (chosen === null) return null
  refuseIf(keyStdin && (chosen === 'offline' || chosen === 'claude-code'), `${chosen} takes no key`)
  const askKey = canAsk ? (name: string) => askSecret(`${name}: `, streams.input, streams.output) : null
  const ask = keyStdin ? () => readStdinValue(process.stdin) : askKey
  return await planObserverChange(chosen, loaded, environment, { always: keyStdin, ask })
}

/** Restarts a running daemon, which reads settings at its start. Resolves with whether it was restarted. */
async function applyObserverChange(cli: Cli, change: ObserverChange): Promise<boolean> {
  const { ensureDaemonRunning, fetchDaemonStatus, stopDaemon } = await import('../daemon-process.ts')
  for (const [name, value] of change.settings) setSetting(cli.paths.dataDir, name, value)
  if ((await fetchDaemonStatus(cli.paths)) === null) return false
  await stopDaemon(cli)
  await ensureDaemonRunning(cli)
  return true
}

/** Without values: one of them may be an API key. */
function plannedSettingsText(cli: Cli, { provider, settings }: ObserverChange): string {
  const names = settings.map(([name]) => name).join(' and ')
  return `${names} would be set in ${terminalSafe(join(cli.paths.dataDir, settingsFileName(cli.paths.dataDir)))}: the observer is ${provider}`
}

function observerNotes(cli: Cli, change: ObserverChange | null): string[] {
  if (change === null) return []
  const variable = cli.env.CLAUDE_MEM_PROVIDER
  if (variable === undefined || variable === change.provider) return [...change.notes]
  return [...change.notes, `The environment variable CLAUDE_MEM_PROVIDER=${variable} overrides the settings.`]
}

function installNotes(
  cli: Cli,
  { adapter, program }: InstallClient,
  client: InstalledClient | null,
  result: InstallResult,
  dryRun: boolean,
): string[] {
  const isNpxCache = isInNpxCache(program.hook)
  const { dataDir } = cli.paths
  return [
    ...clientNotes(adapter, client, result, dryRun),
    ...result.files
      .filter(({ taken }) => taken)
      .map(({ file }) => `${file} has another server named claude-mem: it was not changed, and ours was not added.`),
    ...result.notes,
    ...originalNotes(dataDir),
    ...(isNpxCache ? ['claude-mem runs from the cache of npx, which may be deleted: install it without --link.'] : []),
    ...(isInNpxCache(cli.dist) && !isNpxCache ? [`To run commands: node ${JSON.stringify(program.cli)} status`] : []),
    ...(dataDir === dataDirectory({})
      ? []
      : [`${adapter.title} uses the memory in ${dataDir}: its hooks and its MCP server name it.`]),
  ]
}

/** The original claude-mem has the same data directory. Its files are left alone. */
export function originalNotes(dataDir: string): string[] {
  const original = originalDatabase(dataDir)
  if (original === null) return []
  return [
    `${dataDir} also has the memory of the original claude-mem, which stays as it is. To copy it into this one: ` +
      `claude-mem import ${original}`,
    ...(settingsFileName(dataDir) === OWN_SETTINGS_FILE
      ? [`settings.json there is the original's and is not read; ours is ${OWN_SETTINGS_FILE}.`]
      : []),
  ]
}

function clientNotes(
  adapter: InstallAdapter,
  client: InstalledClient | null,
  { leftOut }: InstallResult,
  dryRun: boolean,
): string[] {
  const events = leftOut.join(' and ')
  if (client === null && adapter.name === 'claude-code') {
    const without = leftOut.length === 0 ? '' : ` (without ${events})`
    return [
      `No claude program was found, so only the events that every version knows ${dryRun ? 'would be' : 'are'} ` +
        `registered${without}. Run claude-mem install again when it is on your PATH.`,
    ]
  }
  if (client === null) return [`No ${adapter.title} was found here; its hooks work once it is installed.`]
  if (leftOut.length === 0) return []
  return [
    `${adapter.title} ${client.version} does not know ${events} and would disable all hooks because of it: left out. ` +
      'Run claude-mem install again after updating it.',
  ]
}

export const uninstallCommand = defineCommand({
  usage: 'uninstall',
  group: 'Integrations',
  summary: "Remove our entries from the client's settings; --purge deletes the memory too",
  about:
    "Restores the client's settings to what they were before claude-mem install, byte for byte; if they were changed since, " +
    "only claude-mem's entries are removed. A client whose files cannot be changed is named and does not keep the others from " +
    'being uninstalled; the exit code is 1 then. The memory is kept. --purge does this for every client and project that ' +
    'claude-mem was installed in, removes the sections it wrote into files (claude-mem files), stops the daemon and deletes ' +
    'the data directory, with the whole memory, its backups, your claude-mem settings and prompts. It asks first. To keep ' +
    'the memory, export it before: claude-mem export.',
  examples: [
    ['claude-mem uninstall --dry-run', 'what would change'],
    ['claude-mem uninstall', ''],
    ['claude-mem uninstall --client codex', ''],
    ['claude-mem uninstall --client all', 'in every client'],
    ['claude-mem uninstall --purge --dry-run', 'what would be deleted'],
    ['claude-mem uninstall --purge', 'remove everything'],
  ],
  options: {
    ...targetOptions,
    purge: { type: 'boolean', describe: 'In all clients and projects, and delete the memory' },
    yes: { ...yesOption, describe: 'With --purge: do not ask for confirmation' },
    'dry-run': dryRunOption,
  },
  run: async ({ client, scope, purge, yes, 'dry-run': dryRun }, cli) => {
    if (purge) {
      const isForOne = client !== undefined || scope !== 'user'
      refuseIf(isForOne, '--purge removes it from every client and project, and the memory: omit --client and --scope')
      const { purgeAll } = await import('../purge.ts')
      return await purgeAll(cli, await resolveClient(cli, CLAUDE_CODE, scope), { dryRun, yes })
    }
    refuseIf(yes, '--yes is an option of --purge')
    const names = await uninstalledClients(cli, client)
    return await uninstall(cli, await Promise.all(names.map((name) => resolveClient(cli, name, scope))), dryRun)
  },
})

/** `all`: those that have a record, and Claude Code. */
async function uninstalledClients(cli: Cli, client: string | undefined): Promise<readonly string[]> {
  if (client === undefined) return [CLAUDE_CODE]
  const named = parseClients(client)
  if (named !== null) return named
  const { allRecords } = await import('../../setup/install/change.ts')
  return [...new Set([CLAUDE_CODE, ...allRecords(cli.paths.dataDir).map((record) => record.client)])]
}

interface Uninstalled {
  client: InstallClient
  result: UninstallResult
}

/** Clients whose files can be changed are uninstalled, also if those of another cannot. Resolves with the exit code. */
async function uninstall(cli: Cli, clients: readonly InstallClient[], dryRun: boolean): Promise<number> {
  const [{ uninstallClient }, { allRecords }] = await Promise.all([
    import('../../setup/install/install.ts'),
    import('../../setup/install/change.ts'),
  ])
  const { dataDir } = cli.paths
  const done: Uninstalled[] = []
  const failed: { client: InstallClient; error: unknown }[] = []
  for (const client of clients) {
    const { adapter, where, program } = client
    try {
      done.push({ client, result: uninstallClient(adapter, where, program, { dataDir, now: new Date(), dryRun }) })
    } catch (error) {
      if (clients.length === 1) throw error
      failed.push({ client, error })
    }
  }
  const around = await commandSurroundings(cli)
  const { longCall, removeCommand } = await import('../../setup/program/shell-command.ts')
  const remaining = allRecords(dataDir)
  // The command stays for other clients.
  const isLast = remaining.every((record) => dryRun && isOf(record, clients))
  const removed = failed.length === 0 && isLast ? removeCommand(around, dryRun) : null
  const call = removed === null ? commandCall(cli.paths) : longCall(around.node, around.cli)
  const views = done.map(({ client: { adapter, where }, result }) => {
    return { client: adapter.name, scope: where.scope, dryRun, ...result, shellCommand: removed }
  })
  const failures = failed.map(({ client, error }) => failedUninstallView(client, error, dryRun))
  printResult(cli, clients.length === 1 ? views[0] : { dryRun, clients: views, failures }, () => [
    ...done.flatMap(({ client, result }, index) => [
      ...(index === 0 || dryRun ? [] : ['']),
      ...(dryRun
        ? installDryRunLines(result.files, cli.display())
        : uninstalledLines(client.adapter.title, result, cli.display())),
    ]),
    ...(removed === null ? [] : [`${terminalSafe(removed)} ${dryRun ? 'would be' : 'is'} removed.`]),
    ...(dryRun ? [] : afterUninstallLines(dataDir, done, remaining, call)),
  ])
  if (!cli.json) for (const { message } of failures) cli.printStderr(`claude-mem: ${terminalSafe(message)}`)
  return failures.length === 0 ? 0 : EXIT_FAILED
}

function isOf({ client, scope }: InstallRecord, clients: readonly InstallClient[]): boolean {
  return clients.some(({ adapter, where }) => adapter.name === client && where.scope === scope)
}

function failedUninstallView({ adapter, where }: InstallClient, error: unknown, dryRun: boolean) {
  // Not the whole truth here: other clients were changed.
  const why = errorMessage(error).replace(/(?:, then try again)?\.? Nothing was changed\.$/, '')
  const message = `${adapter.title} ${dryRun ? 'would stay' : 'stays'} as it is: ${why}. Then: ${uninstallCommandText(adapter, where.scope)}`
  const code = error instanceof MemError ? error.code : 'internal'
  return { client: adapter.name, scope: where.scope, error: code, message }
}

function afterUninstallLines(
  dataDir: string,
  done: readonly Uninstalled[],
  records: readonly InstallRecord[],
  call: string,
): string[] {
  const changed = done.filter(({ result }) => result.changed).map(({ client }) => client)
  const [first] = changed
  if (first === undefined) return otherInstallationLines(records)
  const { adapter, where } = first
  const names = changed.map((client) => client.adapter.name).join(',')
  const again =
    changed.length === 1
      ? uninstallCommandText(adapter, where.scope).replace('uninstall', 'install')
      : `claude-mem install --client ${names}${scopeWords(where.scope)}`
  return [
    '',
    `The memory is kept in ${terminalSafe(dataDir)}. To stop the daemon, if it is running: ${call} stop`,
    `To install it again: ${again.replace(COMMAND_NAME, call)}`,
    ...otherInstallationLines(records),
  ]
}

/** Installations for other clients, or in projects. */
function otherInstallationLines(records: readonly InstallRecord[]): string[] {
  if (records.length === 0) return []
  const files = [...new Set(records.map(({ path }) => terminalSafe(path)))]
  return [
    `It is still installed in ${files.join(', ')}.`,
    'To remove it there, too: claude-mem uninstall --client all; in a project with --scope project',
  ]
}
