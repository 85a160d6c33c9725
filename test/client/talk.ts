/** One run of the real client in which one prompt follows the answer to another, as with a user at a terminal. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Finished, finished } from '../support/programs.ts'

/** A run takes some seconds; a client that waits for somebody is ended. */
export const RUN_MS = 60_000
const ARGS = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

/** As far as tests look at what the client writes. */
export interface Line {
  type?: string
  subtype?: string
  session_id?: string
  is_error?: boolean
  result?: string
  /** Of `hook_response`. */
  hook_name?: string
  output?: string
  exit_code?: number
  stderr?: string
  /** Of `init`. */
  mcp_servers?: { name: string; status: string }[]
}

export class Talk {
  readonly lines: Line[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<Finished>
  #answered: (() => void) | null = null

  constructor(client: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
    const child = spawn(client, [...ARGS, ...args], { ...options, stdio: 'pipe' })
    child.stdin.on('error', () => undefined)
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS)
    this.#child = child
    this.#ended = finished(child).finally(() => clearTimeout(timer))
    createInterface({ input: child.stdout }).on('line', (text) => this.#take(JSON.parse(text)))
  }

  /** Until the client has answered it; the id of the session in which it did. */
  async say(text: string): Promise<string> {
    const answered = new Promise<void>((resolve) => {
      this.#answered = resolve
    })
    const message = { role: 'user', content: [{ type: 'text', text }] }
    this.#child.stdin?.write(`${JSON.stringify({ type: 'user', message })}\n`)
    await Promise.race([answered, this.#ended.then(({ code, stderr }) => Promise.reject(failure(text, code, stderr)))])
    const result = this.lines.findLast(({ type }) => type === 'result')
    if (result?.session_id === undefined || result.is_error === true) throw new Error(`the client failed at ${text}`)
    return result.session_id
  }

  async end(): Promise<void> {
    this.#child.stdin?.end()
    const { code, stderr } = await this.#ended
    if (code !== 0) throw failure('the end', code, stderr)
  }

  #take(line: Line): void {
    this.lines.push(line)
    if (line.type === 'result') this.#answered?.()
  }
}

function failure(at: string, code: number | null, stderr: string): Error {
  return new Error(`the client ended with ${code} at ${at}: ${stderr.slice(0, 500)}`)
}
