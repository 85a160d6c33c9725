/** The commands of a shell line that do something, and the one that the line was about. */
import type { CommandKind } from '../../types.ts'
import { kindOf } from '../kinds/index.ts'
import { FILTERS, IDLE_PROGRAMS } from '../kinds/programs.ts'
import { clip } from '../output.ts'
import type { Run } from '../reading.ts'
import { keyOf } from './key.ts'
import { type Joiner, tokenize, type Word } from './tokens.ts'
import { innerLine, programName, stripPrefixes, stripRunners } from './unwrap.ts'

const SHOWN_CHARS = 200
const MAX_SHOWN_WORDS = 100
const MAX_RUNS = 40
const MAX_DEPTH = 3 // `sudo bash -c "sh -c '…'"` and no deeper

/** What a line with several commands was about, most telling first. */
const WEIGHT: Record<CommandKind, number> = {
  test: 10,
  commit: 9,
  migration: 9,
  build: 8,
  typecheck: 8,
  lint: 7,
  install: 6,
  server: 6,
  git: 5,
  run: 4,
  look: 1,
}

export interface Line {
  /** Those that do something, in order; never empty. */
  runs: Run[]
  /** A pipe, a `;` or an `||` stands after a command that counts: the exit code is not its own. */
  exitHidden: boolean
  /** The line itself prints `$?`. */
  printsExit: boolean
}

interface Stage extends Run {
  joiner: Joiner
}

export function readLine(source: string): Line {
  const stages = stagesOf(source, 0).slice(0, MAX_RUNS)
  const pipelines = groupPipes(stages)
  const runs = pipelines.map(mainStage).filter((run) => !IDLE_PROGRAMS.has(run.program))
  const printsExit = /\$\??\{?(?:\?|PIPESTATUS)/.test(source)
  const lastPipe = pipelines.at(-1)
  const exitHidden =
    stages.some((stage) => stage.joiner === 'or') ||
    pipelines.some((pipe) => pipe.length > 1) ||
    (lastPipe !== undefined && lastPipe[0]?.joiner === 'then' && pipelines.length > 1)
  if (runs.length > 0) return { runs, exitHidden, printsExit }
  const only = stages.at(-1) ?? emptyRun(source)
  return { runs: [only], exitHidden, printsExit }
}

function emptyRun(source: string): Run {
  const shown = clip(source, SHOWN_CHARS)
  return { kind: 'run', program: '', args: [], shown, key: shown, body: null }
}

function stagesOf(source: string, depth: number): Stage[] {
  return tokenize(source).flatMap((simple): Stage[] => {
    const typed = stripPrefixes(simple.words)
    const words = stripRunners(typed)
    const inner = depth < MAX_DEPTH ? innerLine(words) : null
    if (inner !== null) return rejoin(stagesOf(inner, depth + 1), simple.joiner)
    const [head, ...rest] = words
    if (head === undefined) return []
    const program = programName(head.text)
    const args = rest.map((word) => word.text)
    const kind = kindOf(program, args)
    const shown = clip(typed.slice(0, MAX_SHOWN_WORDS).map(shownWord).join(' '), SHOWN_CHARS)
    return [
      {
        kind,
        program,
        args,
        shown,
        key: keyOf(kind, program, args, simple.body),
        body: simple.body,
        joiner: simple.joiner,
      },
    ]
  })
}

/** Of a text of several lines, the first says what it is. */
function shownWord({ raw }: Word): string {
  const [first = '', ...more] = raw.split('\n')
  const quote = /["']/.exec(first)?.[0] ?? ''
  return clip(more.length === 0 ? first : `${first}…${quote}`, 120)
}

function rejoin(stages: Stage[], joiner: Joiner): Stage[] {
  const [first, ...rest] = stages
  return first === undefined ? [] : [{ ...first, joiner }, ...rest]
}

function groupPipes(stages: Stage[]): Stage[][] {
  const pipelines: Stage[][] = []
  for (const stage of stages) {
    if (stage.joiner === 'pipe' && pipelines.length > 0) pipelines.at(-1)?.push(stage)
    else pipelines.push([stage])
  }
  return pipelines
}

/** `cat dump.sql | psql shop | tail` is psql. */
function mainStage(pipeline: Stage[]): Run {
  const [first, ...rest] = pipeline
  if (first === undefined) return emptyRun('')
  const working = pipeline.filter((stage) => stage.kind !== 'look')
  const picked = heaviest(working)
  if (picked !== null) return picked
  return rest.find((stage) => !FILTERS.has(stage.program) && IDLE_PROGRAMS.has(first.program)) ?? first
}

function heaviest<R extends Run>(runs: R[]): R | null {
  let best: R | null = null
  for (const run of runs) if (best === null || WEIGHT[run.kind] >= WEIGHT[best.kind]) best = run
  return best
}

/** In `a && b && c` that failed, the last one whose own words stand in the output is the one that ran last. */
export function telling(runs: Run[], failed: boolean, spoke: (run: Run) => boolean): Run {
  const fallback = runs[0] ?? emptyRun('')
  const counting = runs.filter((run) => run.kind !== 'look')
  if (!failed) return heaviest(counting) ?? fallback
  const heard = counting.filter(spoke)
  const last = heard.at(-1)
  if (last !== undefined) return last
  // Nobody was heard: the heaviest, and of equals the first, because nothing after a failure runs.
  return heaviest([...counting].reverse()) ?? fallback
}
