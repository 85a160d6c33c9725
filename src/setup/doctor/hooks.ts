/**
 * Checks of a client's hooks: all supported events are registered once, run this version, and are not disabled; and the
 * registered command really works, run with a payload that is ignored.
 */

import { dirname, join } from 'node:path'
import { parseJsonObject } from '../../hook/payload.ts'
import { readTextFile } from '../../lib/files.ts'
import { pluralize } from '../../lib/format.ts'
import { dataDirectory, namedDataDirectory } from '../../lib/paths.ts'
import { VERSION } from '../../lib/version.ts'
import {
  claudeConfigDirectory,
  enabledPlugins,
  ORIGINAL_PLUGIN_ENABLED,
  ORIGINAL_PLUGIN_FIX,
} from '../install/clients/claude-code.ts'
import { HOOK_FILE } from '../install/command-line.ts'
import { fastHookFailure } from '../install/fast-hook.ts'
import { type CommandRun, runCommand } from '../run-command.ts'
import { advice, type CheckRun, type DoctorEnvironment, type DoctorFacts, type Finding, problem } from './check.ts'
import { newestSessionIsReported, unreadableFaults } from './clients.ts'
import {
  type ClientConnection,
  commandWords,
  fastHookWords,
  hookEntries,
  isNode,
  locateCommand,
  type RegisteredHook,
} from './installed.ts'

const CLAUDE_CODE = 'claude-code'

export async function* checkHooks(connection: ClientConnection, facts: DoctorFacts): CheckRun {
  const { environment } = facts
  const entries = hookEntries(connection.files)
  const switches = connection.name === CLAUDE_CODE ? claudeSwitches(environment) : []
  const plugins = switches.filter(({ plugin }) => plugin).map(({ file }) => file)
  const unreadable = [...unreadableFaults(connection.files.filter(({ kind }) => kind === 'hooks'))]
  yield* unreadable
  if (entries.length === 0 && plugins.length === 0) {
    return unreadable.length > 0 ? null : yield* notRegistered(connection, facts)
  }
  for (const fileSwitches of switches) yield* switchFaults(fileSwitches)
  if (entries.length > 0) yield* eventFaults(connection, entries)
  yield* duplicateFaults(connection, entries, plugins)
  if (connection.untrusted.length > 0) {
    const text = `${connection.title} skips ${connection.untrusted.join(', ')}: you have not trusted these hooks in it`
    yield problem(text, `start ${connection.name}, and trust them there (/hooks)`)
  }
  yield* programFaults(connection, entries, environment)
  if (environment.env.CLAUDE_MEM_HOOK_DISABLED === '1') yield DISABLED
  return registeredText(entries, plugins)
}

const DISABLED = advice(
  'CLAUDE_MEM_HOOK_DISABLED=1 is set in this environment: a client started from here is not observed',
  'unset CLAUDE_MEM_HOOK_DISABLED',
)

function registeredText(entries: readonly RegisteredHook[], plugins: readonly string[]): string {
  if (entries.length === 0) return `through the plugin, which is enabled in ${plugins.join(' and ')}`
  const files = [...new Set(entries.map(({ file }) => file.path))]
  return `${pluralize(new Set(entries.map(({ event }) => event)).size, 'event')} in ${files.join(' and ')}`
}

/** No hook is a problem only if no other client has hooks either. */
async function* notRegistered(connection: ClientConnection, facts: DoctorFacts): CheckRun {
  const { title, client, installCommand } = connection
  const all = await facts.connections()
  if (connection !== all[0] || all.some(({ files }) => hookEntries(files).length > 0)) {
    return client === null ? null : `not registered; to observe its sessions: ${installCommand('user')}`
  }
  if (connection.name === CLAUDE_CODE && (await newestSessionIsReported(facts))) {
    const text = 'none is registered, but the newest session was reported: it was probably started with --plugin-dir'
    yield advice(text, `for every session: ${installCommand('user')}`)
  } else {
    yield problem(`no hook is registered in ${title}: its sessions are not observed`, installCommand('user'))
  }
  return null
}

