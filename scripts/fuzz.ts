/**
 * `npm run fuzz -- [--count 1000000] [--target NAME] [--seed N] [--slice i/n] [--index A[-B]] [--json]`: damaged frames, HTTP
 * requests, payloads, spool files, import files, transcripts and model replies, against the real parsers and a real
 * daemon. No crash, no input that takes over a second, bounded memory, nothing stored that is not valid. A finding names
 * the command that repeats it. docs/benchmarks.md describes the result.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isMainThread } from 'node:worker_threads'
import { dataPaths } from '../src/lib/paths.ts'
import { WatchedDaemon } from './fuzz/daemon.ts'
import { checkStored, type StoredReport } from './fuzz/stored.ts'
import { countOf, isTargetName, TARGET_NAMES, TARGETS, type TargetName } from './fuzz/targets.ts'
import { type FeedRequest, feedAsWorker, feedOnThread } from './fuzz/worker.ts'
import { freshSeed } from './lib/random.ts'
import { Progress, printNote, report, rounded } from './lib/report.ts'

const LOOK_MS = 1_000

interface Range {
  from: number
  to: number
  step: number
}

interface TargetReport {
  inputs: number
  per_second: number
  slowest_ms: number
  findings: string[]
  daemon?: WatchedDaemon['figures']
  stored?: StoredReport['rows']
}

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      count: { type: 'string', default: '1000000' },
      target: { type: 'string' },
      seed: { type: 'string' },
      slice: { type: 'string', default: '0/1' },
      index: { type: 'string' },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const seed = options.seed === undefined ? freshSeed() : Number(options.seed)
  const [slice = Number.NaN, slices = Number.NaN] = options.slice.split('/').map(Number)
  const known = options.target === undefined || isTargetName(options.target)
  if (!known || !Number.isInteger(seed) || !(slice >= 0 && slice < slices) || !(Number(options.count) >= 1)) {
    printNote(
      `usage: npm run fuzz -- [--count 1000000] [--target ${TARGET_NAMES.join('|')}] [--seed 1] [--slice 0/20] [--index 5[-9]] [--keep] [--json]`,
    )
    return 2
  }
  printNote(`seed ${seed}`)
  const began = performance.now()
  const names = TARGET_NAMES.filter((name) => options.target === undefined || name === options.target)
  const reports: Partial<Record<TargetName, TargetReport>> = {}
  for (const name of names) {
    const range = rangeOf(options.index) ?? { from: slice, to: countOf(name, Number(options.count)), step: slices }
    reports[name] = await fuzz(name, seed, range, options.keep)
  }
  const findings = Object.values(reports).flatMap((one) => one.findings)
  for (const finding of findings) printNote(`FINDING ${finding}`)
  report(
    {
      inputs: Object.values(reports).reduce((sum, { inputs }) => sum + inputs, 0),
      findings: findings.length,
      seed,
      slice: options.slice,
      targets: reports,
      duration_s: rounded((performance.now() - began) / 1_000, 1),
    },
    options.json,
  )
  return findings.length === 0 ? 0 : 1
}

/** `--index 5` or `--index 5-9`. */
function rangeOf(text: string | undefined): Range | null {
  if (text === undefined) return null
  const [from = 0, last = from] = text.split('-').map(Number)
  return { from, to: last + 1, step: 1 }
}

async function fuzz(name: TargetName, seed: number, range: Range, keep: boolean): Promise<TargetReport> {
  const progress = new Progress()
  const scratch = mkdtempSync(join(tmpdir(), 'claude-mem-fuzz-files-'))
  const daemon = TARGETS[name].daemon ? new WatchedDaemon() : null
  const began = performance.now()
  const interrupt = () => {
    daemon?.remove(keep)
    process.exit(130)
  }
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    await daemon?.start()
    const paths = daemon?.sandbox.paths ?? dataPaths(scratch)
    const request: FeedRequest = {
      ...range,
      target: name,
      seed,
      context: { scratch, paths, env: { ...daemon?.sandbox.env } },
    }
    mkdirSync(scratch, { recursive: true })
    let [looked, newest] = [range.from, range.from]
    const look = async () => {
      const where = `inputs ${looked} to ${newest}`
      looked = newest
      await daemon?.look(where)
    }
    const watch = repeat(LOOK_MS, look)
    const { fed, slowestMs, slowestIndex, findings } = await feedOnThread(request, (count, index) => {
      newest = index
      progress.show(`${name}: ${count} of ${Math.ceil((range.to - range.from) / range.step)}`)
    })
    const seconds = (performance.now() - began) / 1_000
    await watch.stop()
    await look()
    await daemon?.stop()
    const stored = daemon === null ? null : checkStored(paths.database)
    if (daemon !== null) await restartOn(daemon)
    progress.clear()
    const repeatWith = (index: number | string) => `npm run fuzz -- --target ${name} --seed ${seed} --index ${index}`
    for (const { stack } of findings) printNote(stack)
    return {
      inputs: fed,
      per_second: rounded(fed / seconds, 0),
      slowest_ms: rounded(slowestMs, 0),
      findings: [
        ...findings.map(({ index, text }) => `${name}: ${text} (${repeatWith(index)})`),
        ...(daemon?.problems ?? []).map(
          (text) =>
            `${name}: ${text} (${repeatWith(/inputs (\d+ to \d+)/.exec(text)?.[1]?.replace(' to ', '-') ?? 'A-B')})`,
        ),
        ...(stored?.problems ?? []).map((text) => `${name}: ${text} (${repeatWith(`${range.from}-${range.to - 1}`)})`),
      ],
      ...(daemon === null ? { slowest_index: slowestIndex } : { daemon: daemon.figures, stored: stored?.rows ?? {} }),
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    daemon?.remove(keep)
    if (keep) printNote(`kept: ${daemon?.sandbox.paths.dataDir ?? scratch}`)
    else rmSync(scratch, { recursive: true, force: true })
  }
}

/** What was stored must not harm the next daemon either. */
async function restartOn(daemon: WatchedDaemon): Promise<void> {
  try {
    await daemon.start()
    await daemon.look('the start after the run')
    await daemon.stop()
  } catch (error) {
    daemon.problems.push(`after the run: ${String(error)}`)
  }
}

/** Runs the work again and again, each time after the one before has ended. */
function repeat(everyMs: number, work: () => Promise<void>): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const next = () => {
    timer = setTimeout(() => {
      running = work().finally(() => {
        if (!stopped) next()
      })
    }, everyMs)
  }
  next()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

if (isMainThread) process.exitCode = await main()
else await feedAsWorker()
