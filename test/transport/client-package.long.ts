import { execFile, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { events } from '../daemon/actors/harness.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST, ROOT } from '../support/paths.ts'
import { exited } from '../support/programs.ts'

/** A project of somebody else that has the package installed. */
const project = temporaryDirectory('consumer')

beforeAll(() => {
  const installed = join(project, 'node_modules', 'coding-agent-memory')
  mkdirSync(installed, { recursive: true })
  copyFileSync(join(ROOT, 'package.json'), join(installed, 'package.json'))
  symlinkSync(DIST, join(installed, 'dist'), 'junction')
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
})
const RIGHT = `
import { connect, MemError } from 'coding-agent-memory/client'
const client = await connect({ dataDir: '/somewhere' })
const { status } = await client.request('status')
const pending: number = status.queue.pending
const { answer } = await client.request('search', { query: 'jwt' })
const titles: (string | null)[] = (await client.request('observations', { ids: [1] })).observations.map((one) => one.title)
const following = client.follow({
  since: 7,
  onItem: (item) => {
    if (item.type === 'commit') console.log(item.session, item.observations[0]?.title, item.transitions[0]?.reason)
    else console.log(item.change)
  },
  onGap: (seq: number) => console.log(seq),
  onState: (state) => console.log(state === 'live', following.seq),
})
console.log(pending, titles, answer.hits.length, new MemError('internal', 'x').retryable)
`

/** One mistake a line, from the third on. */
const WRONG = `import { connect } from 'coding-agent-memory/client'
const client = await connect()
await client.request('statsu')
await client.request('session')
await client.request('session', { session: 1, trace: 2 })
const pid: string = (await client.request('status')).status.pid
client.follow({ onItem: (item) => item.type === 'comit' })
`

describe('the package as another program sees it', () => {
  it('has types: what is right compiles strictly, what is wrong does not', async () => {
    writeFileSync(join(project, 'right.ts'), RIGHT)
    writeFileSync(join(project, 'wrong.ts'), WRONG)
    const compilerOptions = {
      strict: true,
      module: 'NodeNext',
      target: 'ES2022',
      noEmit: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules', '@types')],
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['right.ts', 'wrong.ts'] }))
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const said = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, '-p', project, '--pretty', 'false'], { cwd: project }, (_, out) =>
        resolve(out),
      )
    })
    const complaints = said.split('\n').filter((line) => /^\S/.test(line))
    expect(complaints.map((line) => line.replace(/\(.*$/, ''))).toEqual(Array(5).fill('wrong.ts'))
    expect(complaints.map((line) => Number(/\((\d+),/.exec(line)?.[1]))).toEqual([3, 4, 5, 6, 7])
  }, 30_000)

  it('follows a daemon through its death, and is told everything once', async () => {
    const place = new DaemonSandbox()
    const follower = new Follower()
    const tell = (...list: MemoryEvent[]) =>
      place.ask(async (client) => {
        for (const event of list) await client.call('event', { event, version: 'test' })
      })
    try {
      const first = await place.start()
      follower.start(place.dataDir)
      await follower.until(({ state }) => state === 'live')
      await tell(events.prompt('one', 'p1'), events.tool('one', 't1'), events.turnEnd('one', 'e1'))
      await follower.until(({ summaries }) => summaries === 1)
      first.kill('SIGKILL')
      await exited(first)
      await follower.until(({ state }) => state === 'stale')
      const second = await place.start()
      await follower.until(({ state }) => state === 'live', 1)
      await tell(events.prompt('one', 'p2'), events.tool('one', 't2'), events.turnEnd('one', 'e2'))
      await follower.until(({ summaries }) => summaries === 1, 1)
      expect(follower.of('pid')).toEqual([first.pid])
      follower.ask()
      await follower.until(({ pid }) => pid === second.pid)
      const { events: kept } = await place.ask((client) =>
        client.call('payloads', { session: 'one', after: 0, limit: 100 }),
      )
      expect(kept.map(({ eventId, payload }) => [eventId, payload?.id ?? null])).toEqual(
        ['p1', 't1', 'e1', 'p2', 't2', 'e2'].map((id) => [id, id.startsWith('p') ? null : id]),
      )
      const seqs = follower.of('seq').map(Number)
      expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i))
      expect(follower.of('observations')).toEqual(['Edit t1.ts', 'Edit t2.ts'])
      expect(follower.of('gap')).toEqual([])
    } finally {
      await follower.end()
      await place.dispose()
    }
  }, 60_000)
})

const FOLLOWER = `
import { connect } from 'coding-agent-memory/client'
const tell = (value) => console.log(JSON.stringify(value))
const client = await connect({ dataDir: process.argv[2] })
const status = async () => tell({ pid: (await client.request('status')).status.pid })
await status()
client.follow({
  onItem: ({ seq, observations = [], summaries = [] }) =>
    tell({ seq, observations: observations.map((one) => one.title), summaries: summaries.length }),
  onGap: (gap) => tell({ gap }),
  onState: (state) => tell({ state }),
})
process.stdin.on('data', status).on('end', () => client.close())
`

type Line = Record<string, unknown>

/** A program that uses the client, and what it prints. */
class Follower {
  readonly #lines: Line[] = []
  #child: ReturnType<typeof spawn> | null = null
  #errors = ''
  #wake: () => void = () => undefined

  start(dataDir: string): void {
    writeFileSync(join(project, 'follower.mjs'), FOLLOWER)
    const child = spawn(process.execPath, [join(project, 'follower.mjs'), dataDir], { stdio: 'pipe' })
    createInterface(child.stdout).on('line', (line) => {
      this.#lines.push(JSON.parse(line))
      this.#wake()
    })
    child.stderr.on('data', (chunk) => {
      this.#errors += chunk
    })
    child.once('exit', () => this.#wake())
    this.#child = child
  }

  of(name: string): unknown[] {
    return this.#lines.flatMap((line) => (name in line ? [line[name]].flat() : []))
  }

  ask(): void {
    this.#child?.stdin?.write('\n')
  }

  /** Until it said so, more than `before` times. */
  async until(said: (line: Line) => boolean, before = 0): Promise<void> {
    while (this.#lines.filter(said).length <= before) {
      if (this.#child?.exitCode != null) throw new Error(`it ended: ${this.#errors}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** It ends by itself once it has closed what it opened. */
  async end(): Promise<void> {
    if (this.#child === null) return
    this.#child.stdin?.end()
    expect(await exited(this.#child)).toBe(0)
  }
}
