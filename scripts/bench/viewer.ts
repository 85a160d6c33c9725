/**
 * What the viewer weighs and how it behaves: its bundle, the time until the first observation is read, frames while
 * events pour in and while 100,000 observations are scrolled, its memory after 10,000 events, and what hooks notice of
 * fifty viewers. In a real Chromium, before a real daemon; each figure beside a baseline of the same run.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { ChannelClient } from '../../src/channel/client.ts'
import { fill } from '../context/filled.ts'
import { launchBrowser } from '../lib/browser.ts'
import { startDaemon, stopServing } from '../lib/daemon.ts'
import { isLoadChild, runLoad } from '../lib/load.ts'
import { Progress, report, say } from '../lib/output.ts'
import { kill, type Place, processesIn } from '../lib/place.ts'
import { Random } from '../lib/random.ts'
import { DIST } from '../lib/root.ts'
import { median, rounded } from '../lib/stats.ts'
import { observedSessions } from '../retrieval/code-queries.ts'
import { Corpus } from '../search/corpus.ts'
import { Feed } from '../viewer/feed.ts'
import { type Frames, framesFor, heapMb, openViewer, viewerLink } from '../viewer/page.ts'
import { isWatchersChild, startWatchers } from '../viewer/watchers.ts'

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
/** A row of the memory's list that holds an observation. */
const ROW = '[data-testid=memory-row]'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    observations: { type: 'string', default: String(DEFAULT_OBSERVATIONS) },
    // Of the processes that are started beside this one.
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

/** From the click on the link until an observation stands on the page, beside a page that shows one picture. */
async function firstObservation(browser: Browser, place: Place): Promise<{ ms: number; blankMs: number }> {
  const times: number[] = []
  const blank: number[] = []
  for (let i = 0; i < LOADS; i++) {
    progress.show(`first observation: ${i + 1} of ${LOADS}`)
    const link = await viewerLink(place)
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

/** Down through the whole list in ten seconds, as somebody does who drags the scroll bar. */
async function scrolling(page: Page): Promise<Frames> {
  const moving = page.evaluate(
    ({ duration }) =>
      new Promise<void>((resolve) => {
        const list = document.querySelector('[data-testid=memory-list]')
        if (list === null) throw new Error('there is no list')
        const began = performance.now()
        const step = (now: number) => {
          const share = Math.min(1, (now - began) / duration)
          list.scrollTop = share * (list.scrollHeight - list.clientHeight)
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

/** The middle of how long a hook waits for its ack: nobody watching, and fifty. In turn, so that both see the same machine. */
async function acksBeside(place: Place): Promise<{ alone: number; watched: number; heard: number }> {
  const load = { socket: place.paths.socket, connections: 1, inFlight: 1, seconds: LOAD_SECONDS }
  const alone: number[] = []
  const watched: number[] = []
  let heard = 0
  let acks = 0
  for (let round = 0; round < ROUNDS; round++) {
    progress.show(`acks beside ${VIEWERS} viewers: ${round + 1} of ${ROUNDS}`)
    alone.push(median((await runLoad({ ...load, run: round * 2 })).latenciesMs))
    const watchers = await startWatchers(place.paths.socket, VIEWERS)
    const result = await runLoad({ ...load, run: round * 2 + 1 })
    watched.push(median(result.latenciesMs))
    acks += result.acks
    heard += await watchers.stop()
  }
  // Some events were stored before and after the measured time; each viewer hears of every commit.
  if (heard < acks * VIEWERS) throw new Error(`${acks} events, but ${VIEWERS} viewers heard of ${heard} together`)
  return { alone: median(alone), watched: median(watched), heard }
}

async function main(): Promise<void> {
  const size = Number(options.observations)
  if (!Number.isInteger(size) || size < 1_000) {
    say('claude-mem: --observations takes a number from 1000 on')
    process.exit(2)
  }
  progress.show('observing the recorded sessions')
  const sources = (await observedSessions()).flatMap(({ observed }) => observed.observations)
  const corpus = new Corpus(sources, new Random(SEED))
  const place = await fill(size, corpus, (text) => progress.show(text))
  let browser: Browser | null = null
  try {
    await startDaemon(place, START_LIMIT_MS)
    browser = await launchBrowser()
    const first = await firstObservation(browser, place)
    const client = await ChannelClient.connect(place.paths)
    const feed = new Feed(client)

    progress.show('frames')
    const memory = await openViewer(browser, place, '#/memory', SIZE)
    await memory.locator(ROW).first().waitFor()
    const idle = await framesFor(memory, STREAM_MS / 2)
    const scroll = await scrolling(memory)
    await memory.context().close()
    const now = await openViewer(browser, place, '#/now', SIZE)
    const heapBefore = await heapMb(now)
    const stream = await streaming(now, feed)
    progress.show(`memory after ${EVENTS} events`)
    await feed.run({ perSecond: EVENTS_PER_SECOND, count: EVENTS - feed.acked })
    const heapAfter = await heapMb(now)
    await now.context().close()
    client.close()

    const acks = await acksBeside(place)
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
    await stopServing(place, START_LIMIT_MS)
    for (const pid of processesIn(place)) kill(pid)
    place.remove()
  }
}

if (!(await isLoadChild()) && !(await isWatchersChild())) await main()
