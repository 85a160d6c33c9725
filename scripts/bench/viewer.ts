/**
 * `npm run bench -- viewer [--observations 100000] [--json]`: size of the bundle, time until the first observation is on the
 * page, frames while events arrive and while the list of observations is scrolled, memory after 10,000 events, and the effect
 * of fifty viewers on hooks. In a real Chromium with a real daemon; each figure next to a baseline of the same run.
 */
import { fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { VERSION } from '../../src/lib/version.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { type Frames, framesFor, heapMb, launchBrowser, openViewer, viewerLink } from '../lib/browser.ts'
import { isLoadChild, openSocketAt, runLoad } from '../lib/load.ts'
import { bash, eventOf, sessionEnd, stop, userPrompt } from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { median, Progress, printNote, report, rounded } from '../lib/report.ts'
import { DIST, kill, processesIn, type Sandbox, startDaemon, stopServing } from '../lib/sandbox.ts'
import { observedSessions } from '../search/code-queries.ts'
import { Corpus } from '../search/corpus.ts'
import { fillProject } from '../search/filled-project.ts'

const SESSIONS = 8
/** Tool uses of a turn, between its prompt and its Stop. */
const TURN = 18
const TICK_MS = 25

class Feed {
  readonly #client: DaemonClient
  #sent = 0
  #acked = 0

  constructor(client: DaemonClient) {
    this.#client = client
  }

  get acked(): number {
    return this.#acked
  }

  /** Sends events at `perSecond`; resolves when all of them are acknowledged. */
  async run({ perSecond, count }: { perSecond: number; count: number }): Promise<void> {
    const began = performance.now()
    const waiting: Promise<unknown>[] = []
    for (let sent = 0; sent < count; ) {
      const due = Math.min(count, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1)
      for (; sent < due; sent += 1) waiting.push(this.#send())
      await sleep(TICK_MS)
    }
    await Promise.all(waiting)
  }

  async #send(): Promise<void> {
    const n = this.#sent++
    const event = eventOf(payloadOf(n))
    await this.#client.call('event', { event, version: VERSION })
    this.#acked += 1
  }
}

/** Eight sessions in turn: a prompt, tool uses, the end of the turn, sometimes the end of the session. */
function payloadOf(n: number) {
  const round = Math.floor(n / SESSIONS)
  const sandbox = round % (TURN + 2)
  const number = Math.floor(round / (TURN + 2))
  const turn = {
    session: `feed-${n % SESSIONS}-${Math.floor(number / 5)}`,
    prompt: `feed-${n % SESSIONS}-${number}`,
    cwd: '/home/dev/feed',
  }
  if (sandbox === 0) return userPrompt(turn, `Look into part ${number} of the feed`)
  if (sandbox <= TURN) return bash(turn, `toolu_feed_${n}`, `npm run step-${n}`, `step ${n} took ${n % 90} ms`)
  return number % 5 === 4 ? sessionEnd(turn) : stop(turn, `Part ${number} is done`)
}

const CHILD = '--watchers'

interface Watchers {
  /** Stream items that all of them received together. */
  stop(): Promise<number>
}

function startWatchers(socket: string, count: number): Promise<Watchers> {
  const script = process.argv[1]
  if (script === undefined) throw new Error('process.argv[1] is empty: the child process cannot be started')
  return new Promise((resolve, reject) => {
    const child = fork(script, [CHILD, JSON.stringify({ socket, count })])
    let got = 0
    child.on('message', (message) => {
      if (typeof message === 'number') got = message
      else resolve({ stop: () => stopped().then(() => got) })
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the watchers ended with exit code ${code}`)))
    const stopped = () =>
      new Promise<void>((done) => {
        child.once('exit', () => done())
        child.send('stop')
      })
  })
}

/** True in the child process, which ends on request. */
async function isWatchersChild(): Promise<boolean> {
  const at = process.argv.indexOf(CHILD)
  if (at === -1) return false
  const { socket, count }: { socket: string; count: number } = JSON.parse(process.argv[at + 1] ?? '')
  let got = 0
  await Promise.all(Array.from({ length: count }, () => follow(socket, () => (got += 1))))
  process.on('message', () => process.send?.(got, () => process.exit(0)))
  process.send?.('ready')
  return true
}

function follow(path: string, heard: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = openSocketAt(path)
    socket.on('open', () =>
      socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id: '1', type: 'subscribe', since: null })),
    )
    socket.on('message', (data) => {
      const message: { type: string } = JSON.parse(String(data))
      if (message.type === 'subscribed') resolve()
      else heard()
    })
    socket.on('error', reject)
  })
}

const SEED = 11
const DEFAULT_OBSERVATIONS = 100_000
const EVENTS_PER_SECOND = 200
const STREAM_MS = 10_000
const EVENTS = 10_000
const VIEWERS = 50
const ROUNDS = 5
const LOAD_SECONDS = 4
const LOADS = 5
const START_LIMIT_MS = 300_000
const SIZE = { viewport: { width: 1280, height: 800 } }
/** A row of the memory list with an observation. */
const ROW = '[data-testid=memory-row]'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    observations: { type: 'string', default: String(DEFAULT_OBSERVATIONS) },
    // Arguments of the child processes.
    'load-clients': { type: 'string' },
    watchers: { type: 'string' },
  },
})
const progress = new Progress()

function bundleKb(): number {
  const directory = join(DIST, 'viewer')
  const bytes = readdirSync(directory).map((name) => gzipSync(readFileSync(join(directory, name))).length)
  return bytes.reduce((sum, size) => sum + size, 0) / 1024
}

/** Time from opening the link until an observation is on the page, compared with a page that shows one picture. */
async function firstObservation(browser: Browser, sandbox: Sandbox): Promise<{ ms: number; blankMs: number }> {
  const times: number[] = []
  const blank: number[] = []
  for (let i = 0; i < LOADS; i++) {
    progress.show(`first observation: ${i + 1} of ${LOADS}`)
    const link = await viewerLink(sandbox)
    const context = await browser.newContext(SIZE)
    const page = await context.newPage()
    const before = performance.now()
    await page.goto(`${new URL(link).origin}/icon.svg`)
    blank.push(performance.now() - before)
    const began = performance.now()
    await page.goto(link)
    await page.evaluate(() => {
      location.hash = '#/memory'
    })
    await page.locator(ROW).first().waitFor()
    times.push(performance.now() - began)
    await context.close()
  }
  return { ms: median(times), blankMs: median(blank) }
}

async function streaming(page: Page, feed: Feed): Promise<Frames> {
  const running = feed.run({ perSecond: EVENTS_PER_SECOND, count: (EVENTS_PER_SECOND * STREAM_MS) / 1_000 })
  const frames = await framesFor(page, STREAM_MS)
  await running
  return frames
}

/** Scrolls in ten seconds through all rows that the list shows, as with a dragged scroll bar. */
async function scrolling(page: Page): Promise<Frames> {
  for (const more = page.getByRole('button', { name: 'Show more' }); (await more.count()) > 0; ) {
    const rows = await page.locator(ROW).count()
    await more.click()
    await page.locator(ROW).nth(rows).waitFor()
  }
  const moving = page.evaluate(
    ({ duration }) =>
      new Promise<void>((resolve) => {
        const main = document.querySelector('main')
        if (main === null) throw new Error('the page has no main element')
        const began = performance.now()
        const step = (now: number) => {
          const share = Math.min(1, (now - began) / duration)
          main.scrollTop = share * (main.scrollHeight - main.clientHeight)
          if (share < 1) requestAnimationFrame(step)
          else resolve()
        }
        requestAnimationFrame(step)
      }),
    { duration: STREAM_MS },
  )
  const frames = await framesFor(page, STREAM_MS)
  await moving
  return frames
}

/** Median time of an ack without viewers and with fifty, in turn, so that other load affects both. */
async function acksBeside(sandbox: Sandbox): Promise<{ alone: number; watched: number; heard: number }> {
  const load = { socket: sandbox.paths.socket, connections: 1, inFlight: 1, seconds: LOAD_SECONDS }
  const alone: number[] = []
  const watched: number[] = []
  let heard = 0
  let acks = 0
  for (let round = 0; round < ROUNDS; round++) {
    progress.show(`acks beside ${VIEWERS} viewers: ${round + 1} of ${ROUNDS}`)
    alone.push(median((await runLoad({ ...load, run: round * 2 })).latenciesMs))
    const watchers = await startWatchers(sandbox.paths.socket, VIEWERS)
    const result = await runLoad({ ...load, run: round * 2 + 1 })
    watched.push(median(result.latenciesMs))
    acks += result.acks
    heard += await watchers.stop()
  }
  // Events before and after the measured time are also published: each viewer gets every commit.
  if (heard < acks * VIEWERS) throw new Error(`${acks} events, but ${VIEWERS} viewers received only ${heard} in all`)
  return { alone: median(alone), watched: median(watched), heard }
}

async function main(): Promise<void> {
  const size = Number(options.observations)
  if (!Number.isInteger(size) || size < 1_000) {
    printNote('claude-mem: --observations needs a number of at least 1000')
    process.exit(2)
  }
  progress.show('observing the recorded sessions')
  const sources = (await observedSessions()).flatMap(({ observed }) => observed.observations)
  const corpus = new Corpus(sources, new Random(SEED))
  const sandbox = await fillProject(size, corpus, (text) => progress.show(text))
  let browser: Browser | null = null
  try {
    await startDaemon(sandbox, START_LIMIT_MS)
    browser = await launchBrowser()
    const first = await firstObservation(browser, sandbox)
    const client = await DaemonClient.connect(sandbox.paths)
    const feed = new Feed(client)

    progress.show('frames')
    const memory = await openViewer(browser, sandbox, '#/memory', SIZE)
    await memory.locator(ROW).first().waitFor()
    const idle = await framesFor(memory, STREAM_MS / 2)
    const scroll = await scrolling(memory)
    await memory.context().close()
    const live = await openViewer(browser, sandbox, '#/session', SIZE)
    const heapBefore = await heapMb(live)
    const stream = await streaming(live, feed)
    progress.show(`memory after ${EVENTS} events`)
    await feed.run({ perSecond: EVENTS_PER_SECOND, count: EVENTS - feed.acked })
    const heapAfter = await heapMb(live)
    await live.context().close()
    client.close()

    const acks = await acksBeside(sandbox)
    progress.clear()
    report(
      {
        bundle_gzip_kb: rounded(bundleKb(), 1),
        first_observation_ms: rounded(first.ms, 0),
        first_observation_over_picture: rounded(first.ms / first.blankMs),
        frames_idle: rounded(idle.perSecond, 1),
        frames_streaming: rounded(stream.perSecond, 1),
        frames_streaming_ratio: rounded(stream.perSecond / idle.perSecond),
        longest_frame_streaming_ms: rounded(stream.longestMs, 0),
        frames_scrolling_ratio: rounded(scroll.perSecond / idle.perSecond),
        longest_frame_scrolling_ms: rounded(scroll.longestMs, 0),
        observations: size,
        heap_mb_before: rounded(heapBefore, 1),
        heap_mb_after: rounded(heapAfter, 1),
        events: feed.acked,
        ack_p50_alone_ms: rounded(acks.alone, 3),
        ack_p50_watched_ms: rounded(acks.watched, 3),
        ack_slowdown: rounded(acks.watched / acks.alone),
        viewers: VIEWERS,
        items_heard: acks.heard,
      },
      options.json,
    )
  } finally {
    await browser?.close()
    await stopServing(sandbox, START_LIMIT_MS)
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
}

if (!(await isLoadChild()) && !(await isWatchersChild())) await main()
