/** What a soak samples every few seconds, and the judgement whether each figure stays flat. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { rounded } from '../lib/report.ts'
import type { Sandbox } from '../lib/sandbox.ts'
import { isFlat, largestSlope, type Point, type Slope, slopeOf } from './slopes.ts'

const MB = 2 ** 20
const HOUR_MS = 3_600_000
/** After this time as much is erased as is stored, in ms: before, everything grows with the memory. */
const FILLED_MS = 240_000
/** Parts of a life whose samples count as equally old; the first part, the start, is left out. */
const AGES = 8

interface FigureSpec {
  unit: string
  /** Growth per hour that is not called a leak: a fraction of what would matter within a week. */
  bound: number
  /** Figures of the process start again with every daemon; those of files do not. */
  scope: 'process' | 'files'
}

const FIGURES = {
  rss: { unit: 'MB', bound: 12, scope: 'process' },
  handles: { unit: 'open files', bound: 4, scope: 'process' },
  threads: { unit: 'threads', bound: 1, scope: 'process' },
  wal: { unit: 'MB', bound: 2, scope: 'files' },
  // Calls to the model stay for the account when their session is erased: 15 MB an hour, half empty pages included.
  database: { unit: 'MB', bound: 20, scope: 'files' },
  // Logs are rotated at 25 MB; at this rate they last for a working day with a failing provider.
  logs: { unit: 'MB', bound: 3, scope: 'files' },
  other_files: { unit: 'files', bound: 2, scope: 'files' },
  temporary_files: { unit: 'files', bound: 1, scope: 'files' },
  spool: { unit: 'events', bound: 2, scope: 'files' },
} as const satisfies Record<string, FigureSpec>

type FigureName = keyof typeof FIGURES
const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[]

interface Sample {
  /** Since the start of the run, in ms. */
  at: number
  life: number
  /** Since this daemon serves, in ms. */
  age: number
  values: Partial<Record<FigureName, number>>
}

export interface Subject {
  pid: number
  life: number
  age: number
}

export class Samples {
  readonly #sandbox: Sandbox
  readonly #temporary: string
  readonly #samples: Sample[] = []
  readonly #began = performance.now()

  constructor(sandbox: Sandbox, temporary: string) {
    this.#sandbox = sandbox
    this.#temporary = temporary
  }

  get count(): number {
    return this.#samples.length
  }

  /** Nothing is recorded when the daemon ends in the middle of it. */
  take(subject: Subject): Sample | null {
    try {
      const { life, age } = subject
      const sample: Sample = { at: performance.now() - this.#began, life, age, values: this.#read(subject) }
      this.#samples.push(sample)
      return sample
    } catch {
      return null
    }
  }

  #read({ pid }: Subject): Sample['values'] {
    const { dataDir, database, spool, logs } = this.#sandbox.paths
    return {
      ...processValues(pid),
      wal: sizeOf(`${database}-wal`) / MB,
      database: sizeOf(database) / MB,
      logs: filesIn(logs).reduce((sum, file) => sum + sizeOf(file), 0) / MB,
      other_files: filesIn(dataDir).filter((file) => ![spool, this.#temporary].some((at) => file.startsWith(at)))
        .length,
      temporary_files: filesIn(this.#temporary).length,
      spool: filesIn(spool).filter((file) => file.endsWith('.json')).length,
    }
  }

  /** Samples of a daemon's warm-up do not count. `shortestMs`: the shortest life, for comparisons at equal ages. */
  judge(warmUpMs: number, shortestMs: number): Record<FigureName, FigureVerdict> {
    const verdicts = FIGURE_NAMES.map((name) => [name, this.#judgeFigure(name, warmUpMs, shortestMs)] as const)
    return Object.fromEntries(verdicts) as Record<FigureName, FigureVerdict>
  }

  #judgeFigure(name: FigureName, warmUpMs: number, shortestMs: number): FigureVerdict {
    const { unit, bound, scope } = FIGURES[name]
    const warm = this.#samples.filter(({ age }) => age >= warmUpMs)
    const series = scope === 'process' ? byLife(warm, name) : [pointsOf(warm, name)]
    const slope = slopeOf(series)
    const values = series.flat().map(({ value }) => value)
    // A figure that exists only on another operating system.
    if (values.length === 0) return { unit, flat: true, measured: false }
    const lives = scope === 'process' ? this.#betweenLives(name, shortestMs) : null
    return {
      unit,
      measured: true,
      flat: isFlat(slope, bound) && (lives === null || isFlat(lives, bound)),
      slope_per_hour: rounded(slope.perHour),
      error: rounded(slope.error),
      largest_slope: rounded(largestSlope(slope)),
      bound_per_hour: bound,
      median: rounded([...values].sort((a, b) => a - b)[values.length >> 1] ?? 0),
      max: rounded(Math.max(...values)),
      samples: slope.samples,
      ...(lives === null
        ? {}
        : { between_lives_per_hour: rounded(lives.perHour), between_lives_error: rounded(lives.error) }),
    }
  }

  /**
   * Growth from one daemon to the next, which each of them inherits from files: every sample is compared with samples of
   * the same age in other lives. Null with fewer than three lives.
   */
  #betweenLives(name: FigureName, shortestMs: number): Slope | null {
    const young = this.#samples.filter(({ at, age }) => at >= FILLED_MS && age >= shortestMs / AGES && age < shortestMs)
    if (new Set(young.map(({ life }) => life)).size < 3) return null
    const ages = new Map<number, Point[]>()
    for (const { at, age, values } of young) {
      const value = values[name]
      if (value === undefined) continue
      const part = Math.floor((age / shortestMs) * AGES)
      ages.set(part, [...(ages.get(part) ?? []), { hours: at / HOUR_MS, value }])
    }
    return slopeOf([...ages.values()])
  }
}

export interface FigureVerdict {
  unit: string
  flat: boolean
  measured: boolean
  [figure: string]: unknown
}

function byLife(samples: readonly Sample[], name: FigureName): Point[][] {
  const lives = [...new Set(samples.map(({ life }) => life))]
  return lives.map((life) =>
    pointsOf(
      samples.filter((sample) => sample.life === life),
      name,
    ),
  )
}

function pointsOf(samples: readonly Sample[], name: FigureName): Point[] {
  return samples.flatMap(({ at, values }) => {
    const value = values[name]
    return value === undefined ? [] : [{ hours: at / HOUR_MS, value }]
  })
}

/** Linux only, else nothing. */
function processValues(pid: number): Sample['values'] {
  if (process.platform !== 'linux') return {}
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  return {
    rss: field('VmRSS') / 1024,
    threads: field('Threads'),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    // It does not exist, or a directory in it was removed meanwhile.
    return []
  }
}
