/**
 * Checks of the program itself: node versions, native modules, settings. The node of a hook also runs the daemon that the
 * hook starts, so it is checked too.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseJsonObject } from '../../hook/payload.ts'
import { currentDist } from '../../lib/installed-program.ts'
import {
  fetchCommand,
  loadDatabaseDriver,
  packageDirectoryPrefix,
  resolvePackage,
  UNBUNDLED_PACKAGES,
} from '../../lib/packages.ts'
import { compareVersions } from '../../lib/version.ts'
import { canRunModels } from '../../search/embedders/models.ts'
import { loadHnswLibrary } from '../../search/vectors/hnsw-index.ts'
import { SETTING_NAMES } from '../../settings/settings.ts'
import { CLI_FILE } from '../install/command-line.ts'
import { commandProblem, findCommand } from '../program/shell-command.ts'
import { runCommand } from '../run-command.ts'
import { advice, type CheckRun, type DoctorFacts, type Finding, problem } from './check.ts'
import { hookEntries, locateCommand, realPathOrSame } from './installed.ts'

/** As in package.json. */
const OLDEST_NODE = '20.0.0'
const UPDATE = 'install Node 20 or newer, then run claude-mem install with it'

export async function* checkNode(facts: DoctorFacts): CheckRun {
  const { node } = facts.environment
  const version = process.versions.node
  if (isTooOld(version)) yield tooOld(node, version)
  const others = await otherNodes(facts)
  for (const [path, file] of others) yield* probeNode(path, file, facts)
  const also = others.size === 0 ? '' : `; hooks run with ${[...others.keys()].join(' and ')}`
  return `${version} (${node})${also}`
}

/** The nodes of registered hooks, except the one that runs this, each with the program file that it runs. */
async function otherNodes(facts: DoctorFacts): Promise<Map<string, string>> {
  const { environment } = facts
  const nodes = new Map<string, string>()
  for (const { files } of await facts.connections()) {
    for (const { command, isOwn } of hookEntries(files)) {
      if (!isOwn) continue
      const { node, file, missing } = await locateCommand(command, environment)
      // Missing files are reported by the hooks check.
      if (node !== null && missing.length === 0 && realPathOrSame(node) !== realPathOrSame(environment.node))
        nodes.set(node, file)
    }
  }
  return nodes
}

/** Prints its version and loads what the daemon needs; written in syntax that a very old node can parse. */
const PROBE = `
var result = { version: process.versions.node, failure: null }
var node = '-' + process.platform + '-' + process.arch + '-' + process.versions.modules
function load(base) { new (require('module').createRequire(base)('better-sqlite3'))(':memory:').close() }
try {
  try { load(process.argv[1]) } catch (error) { load(process.argv[2] + node + '/package.json') }
} catch (error) { result.failure = String(error && error.message).split('\\n')[0] }
console.log(JSON.stringify(result))`

/** The beginning of the directory's name, to which the probe adds its own node. */
function fetchedDriver({ environment }: DoctorFacts): string {
  const { version } = UNBUNDLED_PACKAGES['better-sqlite3']
  return join(environment.paths.packages, `${packageDirectoryPrefix('better-sqlite3')}${version}`)
}

async function* probeNode(node: string, file: string, facts: DoctorFacts): AsyncGenerator<Finding> {
  const { environment } = facts
  const probe = ['-e', PROBE, file, fetchedDriver(facts)]
  const { code, stdout, stderr } = await runCommand(node, probe, '', environment.env)
  const result = parseProbe(stdout)
  if (code !== 0 || result === null) {
    const why = stderr.trim().split('\n', 1)[0] || `it ended with ${code}`
    yield problem(`${node}, which runs the hooks, does not run: ${why}`, 'claude-mem install')
  } else if (isTooOld(result.version)) {
    yield tooOld(node, result.version)
  } else if (result.failure !== null) {
    yield problem(
      `${node} (${result.version}), which runs the hooks, cannot load better-sqlite3, so no daemon that a hook starts can ` +
        `run: ${result.failure}`,
      `claude-mem install, which registers ${environment.node}; or npm rebuild better-sqlite3 with that node`,
    )
  }
}

function parseProbe(stdout: string): { version: string; failure: string | null } | null {
  const { version, failure } = parseJsonObject(stdout) ?? {}
  if (typeof version !== 'string') return null
  return { version, failure: typeof failure === 'string' ? failure : null }
}

const isTooOld = (version: string) => compareVersions(version, OLDEST_NODE) < 0

const tooOld = (node: string, version: string) =>
  problem(`${node} is Node ${version}; claude-mem needs 20 or newer`, UPDATE)

export async function* checkNativeModules({ settings }: DoctorFacts, load = loadDatabaseDriver): CheckRun {
  const { reason: driverProblem } = load()
  if (driverProblem !== null) {
    yield problem(
      `better-sqlite3, the database driver, cannot be loaded by Node ${process.versions.node}: ${driverProblem}`,
      fetchCommand('better-sqlite3'),
    )
  }
  const { reason } = loadHnswLibrary()
  const from = settings.values.CLAUDE_MEM_VECTOR_INDEX_FROM
  // Without it all vectors are compared, which is fast enough in smaller projects: only one that does not load is a fault.
  if (reason !== null && resolvePackage('hnswlib-node') !== null) {
    const text = `${reason}. With it, search stays fast in projects of more than ${from} vectors`
    yield advice(text, fetchCommand('hnswlib-node'))
  }
  const optional = [
    reason === null
      ? 'hnswlib-node'
      : `without hnswlib-node (for more than ${from} vectors: ${fetchCommand('hnswlib-node')})`,
    canRunModels() ? '@huggingface/transformers' : 'without @huggingface/transformers (claude-mem models fetches it)',
  ]
  return [`better-sqlite3 ${UNBUNDLED_PACKAGES['better-sqlite3'].version}`, ...optional].join(', ')
}

/** As a person types it, in a fresh login shell. */
export async function* checkCommand({ environment }: DoctorFacts): CheckRun {
  const { paths, env, home, node, dist } = environment
  const current = currentDist(paths)
  const cli = join(existsSync(current) ? current : dist, CLI_FILE)
  const around = { paths, env, home, node, cli }
  const state = await findCommand(around)
  if (state === null) return null
  const found = commandProblem(state, around)
  if (found !== null) yield advice(found.detail, found.fix)
  return `a new shell runs ${state.file}`
}

export async function* checkSettings({ settings }: DoctorFacts): CheckRun {
  for (const { message, isWarning } of settings.problems) {
    const finding = isWarning === true ? advice : problem
    yield finding(message, 'see claude-mem config; change it with claude-mem config set NAME VALUE')
  }
  const changed = SETTING_NAMES.filter((name) => settings.sources[name] !== 'default').length
  return changed === 0 ? 'all have their defaults' : `${changed} of ${SETTING_NAMES.length} set`
}
