/**
 * Checks of a client's hooks: all supported events are registered once, run this version, and are not disabled; and the
 * registered command really works, run with a payload that is ignored.
 */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pluralize } from '../../lib/format.ts'
import { VERSION } from '../../lib/version.ts'
import { enabledPlugins, ORIGINAL_PLUGIN_ENABLED, ORIGINAL_PLUGIN_FIX } from '../install/clients/claude-code.ts'
import {
  advice,
  type DoctorCheck,
  type DoctorEnvironment,
  type DoctorFacts,
  type Finding,
  findingsOrOk,
  ok,
  problem,
} from './check.ts'
import { newestSessionIsReported } from './clients.ts'
import {
  type ClientConnection,
  commandWords,
  configDirectory,
  hookEntries,
  type InstalledEntry,
  type InstalledFile,
  isNode,
  programFile,
} from './installed.ts'
import { type CommandRun, runCommand } from './run-command.ts'

const CLAUDE_CODE = 'claude-code'

type Registered = InstalledEntry & { file: InstalledFile }

export function hooksCheck(facts: DoctorFacts, name: string, title: string): DoctorCheck {
  return {
    id: `hooks.${name}`,
    title: `${title} hooks`,
    run: async () => {
      const connections = await facts.connections()
      const connection = connections.find((one) => one.name === name)
      if (connection === undefined) return []
      const entries = hookEntries(connection.files)
      const switches = name === CLAUDE_CODE ? claudeSwitches(facts.environment) : []
      const plugins = switches.filter(({ plugin }) => plugin).map(({ file }) => file)
      const unreadable = unreadableFaults(connection)
      if (entries.length === 0 && plugins.length === 0) {
        return unreadable.length > 0 ? unreadable : await notRegistered(connection, connections, facts)
      }
      const faults = [
        ...unreadable,
        ...switchFaults(switches, facts.environment),
        ...(entries.length === 0 ? [] : eventFaults(connection, entries)),
        ...duplicateFaults(connection, entries, plugins),
        ...(await programFaults(connection, entries, facts)),
        ...(facts.environment.env.CLAUDE_MEM_HOOK_DISABLED === '1' ? [DISABLED] : []),
      ]
      return findingsOrOk(faults, registeredText(entries, plugins))
    },
  }
}

const DISABLED = advice(
  'CLAUDE_MEM_HOOK_DISABLED=1 is set in this environment: a client started from here is not observed',
  'unset CLAUDE_MEM_HOOK_DISABLED',
)

function registeredText(entries: readonly Registered[], plugins: readonly string[]): string {
  if (entries.length === 0) return `through the plugin, which is enabled in ${plugins.join(' and ')}`
  const files = [...new Set(entries.map(({ file }) => file.path))]
  return `${pluralize(new Set(entries.map(({ event }) => event)).size, 'event')} in ${files.join(' and ')}`
}

function unreadableFaults({ files }: ClientConnection): Finding[] {
  return files.flatMap(({ kind, path, unreadable }) =>
    kind === 'server' || unreadable === null
      ? []
      : [problem(unreadable, `repair ${path}, then claude-mem doctor again`)],
  )
}

/** No hook is a problem only if no other client has hooks either. */
async function notRegistered(
  connection: ClientConnection,
  all: readonly ClientConnection[],
  facts: DoctorFacts,
): Promise<Finding[]> {
  const { title, client, installCommand } = connection
  const isFirst = all[0] === connection
  const others = all.some(({ files }) => hookEntries(files).length > 0)
  if (isFirst && !others && connection.name === CLAUDE_CODE && (await newestSessionIsReported(facts))) {
    const text = 'none is registered, but the newest session was reported: it was probably started with --plugin-dir'
    return [advice(text, `for every session: ${installCommand('user')}`)]
  }
  if (isFirst && !others) {
    return [problem(`no hook is registered in ${title}: its sessions are not observed`, installCommand('user'))]
  }
  return client === null ? [] : [ok(`not registered; to observe its sessions: ${installCommand('user')}`)]
}

