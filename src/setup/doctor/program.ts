/**
 * Checks of the program itself: node versions, native modules, settings. The node of a hook also runs the daemon that the
 * hook starts, so it is checked too.
 */
import { createRequire } from 'node:module'
import { parseJsonObject } from '../../hook/payload.ts'
import { errorMessage } from '../../lib/errors.ts'
import { compareVersions } from '../../lib/version.ts'
import { canRunModels } from '../../search/embedders/models.ts'
import { loadHnswLibrary } from '../../search/vectors/hnsw-index.ts'
import { SETTING_NAMES } from '../../settings/settings.ts'
import { advice, type CheckRun, type DoctorFacts, type Finding, problem } from './check.ts'
import { hookEntries, locateCommand, realPathOrSame } from './installed.ts'
import { runCommand } from './run-command.ts'

/** As in package.json. */
const OLDEST_NODE = '20.0.0'
const UPDATE = 'install Node 20 or newer, then npm install -g claude-mem, then claude-mem install'

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
try {
  var Database = require('module').createRequire(process.argv[1])('better-sqlite3')
  new Database(':memory:').close()
} catch (error) { result.failure = String(error && error.message).split('\\n')[0] }
console.log(JSON.stringify(result))`

async function* probeNode(node: string, file: string, { environment }: DoctorFacts): AsyncGenerator<Finding> {
  const { code, stdout, stderr } = await runCommand(node, ['-e', PROBE, file], '', environment.env)
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

const WITH_OPTIONAL = 'npm install -g claude-mem --include=optional'

export async function* checkNativeModules({ settings }: DoctorFacts, loadDatabase = openInMemory): CheckRun {
  try {
    await loadDatabase()
  } catch (error) {
    const [why] = errorMessage(error).split('\n', 1)
    yield problem(
      `better-sqlite3, the database driver, cannot be loaded by Node ${process.versions.node}: ${why}`,
      'npm rebuild better-sqlite3 where claude-mem is installed, or npm install -g claude-mem with this node',
    )
  }
  const { reason } = await loadHnswLibrary()
  if (reason !== null) {
    const from = settings.values.CLAUDE_MEM_VECTOR_INDEX_FROM
    yield advice(`${reason}. With it, search stays fast in projects of more than ${from} vectors`, WITH_OPTIONAL)
  }
  if (!canRunModels()) {
    const text =
      '@huggingface/transformers is not installed. With it, a model can find memories by meaning, in any language'
    yield advice(text, WITH_OPTIONAL)
  }
  return `better-sqlite3 ${packageVersion('better-sqlite3')}, hnswlib-node and @huggingface/transformers`
}

async function openInMemory(): Promise<void> {
  const { default: BetterSqlite3 } = await import('better-sqlite3')
  new BetterSqlite3(':memory:').close()
}

function packageVersion(name: string): string {
  const { version }: { version?: unknown } = createRequire(import.meta.url)(`${name}/package.json`)
  return String(version)
}

export async function* checkSettings({ settings }: DoctorFacts): CheckRun {
  for (const { message, isWarning } of settings.problems) {
    const finding = isWarning === true ? advice : problem
    yield finding(message, 'see claude-mem config; change it with claude-mem config set NAME VALUE')
  }
  const changed = SETTING_NAMES.filter((name) => settings.sources[name] !== 'default').length
  return changed === 0 ? 'all have their defaults' : `${changed} of ${SETTING_NAMES.length} set`
}