function* eventFaults(connection: ClientConnection, entries: readonly RegisteredHook[]): Generator<Finding> {
  const { title, events, unknown, tooOld, client, installCommand } = connection
  if (tooOld !== null) {
    yield problem(tooOld, `update ${title}, then ${installCommand('user')}`)
    return
  }
  const fix = installCommand(entries[0]?.file.scope ?? 'user')
  const registered = new Set(entries.map(({ event }) => event))
  const missing = events.filter((event) => !registered.has(event))
  const unsupported = unknown.filter((event) => registered.has(event))
  const surplus = [...registered].filter((event) => !events.includes(event) && !unknown.includes(event))
  if (missing.length > 0) {
    const text = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not registered`
    // With hooks written by hand, the missing events may be intended.
    yield entries.some(({ byHand }) => byHand) ? advice(text, `if you want them: ${fix}`) : problem(text, fix)
  }
  if (unsupported.length > 0) {
    const text = `${title} ${client?.version ?? ''} does not know ${unsupported.join(', ')}, and may disable all hooks because of it`
    yield problem(text, fix)
  }
  if (surplus.length > 0) yield advice(`${surplus.join(', ')} is registered but not used`, fix)
}

/** Each event would be reported twice: stored once if it has an id, but at twice the time. */
function* duplicateFaults(
  { uninstallCommand, installCommand }: ClientConnection,
  entries: readonly RegisteredHook[],
  plugins: readonly string[],
): Generator<Finding> {
  const [first] = entries
  if (first === undefined) return
  const repeated = entries.filter(({ event }) => entries.filter((other) => other.event === event).length > 1)
  if (repeated.length > 0) {
    const events = [...new Set(repeated.map(({ event }) => event))]
    const files = [...new Set(repeated.map(({ file }) => file))]
    const text = `registered more than once: ${events.join(', ')} in ${files.map(({ path }) => path).join(' and ')}`
    yield problem(text, files.length > 1 ? uninstallCommand('project') : installCommand(first.file.scope))
  }
  if (plugins.length > 0) {
    const text = `registered in ${first.file.path}, and the plugin is enabled too (${plugins.join(' and ')})`
    yield problem(text, `${uninstallCommand(first.file.scope)}, or disable the plugin`)
  }
}

async function* programFaults(
  { installCommand }: ClientConnection,
  entries: readonly RegisteredHook[],
  environment: DoctorEnvironment,
): AsyncGenerator<Finding> {
  for (const { command, file, byHand } of distinctCommands(entries)) {
    const { missing, version, file: program } = await locateCommand(command, environment)
    const fix = installCommand(file.scope)
    if (missing.length > 0) {
      const text = `hooks in ${file.path} run ${missing.join(' and ')}, which does not exist`
      yield problem(text, byHand ? `put it on the PATH, or write its path into ${file.path}` : fix)
    } else if (version !== null && version !== VERSION) {
      yield problem(`hooks run claude-mem ${version} (${program}), and this program is ${VERSION}`, fix)
    }
    const dataDir = namedDataDirectory(commandWords(command).words) ?? dataDirectory({}, environment.home)
    if (dataDir !== environment.paths.dataDir) {
      const text = `hooks in ${file.path} report to ${dataDir}, and this program uses ${environment.paths.dataDir}`
      yield problem(text, `${fix}; or use the other memory: claude-mem --data-dir ${dataDir} status`)
    }
  }
}

/** One entry per command: usually all events have the same one. */
function distinctCommands(entries: readonly RegisteredHook[]): RegisteredHook[] {
  return entries.filter(({ command }, index) => entries.findIndex((other) => other.command === command) === index)
}

/** What else in Claude Code's settings decides whether hooks run. */
interface Switches {
  file: string
  disableAllHooks: boolean
  /** User hooks are ignored. Only has an effect in an organisation's managed settings. */
  allowManagedHooksOnly: boolean
  plugin: boolean
  /** The plugin of the original claude-mem is enabled. */
  original: boolean
}

/** Settings managed by an organisation. */
const MANAGED_SETTINGS: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/etc/claude-code/managed-settings.json',
  darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
  win32: 'C:\\Program Files\\ClaudeCode\\managed-settings.json',
}

/** All settings files that the client reads for a session in the project. */
function claudeSwitches(environment: DoctorEnvironment): Switches[] {
  const managed = MANAGED_SETTINGS[process.platform]
  const files = [
    join(claudeConfigDirectory(environment.env, environment.home), 'settings.json'),
    join(environment.root, '.claude', 'settings.json'),
    join(environment.root, '.claude', 'settings.local.json'),
    ...(managed === undefined ? [] : [managed]),
  ]
  return [...new Set(files)].flatMap((file) => readSwitches(file, file === managed) ?? [])
}

function readSwitches(file: string, managed: boolean): Switches | null {
  const given = parseJsonObject(readTextFile(file) ?? '')
  // Missing or invalid; an invalid file is reported with our entries.
  if (given === null) return null
  const plugins = enabledPlugins(given)
  return {
    file,
    disableAllHooks: given.disableAllHooks === true,
    allowManagedHooksOnly: managed && given.allowManagedHooksOnly === true,
    plugin: plugins.own,
    original: plugins.original,
  }
}

function* switchFaults(switches: Switches): Generator<Finding> {
  const { file } = switches
  if (switches.disableAllHooks) {
    yield problem(`"disableAllHooks" is true in ${file}: no hook runs`, `remove it from ${file}`)
  }
  if (switches.allowManagedHooksOnly) {
    const fix = 'ask your administrator to allow the hooks of claude-mem'
    yield problem(`${file} allows only hooks of your organisation`, fix)
  }
  if (switches.original) yield advice(`${ORIGINAL_PLUGIN_ENABLED} (${file})`, ORIGINAL_PLUGIN_FIX)
}

/** No client has this event: the hook ignores it. */
const PROBE_EVENT = 'Doctor'
/** A hook normally takes up to 2 times as long as an empty node; from this ratio on something slows it down. */
const SLOW_RATIO = 4

export async function* checkHookRun(connection: ClientConnection, { environment }: DoctorFacts): CheckRun {
  const entries = hookEntries(connection.files)
  const ratios: string[] = []
  for (const { command, file } of distinctCommands(entries.filter(({ isOwn }) => isOwn))) {
    const { missing } = await locateCommand(command, environment)
    // Reported by the hooks check.
    if (missing.length > 0) continue
    const result = await timeCommand(command, connection.name, environment)
    if (typeof result !== 'number') {
      yield problem(`${command} does not work: ${failureText(result)}`, connection.installCommand(file.scope))
      continue
    }
    const ratio = result.toFixed(1)
    ratios.push(ratio)
    yield* fastHookFaults(command, connection.installCommand(file.scope), environment)
    if (result < SLOW_RATIO) continue
    yield advice(
      `it takes ${ratio} times as long as an empty node, and every tool use waits for it`,
      'check again when the machine is idle; then exclude the program from virus scans, or move it to a local disk',
    )
  }
  // Commands that came with a project are not trusted and never run.
  const foreign = new Set(entries.filter(({ isOwn }) => !isOwn).map(({ file }) => file.path))
  const details = [
    ...(ratios.length === 0 ? [] : [`answers, and takes ${ratios.join(' and ')} times as long as an empty node`]),
    ...[...foreign].map((path) => `hooks in ${path} were not installed from here and are not run`),
  ]
  return details.length === 0 ? null : details.join('; ')
}

/** The fast hook works without curl or a daemon, but then it only costs more than the other one. */
async function* fastHookFaults(
  command: string,
  install: string,
  environment: DoctorEnvironment,
): AsyncGenerator<Finding> {
  const fast = fastHookWords(command)
  if (fast === null) return
  const program = { node: fast.node, hook: join(dirname(fast.script), HOOK_FILE) }
  const failure = await fastHookFailure(program, fast.curl, environment.env)
  if (failure !== null) {
    const text = `the fast hook hands every event over to the slower one, because ${fast.curl} does not work: ${failure}`
    yield problem(text, `${install} --hook fast, with another curl on the PATH; or ${install} --hook node`)
  }
  if (!environment.paths.socket.startsWith(environment.paths.dataDir)) {
    const text = `the fast hook hands every event over to the slower one, because the path of ${environment.paths.dataDir} is too long`
    yield advice(text, `${install} --hook node`)
  }
}

function failureText({ code, stdout, stderr }: CommandRun): string {
  const output = (stderr.trim() || stdout.trim()).split('\n', 1)[0] || 'nothing'
  const why =
    code === 0 ? 'its answer is not one line of JSON' : code === null ? 'it was killed' : `it ended with ${code}`
  return `${why}; its output: ${output}`
}

/** The run time as a multiple of an empty node's, or the run that failed. */
async function timeCommand(
  command: string,
  client: string,
  environment: DoctorEnvironment,
): Promise<number | CommandRun> {
  const { words, program } = commandWords(command)
  const env = { ...environment.env, CLAUDE_MEM_DATA_DIR: environment.paths.dataDir }
  const input = JSON.stringify({ hook_event_name: PROBE_EVENT, session_id: 'doctor', cwd: environment.root })
  const node = isNode(words[0] ?? '') ? program : `"${environment.node}"`
  const hooks: number[] = []
  const empties: number[] = []
  for (let n = 0; n < environment.hookRuns; n++) {
    // Alternating, so that a short load affects both.
    empties.push((await runCommand(`${node} -e 0`, null, '', env)).ms)
    const run = await runCommand(command, null, input, env)
    // Some clients take no output where there is nothing to say.
    const isAnswer = isOneLineOfJson(run.stdout) || (client !== CLAUDE_CODE && run.stdout === '')
    if (run.code !== 0 || !isAnswer) return run
    hooks.push(run.ms)
  }
  return median(hooks) / median(empties)
}

function isOneLineOfJson(text: string): boolean {
  return !text.trimEnd().includes('\n') && parseJsonObject(text) !== null
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
