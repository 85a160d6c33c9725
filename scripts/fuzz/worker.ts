/**
 * Feeds one target on a thread of its own, so that an input on which a parser never returns can be named and ended. The
 * thread that started it watches the counter in shared memory.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { errorMessage } from '../../src/lib/errors.ts'
import { type FuzzTarget, INPUT_LIMIT_MS, randomOf, type TargetContext } from './target.ts'
import { TARGETS, type TargetName } from './targets.ts'

/** A thread without progress for this long is ended, in ms: a loaded machine delays it by seconds. */
const HANG_MS = 30_000
/** Memory of this process, with everything that a million inputs left behind, in bytes. */
const MEMORY_LIMIT = 1.5 * 2 ** 30
const MEMORY_EVERY = 500
/** Different findings after which a target is given up. */
const MAX_FINDINGS = 25

export interface FoundProblem {
  index: number
  text: string
  stack: string
}

export interface FeedRequest {
  target: TargetName
  seed: number
  /** Every `step`-th index from `from` to before `to`. */
  from: number
  to: number
  step: number
  context: TargetContext
}

export interface FeedResult {
  fed: number
  slowestMs: number
  slowestIndex: number
  findings: FoundProblem[]
}

/** `onProgress`: how many inputs were fed, and the newest index. */
export async function feedOnThread(
  request: FeedRequest,
  onProgress: (fed: number, index: number) => void,
): Promise<FeedResult> {
  const findings: FoundProblem[] = []
  const total: FeedResult = { fed: 0, slowestMs: 0, slowestIndex: -1, findings }
  let from = request.from
  while (from < request.to && findings.length < MAX_FINDINGS) {
    const shared = new Int32Array(new SharedArrayBuffer(8))
    const result = await feedUntilEnd({ ...request, from }, shared, (fed, index) => onProgress(total.fed + fed, index))
    total.fed += result.fed
    findings.push(...result.findings)
    if (result.slowestMs > total.slowestMs)
      Object.assign(total, { slowestMs: result.slowestMs, slowestIndex: result.slowestIndex })
    if (result.endedAt === null) break
    from = result.endedAt + request.step
  }
  return total
}

interface ThreadResult extends FeedResult {
  /** The index at which the thread was lost; null if it came to its end. */
  endedAt: number | null
}

function feedUntilEnd(
  request: FeedRequest,
  shared: Int32Array,
  onProgress: (fed: number, index: number) => void,
): Promise<ThreadResult> {
  const script = process.argv[1]
  if (script === undefined) throw new Error('process.argv[1] is empty: the thread cannot be started')
  return new Promise((resolve) => {
    const worker = new Worker(script, { workerData: { request, shared }, env: process.env })
    let last = -1
    let since = performance.now()
    const end = (result: FeedResult, endedAt: number | null) => {
      clearInterval(watch)
      resolve({ ...result, endedAt })
    }
    const lost = (text: string, stack: string) => {
      const index = Atomics.load(shared, 0)
      const fed = Atomics.load(shared, 1)
      void worker.terminate()
      end({ fed: fed + 1, slowestMs: 0, slowestIndex: -1, findings: [{ index, text, stack }] }, index)
    }
    const watch = setInterval(() => {
      const fed = Atomics.load(shared, 1)
      onProgress(fed, Atomics.load(shared, 0))
      if (fed !== last) since = performance.now()
      last = fed
      if (performance.now() - since > HANG_MS) lost(`no progress for ${HANG_MS / 1_000} s`, '')
    }, 250)
    worker.once('message', (result: FeedResult) => end(result, null))
    worker.once('error', (error) =>
      lost(`uncaught: ${errorMessage(error)}`, String(error instanceof Error ? error.stack : '')),
    )
  })
}

/** The thread's side. */
export async function feedAsWorker(): Promise<void> {
  const { request, shared }: { request: FeedRequest; shared: Int32Array } = workerData
  const target = await TARGETS[request.target].open(request.context)
  const feeder = new Feeder(target, request, shared)
  await feeder.run()
  parentPort?.postMessage(feeder.result)
}

class Feeder {
  readonly result: FeedResult = { fed: 0, slowestMs: 0, slowestIndex: -1, findings: [] }
  readonly #target: FuzzTarget
  readonly #request: FeedRequest
  readonly #shared: Int32Array
  readonly #known = new Set<string>()
  #next: number

  constructor(target: FuzzTarget, request: FeedRequest, shared: Int32Array) {
    this.#target = target
    this.#request = request
    this.#shared = shared
    this.#next = request.from
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#target.lanes }, (_, lane) => this.#lane(lane)))
    await this.#guard(this.#request.to - 1, () => this.#target.close())
  }

  async #lane(lane: number): Promise<void> {
    for (;;) {
      const index = this.#next
      if (index >= this.#request.to || this.result.findings.length >= MAX_FINDINGS) return
      this.#next += this.#request.step
      Atomics.store(this.#shared, 0, index)
      await this.#guard(index, async () => {
        const took = await this.#time(index, lane)
        // Only what is slow again, alone, is slow: other programs share the processor.
        if (took > INPUT_LIMIT_MS && this.#target.lanes === 1) await this.#confirm(index, lane)
      })
      this.result.fed += 1
      Atomics.store(this.#shared, 1, this.result.fed)
      if (this.result.fed % MEMORY_EVERY === 0) this.#checkMemory(index)
    }
  }

  async #time(index: number, lane: number): Promise<number> {
    const { seed, target } = this.#request
    const feed = this.#target.prepare(randomOf(seed, target, index), index, lane)
    const began = performance.now()
    await feed()
    const took = performance.now() - began
    if (took > this.result.slowestMs) Object.assign(this.result, { slowestMs: took, slowestIndex: index })
    return took
  }

  async #confirm(index: number, lane: number): Promise<void> {
    const again = [await this.#time(index, lane), await this.#time(index, lane)]
    if (Math.min(...again) > INPUT_LIMIT_MS) throw new Error(`an input takes longer than ${INPUT_LIMIT_MS} ms`)
  }

  async #guard(index: number, work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#found(index, errorMessage(error), String(error instanceof Error ? error.stack : error))
    }
  }

  /** Inputs that fail in the same way count once: numbers and quoted texts differ. */
  #found(index: number, text: string, stack: string): void {
    const kind = text.replaceAll(/\d+|"[^"]*"/g, '#')
    if (this.#known.has(kind)) return
    this.#known.add(kind)
    this.result.findings.push({ index, text, stack })
  }

  #checkMemory(index: number): void {
    const bytes = process.memoryUsage.rss()
    if (bytes > MEMORY_LIMIT) this.#found(index, `this process needs ${Math.round(bytes / 2 ** 20)} MB`, '')
  }
}
