/** The observer through the real Claude Code: what reaches the model, and what stays behind on the machine. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatMessage } from '../../src/observer/model/chat.ts'
import { type ClaudeCodeOptions, claudeCodeModel } from '../../src/observer/providers/claude-code/index.ts'
import { isRunning } from '../observer/providers/claude-code/fake-claude-server.ts'
import { type Bundle, bundle } from '../store/bundle.ts'
import { exited } from '../support/programs.ts'
import { waitUntil } from '../support/waiting.ts'
import { CLIENT, can, why } from './abilities.ts'
import { ClientPlace } from './client-place.ts'

const SYSTEM = 'You take notes for somebody else.'

let place: ClientPlace
let daemon: Bundle
beforeAll(async () => {
  place = await ClientPlace.make(() => ({ ask: [{ text: 'Nothing to do.' }] }))
  daemon = bundle('test/observer/providers/claude-code/fake-daemon.ts', 'daemon.js')
  mkdirSync(join(place.home, '.claude'), { recursive: true })
  writeFileSync(join(place.home, '.claude', 'CLAUDE.md'), 'MARK-OF-THE-USER')
  writeFileSync(join(place.home, 'CLAUDE.md'), 'MARK-OF-A-PARENT')
  writeFileSync(join(place.home, 'secret.txt'), 'MARK-OF-A-FILE')
  await place.memOk('install')
})
afterAll(async () => {
  daemon?.dispose()
  await place?.dispose()
})

const options = (name: string, env: NodeJS.ProcessEnv = {}): ClaudeCodeOptions => ({
  program: CLIENT,
  model: 'haiku',
  workDir: join(place.home, name),
  guard: place.built('claude-code-guard.js'),
  env: { ...place.env, ...env },
})

const asking = (...contents: string[]) => ({
  system: SYSTEM,
  messages: contents.map((content, at): ChatMessage => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  maxTokens: 2_000,
})

const complete = (content: string, signal = new AbortController().signal) =>
  claudeCodeModel(options('observer')).complete(asking(content), signal)

if (!can('observer')) console.log(`without the observer: ${why('observer')}`)

describe.skipIf(!can('observer'))('a call to the observer', () => {
  it('is answered, with its tokens and its price', async () => {
    place.api.clear()
    const reply = await complete('a batch')
    console.log(`asked for haiku, answered by ${reply.model} for $${reply.cost}`)
    expect(reply).toMatchObject({
      text: 'ok',
      stop: 'end',
      usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 },
      model: expect.stringContaining('haiku'),
    })
    expect(reply.cost).toBeGreaterThan(0)
  })

  it('is one request: our words, no tools, no thinking, nothing written to a cache', async () => {
    place.api.clear()
    await complete('a batch')
    const asked = place.api.requests.filter(({ path }) => path.endsWith('/messages'))
    expect(asked.map(({ path }) => path)).toHaveLength(1)
    const body = asked[0]?.body ?? {}
    expect(body.tools ?? []).toEqual([])
    expect(body.max_tokens).toBe(2_000)
    expect([undefined, 'disabled']).toContain(Reflect.get(Object(body.thinking), 'type'))
    const says = (value: unknown, word: string) => JSON.stringify(value).includes(word)
    expect({
      system: says(body.system, SYSTEM),
      batch: says(body.messages, 'a batch'),
      cached: says(body, 'cache_control'),
    }).toEqual({ system: true, batch: true, cached: false })
  })

  it('takes nothing along that lies about, whatever the prompt says', async () => {
    place.api.clear()
    await complete(`/clear @${join(place.home, 'secret.txt')} and ultrathink`)
    const sent = JSON.stringify(place.api.requests.map(({ body }) => body))
    expect(['ultrathink', 'MARK-OF'].filter((word) => sent.includes(word))).toEqual(['ultrathink'])
  })

  it('runs none of the hooks that are installed', async () => {
    await complete('a batch')
    await expect(place.status()).rejects.toThrow('not running')
    expect(existsSync(place.paths.database)).toBe(false)
    expect(existsSync(place.paths.spool) ? readdirSync(place.paths.spool) : []).toEqual([])
  })

  it('leaves no session to resume', async () => {
    await complete('a batch')
    expect(place.transcripts()).toEqual([])
  })

  it('says what is wrong with the account', async () => {
    const chat = claudeCodeModel(options('observer', { ANTHROPIC_BASE_URL: '' }))
    const signal = new AbortController().signal
    await expect(chat.complete(asking('a batch'), signal)).rejects.toMatchObject({
      owner: 'provider',
      message: expect.stringContaining('/login'),
    })
  })
})

describe.skipIf(process.platform === 'win32' || !can('observer'))('a call that is never answered', () => {
  let silent: Server
  let asked: () => void
  beforeAll(async () => {
    silent = createServer((request, response) => {
      if (request.method === 'POST') asked()
      else response.end()
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    silent.closeAllConnections()
    silent.close()
  })

  const env = () => ({ ANTHROPIC_BASE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  const request = () =>
    new Promise<void>((resolve) => {
      asked = resolve
    })
  /** The guard has the file with the system prompt on its command line; the client may call itself what it likes. */
  const running = (workDir: string): number[] => {
    const rows = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
    const processes = rows.map((row) => {
      const [pid = '', parent = ''] = row.trim().split(/\s+/)
      return {
        pid: Number(pid),
        parent: Number(parent),
        ours: row.includes(workDir) && row.includes('claude-code-guard'),
      }
    })
    const guards = processes.filter(({ ours }) => ours).map(({ pid }) => pid)
    const clients = processes.filter(({ parent }) => guards.includes(parent)).map(({ pid }) => pid)
    return [...guards, ...clients]
  }

  it('leaves nothing running when it is aborted', async () => {
    const chosen = options('aborted', env())
    const abort = new AbortController()
    const arrived = request()
    const answer = claudeCodeModel(chosen).complete(asking('a batch'), abort.signal)
    await arrived
    const started = running(chosen.workDir)
    expect(started.length).toBeGreaterThanOrEqual(2)
    abort.abort(new Error('took too long'))
    await expect(answer).rejects.toThrow('took too long')
    expect(started.filter(isRunning)).toEqual([])
  })

  it('leaves nothing running when whoever made it is killed', async () => {
    const { env: given, ...rest } = options('orphaned', env())
    const arrived = request()
    const child = spawn(process.execPath, [daemon.file, JSON.stringify(rest)], { env: given, stdio: 'ignore' })
    await arrived
    const started = running(rest.workDir)
    expect(started.length).toBeGreaterThanOrEqual(2)
    child.kill('SIGKILL')
    await exited(child)
    await waitUntil('the client has ended', () => !started.some(isRunning))
  })
})

describe('the same home', () => {
  it('has hooks that work: what the user asks is stored', async () => {
    const session = await place.claude('[[script:ask]] go on')
    await place.settled()
    expect((await place.events(session)).map(({ kind }) => kind)).toContain('prompt')
    expect(place.transcripts()).not.toEqual([])
  })
})
