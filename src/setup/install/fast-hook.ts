/**
 * Whether the fast hook (src/hook/fast-hook.sh) works on this machine, and what it saves. It is really run: the script with
 * each curl on the PATH, against a server on a temporary Unix socket that answers like the daemon.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FAST_HOOK_FILE, isFastHookPlatform } from '../../hook/fast-hook.ts'
import { SHARED_MEMORY } from '../../hook/shared-memory.ts'
import { isProgram, programFiles } from '../../lib/find-program.ts'
import { DATA_DIR_FLAG, dataPaths } from '../../lib/paths.ts'
import { type CommandRun, runCommand } from '../run-command.ts'
import type { ProgramPaths } from './clients/adapter.ts'
import { FAST_HOOK_SHELL } from './command-line.ts'

/** No client has this event: both hooks ignore it. */
const PROBE_PAYLOAD = JSON.stringify({ hook_event_name: 'Probe', session_id: 'probe', cwd: '/' })

export type FastHookSearch = { type: 'found'; curl: string } | { type: 'missing'; reason: string }

type HookProgram = Pick<ProgramPaths, 'node' | 'hook'>

/** The first curl on the PATH with which the script works. */
export async function findFastHook(
  program: HookProgram,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<FastHookSearch> {
  if (!isFastHookPlatform(platform)) return missing(`it needs Linux or macOS, and this is ${platform}`)
  const script = fastHookScriptOf(program.hook)
  if (!existsSync(script)) return missing(`${script} does not exist; install claude-mem again`)
  const failures: string[] = []
  for (const curl of new Set(programFiles('curl', env, platform))) {
    if (!(await isProgram(curl))) continue
    const failure = await fastHookFailure(program, curl, env)
    if (failure === null) return { type: 'found', curl }
    failures.push(`${curl}: ${failure}`)
  }
  return missing(failures.length === 0 ? 'there is no curl on the PATH; install it' : failures.join('; '))
}

/** Types of file systems in memory (tmpfs, ramfs), as statfs(2) names them. */
const MEMORY_TYPES = [0x01021994, 0x858458f6]

/** A container may have a plain directory there: the payload would be on the disk before it is cleaned. */
function isMemory(directory: string): boolean {
  return !existsSync(directory) || MEMORY_TYPES.includes(statfsSync(directory).type)
}

const missing = (reason: string): FastHookSearch => ({ type: 'missing', reason })

export function fastHookScriptOf(hook: string): string {
  return join(dirname(hook), FAST_HOOK_FILE)
}

/** Null: the script got the answer of the server through this curl. */
export async function fastHookFailure(
  program: HookProgram,
  curl: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  if (!isMemory(SHARED_MEMORY)) return `${SHARED_MEMORY} is not in memory here, and the script keeps payloads in it`
  return await withProbeServer(async (probe) => {
    const { code, stdout, stderr } = await runFastHook(program, curl, probe, env)
    if (code === 0 && stdout === `${probe.line}\n`) return null
    if (probe.requests() > 0) return `its answer was not passed on (${firstLine(stdout) || firstLine(stderr)})`
    return 'it cannot send a request to a Unix socket; curl 7.40 or newer with Unix sockets is needed'
  })
}

/** Median times of an event, in ms: with the fast hook and with the hook's own process, measured in turns. */
export async function measureHooks(
  program: HookProgram,
  curl: string,
  env: NodeJS.ProcessEnv,
  runs = 7,
): Promise<{ fastMs: number; nodeMs: number }> {
  return await withProbeServer(async (probe) => {
    const fast: number[] = []
    const node: number[] = []
    for (let n = 0; n < runs; n++) {
      fast.push((await runFastHook(program, curl, probe, env)).ms)
      node.push((await runCommand(program.node, [program.hook, ...probe.args], PROBE_PAYLOAD, withoutOurs(env))).ms)
    }
    return { fastMs: medianOf(fast), nodeMs: medianOf(node) }
  })
}

interface ProbeServer {
  /** The answer that the script has to print. */
  line: string
  requests(): number
  /** They name its data directory. */
  args: readonly string[]
}

async function withProbeServer<T>(use: (probe: ProbeServer) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'claude-mem-probe-'))
  const line = JSON.stringify({ continue: true, probe: randomUUID() })
  let requests = 0
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    // The other hook, to which a script hands over, names its directory.
    const isScript = !searchParams.has('cwd')
    if (isScript) requests += 1
    request.resume().on('end', () => response.end(`${isScript ? line : '{}'}\n${searchParams.get('seed')}\n`))
  })
  try {
    server.listen(dataPaths(directory).socket)
    await once(server, 'listening')
    // As the daemon leaves it.
    chmodSync(directory, 0o1700)
    return await use({ line, requests: () => requests, args: [DATA_DIR_FLAG, directory] })
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function runFastHook(
  { node, hook }: HookProgram,
  curl: string,
  { args }: ProbeServer,
  env: NodeJS.ProcessEnv,
): Promise<CommandRun> {
  const script = fastHookScriptOf(hook)
  // Beside the program: below the current directory the script refuses a data directory.
  return await runCommand(
    FAST_HOOK_SHELL,
    [script, node, curl, ...args],
    PROBE_PAYLOAD,
    withoutOurs(env),
    undefined,
    dirname(script),
  )
}

function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('CLAUDE_MEM_')))
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
