/**
 * The trust of hooks in Codex. It runs a hook only if `config.toml` has the hash of the hook's entry under its key
 * (`[hooks.state."<hooks.json>:session_start:0:0"]`). Its user gives that trust in Codex; with `--trust-hooks` the
 * installer writes it, with the hashes that Codex itself computes (`hooks/list` of `codex app-server`).
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { MemError } from '../../../lib/errors.ts'
import type { TrustedHook } from '../entry-format.ts'
import { namesInCodex } from '../toml-server.ts'

/** It starts in about a second. */
const ANSWER_TIMEOUT_MS = 20_000

interface ListedHook {
  key?: unknown
  command?: unknown
  currentHash?: unknown
  sourcePath?: unknown
}

/** The keys and hashes of the hooks in a file that run this command. `program`: the `codex` to ask. */
export async function readHookHashes(
  program: string,
  { env, cwd, hooksFile, command }: { env: NodeJS.ProcessEnv; cwd: string; hooksFile: string; command: string },
): Promise<TrustedHook[]> {
  const answer = await askAppServer(program, env, cwd)
  const data: { hooks?: ListedHook[] }[] = Array.isArray(answer.data) ? answer.data : []
  const hooks = data.flatMap((one) => (Array.isArray(one.hooks) ? one.hooks : []))
  const files: unknown[] = namesInCodex(hooksFile)
  return hooks
    .filter((hook) => files.includes(hook.sourcePath) && hook.command === command)
    .flatMap(({ key, currentHash }) =>
      typeof key === 'string' && typeof currentHash === 'string' ? [{ key, hash: currentHash }] : [],
    )
}

function askAppServer(program: string, env: NodeJS.ProcessEnv, cwd: string): Promise<{ data?: unknown }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['app-server'], {
      cwd,
      env,
      shell: process.platform === 'win32',
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    })
    const end = (finish: () => void) => {
      clearTimeout(timer)
      child.kill()
      finish()
    }
    const fail = (why: string) => {
      const next = 'Install without --trust-hooks, then trust the hooks in Codex: start codex, then /hooks'
      end(() => reject(new MemError('internal', `Codex was asked for the hashes of its hooks: ${why}. ${next}`)))
    }
    const timer = setTimeout(() => fail(`no answer within ${ANSWER_TIMEOUT_MS / 1_000} s`), ANSWER_TIMEOUT_MS)
    const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
    child.on('error', (error) => fail(error.message))
    child.on('exit', (code) => fail(`it ended with ${code}`))
    child.stdin.on('error', () => undefined)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result, error } = parsed(line)
      if (id === INITIALIZE) {
        send({ method: 'initialized' })
        send({ id: LIST, method: 'hooks/list', params: { cwds: [cwd] } })
      } else if (id === LIST && error !== undefined) fail('this version does not list them')
      else if (id === LIST) end(() => resolve(Object(result)))
    })
    send({ id: INITIALIZE, method: 'initialize', params: { clientInfo: { name: 'claude-mem', version: '1' } } })
  })
}

const INITIALIZE = 1
const LIST = 2

/** It prints other messages, too. */
function parsed(line: string): { id?: unknown; result?: unknown; error?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch {
    return {}
  }
}