function eventFaults(connection: ClientConnection, entries: readonly Registered[]): Finding[] {
  const { title, events, unknown, tooOld, client, installCommand } = connection
  if (tooOld !== null) return [problem(tooOld, `update ${title}, then ${installCommand('user')}`)]
  const fix = installCommand(entries[0]?.file.scope ?? 'user')
  const registered = new Set(entries.map(({ event }) => event))
  const missing = events.filter((event) => !registered.has(event))
  const unsupported = unknown.filter((event) => registered.has(event))
  const surplus = [...registered].filter((event) => !events.includes(event) && !unknown.includes(event))
  const faults: Finding[] = []
  if (missing.length > 0) {
    const text = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not registered`
    // With hooks written by hand, the missing events may be intended.
    faults.push(entries.some(({ byHand }) => byHand) ? advice(text, `if you want them: ${fix}`) : problem(text, fix))
  }
  if (unsupported.length > 0) {
    const text = `${title} ${client?.version ?? ''} does not know ${unsupported.join(', ')}, and may disable all hooks because of it`
    faults.push(problem(text, fix))
  }
  if (surplus.length > 0) faults.push(advice(`${surplus.join(', ')} is registered but not used`, fix))
  return faults
}

/** Each event would be reported twice: stored once if it has an id, but at twice the time. */
function duplicateFaults(
  { uninstallCommand, installCommand }: ClientConnection,
  entries: readonly Registered[],
  plugins: readonly string[],
): Finding[] {
  const [first] = entries
  if (first === undefined) return []
  const duplicates = [...new Set(entries.map(({ event }) => event))].filter(
    (event) => entries.filter((entry) => entry.event === event).length > 1,
  )
  const files = [...new Set(entries.filter(({ event }) => duplicates.includes(event)).map(({ file }) => file))]
  const faults: Finding[] = []
  if (duplicates.length > 0) {
    const text = `registered more than once: ${duplicates.join(', ')} in ${files.map(({ path }) => path).join(' and ')}`
    faults.push(problem(text, files.length > 1 ? uninstallCommand('project') : installCommand(first.file.scope)))
  }
  if (plugins.length > 0) {
    const text = `registered in ${first.file.path}, and the plugin is enabled too (${plugins.join(' and ')})`
    faults.push(problem(text, `${uninstallCommand(first.file.scope)}, or disable the plugin`))
  }
  return faults
}

async function programFaults(
  connection: ClientConnection,
  entries: readonly Registered[],
  facts: DoctorFacts,
): Promise<Finding[]> {
  const faults: Finding[] = []
  for (const { command, file, byHand } of distinctCommands(entries)) {
    const { missing, version, file: program } = await programFile(command, facts.environment)
    const fix = connection.installCommand(file.scope)
    if (missing.length > 0) {
      const text = `hooks in ${file.path} run ${missing.join(' and ')}, which does not exist`
      faults.push(problem(text, byHand ? `put it on the PATH, or write its path into ${file.path}` : fix))
    } else if (version !== null && version !== VERSION) {
      faults.push(problem(`hooks run claude-mem ${version} (${program}), and this program is ${VERSION}`, fix))
    }
  }
  return faults
}

/** One entry per command: usually all events have the same one. */
function distinctCommands(entries: readonly Registered[]): Registered[] {
  return entries.filter(({ command }, index) => entries.findIndex((other) => other.command === command) === index)
}

/** What else in Claude Code's settings decides whether hooks run, and which data directory they use. */
interface Switches {
  file: string
  disableAllHooks: boolean
  /** User hooks are ignored. Only has an effect in an organisation's managed settings. */
  allowManagedHooksOnly: boolean
  plugin: boolean
  /** The plugin of the original claude-mem is enabled. */
  original: boolean
  /** Null if it is not set here. */
  dataDir: string | null
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
    join(configDirectory(environment), 'settings.json'),
    join(environment.root, '.claude', 'settings.json'),
    join(environment.root, '.claude', 'settings.local.json'),
    ...(managed === undefined ? [] : [managed]),
  ]
  return [...new Set(files)].flatMap((file) => readSwitches(file, file === managed) ?? [])
}

function readSwitches(file: string, managed: boolean): Switches | null {
  let given: Record<string, unknown>
  try {
    given = { ...JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) }
  } catch {
    // Missing or invalid; an invalid file is reported with our entries.
    return null
  }
  const plugins = enabledPlugins(given)
  const dataDir: unknown = Object(given.env).CLAUDE_MEM_DATA_DIR
  return {
    file,
    disableAllHooks: given.disableAllHooks === true,
    allowManagedHooksOnly: managed && given.allowManagedHooksOnly === true,
    plugin: plugins.own,
    original: plugins.original,
    dataDir: typeof dataDir === 'string' && dataDir.trim() !== '' ? dataDir : null,
  }
}

function switchFaults(switches: readonly Switches[], { paths }: DoctorEnvironment): Finding[] {
  return switches.flatMap(({ file, disableAllHooks, allowManagedHooksOnly, original, dataDir }) => [
    ...(disableAllHooks
      ? [problem(`"disableAllHooks" is true in ${file}: no hook runs`, `remove it from ${file}`)]
      : []),
    ...(allowManagedHooksOnly
      ? [
          problem(
            `${file} allows only hooks of your organisation`,
            'ask your administrator to allow the hooks of claude-mem',
          ),
        ]
      : []),
    ...(original ? [advice(`${ORIGINAL_PLUGIN_ENABLED} (${file})`, ORIGINAL_PLUGIN_FIX)] : []),
    ...(dataDir !== null && resolve(dataDir) !== paths.dataDir
      ? [
          advice(
            `sessions report to ${dataDir} ("env" in ${file}), and this program uses ${paths.dataDir}`,
            'set CLAUDE_MEM_DATA_DIR to the same value in your shell, or remove it there',
          ),
        ]
      : []),
  ])
}

/** No client has this event: the hook ignores it. */
const PROBE_EVENT = 'Doctor'
/** A hook normally takes about 1.3 times as long as an empty node; from this ratio on something slows it down. */
const SLOW_RATIO = 4

export function hookRunCheck(facts: DoctorFacts, name: string, title: string): DoctorCheck {
  return {
    id: `hook-run.${name}`,
    title: `${title} hook run`,
    run: async () => {
      const connection = await facts.connection(name)
      if (connection === undefined) return []
      const entries = hookEntries(connection.files)
      const faults: Finding[] = []
      const ratios: string[] = []
      for (const { command, file } of distinctCommands(entries.filter(({ isOwn }) => isOwn))) {
        const { missing } = await programFile(command, facts.environment)
        // Reported by the hooks check.
        if (missing.length > 0) continue
        const result = await timeCommand(command, facts)
        if (typeof result !== 'number') faults.push(failedRun(command, result, connection, file.scope))
        else {
          const ratio = result.toFixed(1)
          ratios.push(ratio)
          if (result >= SLOW_RATIO) faults.push(slowRun(ratio))
        }
      }
      const details = [
        ...(ratios.length === 0 ? [] : [`answers, and takes ${ratios.join(' and ')} times as long as an empty node`]),
        ...new Set(entries.filter(({ isOwn }) => !isOwn).map(({ file }) => notRun(file.path))),
      ]
      return faults.length === 0 && details.length === 0 ? [] : findingsOrOk(faults, details.join('; '))
    },
  }
}

/** Commands that came with a project are not trusted and never run. */
function notRun(path: string): string {
  return `hooks in ${path} were not installed from here and are not run`
}

function slowRun(ratio: string): Finding {
  return advice(
    `it takes ${ratio} times as long as an empty node, and every tool use waits for it`,
    'check again when the machine is idle; then exclude the program from virus scans, or move it to a local disk',
  )
}

function failedRun(
  command: string,
  { code, stdout, stderr }: CommandRun,
  connection: ClientConnection,
  scope: 'user' | 'project',
): Finding {
  const output = (stderr.trim() || stdout.trim()).split('\n', 1)[0] || 'nothing'
  const why =
    code === 0 ? 'its answer is not one line of JSON' : code === null ? 'it was killed' : `it ended with ${code}`
  return problem(`${command} does not work: ${why}; its output: ${output}`, connection.installCommand(scope))
}

/** The run time as a multiple of an empty node's, or the run that failed. */
async function timeCommand(command: string, { environment }: DoctorFacts): Promise<number | CommandRun> {
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
    if (run.code !== 0 || !isOneLineOfJson(run.stdout)) return run
    hooks.push(run.ms)
  }
  return median(hooks) / median(empties)
}

function isOneLineOfJson(text: string): boolean {
  if (text.trimEnd().includes('\n')) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
