/** Runs npm: finds it without a shell, gives native builds the headers of this node, and says why it failed. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage, MemError } from './errors.ts'

interface NpmOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  signal?: AbortSignal
}

/** Lines of npm's errors that are quoted. */
const QUOTED_LINES = 6
/** Of the output only the end is kept: a compiler may print megabytes. */
const KEPT_CHARS = 64_000

/** Resolves with what it printed. Rejects with its error messages and what to do. */
export async function runNpm(args: readonly string[], { cwd, env, signal }: NpmOptions): Promise<string> {
  const { program, first, shell } = npmProgram(env)
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: npmEnvironment(env),
    shell,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    ...(signal === undefined ? {} : { signal }),
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    output = (output + chunk).slice(-KEPT_CHARS)
  })
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-KEPT_CHARS)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(signal?.aborted === true ? signal.reason : notRunnable(error)))
    child.once('close', resolve)
  })
  if (signal?.aborted === true) throw signal.reason
  if (code !== 0) throw new MemError('internal', failureText(code, errors))
  return output
}

/** npm's own variables win, then npm beside this node, then npm on the PATH. */
function npmProgram(env: NodeJS.ProcessEnv): { program: string; first: string[]; shell: boolean } {
  const beside = dirname(process.execPath)
  const scripts = [
    env.npm_execpath ?? '',
    join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ]
  const script = scripts.find((file) => /npm-cli\.js$/.test(file) && existsSync(file))
  if (script !== undefined) return { program: process.execPath, first: [script], shell: false }
  // A .cmd file runs only in a shell; all arguments are ours and contain no character that a shell expands.
  return { program: 'npm', first: [], shell: process.platform === 'win32' }
}

/** What npm or npx passed to this program is for its own run, not for another one. */
const PASSED_ON_BY_NPM =
  /^npm_(?!config_(?:registry|cache|proxy|https?_proxy|noproxy|cafile|ca|strict_ssl|userconfig|nodedir|offline|prefer_offline|fetch_\w+)$)/i

function npmEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !PASSED_ON_BY_NPM.test(name))
  return { ...nodeHeaders(), ...Object.fromEntries(kept) }
}

/** Headers that were installed with this node: node-gyp then builds without a download. */
export function nodeHeaders(node = process.execPath): { npm_config_nodedir?: string } {
  const prefix = dirname(dirname(node))
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? { npm_config_nodedir: prefix } : {}
}

function notRunnable(error: unknown): MemError {
  return new MemError('internal', `npm could not be run: ${errorMessage(error)}. Install npm, which comes with Node`)
}

function failureText(code: number | null, errors: string): string {
  const lines = errors
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!) ?/, '').trim())
    .filter((line) => line !== '' && !/^A complete log of this run|^gyp info|^npm warn/i.test(line))
  const telling = lines.filter((line) =>
    /ERR!|error|EACCES|EINTEGRITY|ENOSPC|ENOTFOUND|ECONN|not found|network/i.test(line),
  )
  const quoted = (telling.length > 0 ? telling : lines).slice(0, QUOTED_LINES).join('; ')
  return `npm ended with ${code}: ${quoted}. ${advice(errors)}`
}

function advice(errors: string): string {
  if (/EINTEGRITY/.test(errors)) {
    return (
      'A package has another checksum than the one that was tested, so nothing of it was run. Check npm_config_registry, ' +
      'and whether a proxy changes downloads'
    )
  }
  if (/ENOSPC|no space left/i.test(errors)) return 'The disk is full: free some space, then try again'
  if (/gyp ERR!|node-gyp/.test(errors)) {
    return (
      'No prebuilt binary could be downloaded and it could not be compiled. Check the network, or install a C++ compiler ' +
      `and Python (${COMPILERS[process.platform] ?? COMPILERS.linux}), then try again`
    )
  }
  if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(errors)) {
    return 'The package registry cannot be reached: check the network, or set npm_config_registry, then try again'
  }
  return 'Try again; if it fails again, run the same with npm and see its log'
}

const COMPILERS: Partial<Record<NodeJS.Platform, string>> & { linux: string } = {
  linux: 'apt install build-essential python3, or dnf install gcc-c++ make python3',
  darwin: 'xcode-select --install',
  win32: 'winget install Microsoft.VisualStudio.2022.BuildTools and Python.Python.3.12',
}
