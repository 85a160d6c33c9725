/** The node that runs this program, and those that run the hooks: what a hook starts, its node has to run. */
import { realpathSync } from 'node:fs'
import { compareVersions } from '../version.ts'
import { type Examination, type Finding, faultsOr, problem } from './check.ts'
import type { Facts } from './facts.ts'
import { hookEntries } from './installed.ts'
import { programFile } from './program-file.ts'
import { runOnce } from './run.ts'

/** As in package.json. */
const OLDEST_NODE = '20.0.0'
const UPDATE = 'install Node 20 or newer, then npm install -g claude-mem, then claude-mem install'

export function nodeExamination(facts: Facts): Examination {
  return {
    id: 'node',
    title: 'Node',
    look: async () => {
      const { node, version } = { node: facts.around.node, version: process.versions.node }
      const faults = isTooOld(version) ? [tooOld(node, version)] : []
      const others = await otherNodes(facts)
      for (const [path, file] of others) faults.push(...(await lookAt(path, file, facts)))
      const also = others.size === 0 ? '' : `; hooks run with ${[...others.keys()].join(' and ')}`
      return faultsOr(faults, `${version} (${node})${also}`)
    },
  }
}

/** Nodes of registered hooks beside the one that runs this, each with a file of the program that it runs. */
async function otherNodes(facts: Facts): Promise<Map<string, string>> {
  const { around } = facts
  const nodes = new Map<string, string>()
  for (const { files } of await facts.connections()) {
    for (const { command, isOwn } of hookEntries(files)) {
      if (!isOwn) continue
      const { node, file, missing } = await programFile(command, around)
      // What is missing is said where the hooks are looked at.
      if (node !== null && missing.length === 0 && !isSame(node, around.node)) nodes.set(node, file)
    }
  }
  return nodes
}

/** Says its version, and tries what the daemon needs at once; in words that a very old node understands. */
const PROBE = `
var said = { version: process.versions.node, failure: null }
try {
  var Database = require('module').createRequire(process.argv[1])('better-sqlite3')
  new Database(':memory:').close()
} catch (error) { said.failure = String(error && error.message).split('\\n')[0] }
console.log(JSON.stringify(said))`

async function lookAt(node: string, file: string, { around }: Facts): Promise<Finding[]> {
  const { code, stdout, stderr } = await runOnce(node, ['-e', PROBE, file], '', around.env)
  const said = answerIn(stdout)
  if (code !== 0 || said === null) {
    const why = stderr.trim().split('\n', 1)[0] || `it ended with ${code}`
    return [problem(`${node}, which runs the hooks, does not run: ${why}`, 'claude-mem install')]
  }
  if (isTooOld(said.version)) return [tooOld(node, said.version)]
  if (said.failure === null) return []
  return [
    problem(
      `${node} (${said.version}), which runs the hooks, cannot load better-sqlite3, so no daemon that a hook starts can ` +
        `run: ${said.failure}`,
      `claude-mem install, which registers ${around.node}; or npm rebuild better-sqlite3 with that node`,
    ),
  ]
}

function answerIn(stdout: string): { version: string; failure: string | null } | null {
  try {
    const { version, failure }: { version?: unknown; failure?: unknown } = JSON.parse(stdout)
    if (typeof version !== 'string') return null
    return { version, failure: typeof failure === 'string' ? failure : null }
  } catch {
    return null
  }
}

const isTooOld = (version: string) => compareVersions(version, OLDEST_NODE) < 0

const tooOld = (node: string, version: string) =>
  problem(`${node} is Node ${version}; claude-mem needs 20 or newer`, UPDATE)

function isSame(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b)
  } catch {
    return a === b
  }
}
