/**
 * `npm run bench -- constants --starts DIR [--starts DIR …] [--settings 120] [--seed 1] [--json]`: how much the constants of the
 * start (`STORY` in src/context/story.ts) matter, and what a choice among random settings is worth on a set that it did not see.
 * DIR has what `bench answers --dump` and `bench asof --dump` wrote; checkpoints of one history are one set.
 *
 * - in_use: share of the questions that the start answers with the constants in use, mean over the sets
 * - left_out: the same, where for each set the setting that is best for all others was used
 * - median, best: over all settings, for all sets
 * - marginal: for each value of each constant the mean of the settings that have it
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildContext } from '../../src/context/build.ts'
import { STORY } from '../../src/context/story.ts'
import type { ContextMaterial } from '../../src/store/port.ts'
import { type Figures, Progress, report, rounded } from '../lib/report.ts'
import { answers } from '../quality/sessions.ts'
import type { MadeStart } from '../quality/start.ts'

/** Around the constants in use. */
const VALUES: Record<keyof typeof STORY, readonly number[]> = {
  specific: [3, 4, 5, 7],
  repeated: [0.1, 0.2, 0.3],
  turnAge: [0.93, 0.95, 0.97, 0.985],
  sessionAge: [0.8, 0.9, 0.95],
  costPower: [0.6, 0.7, 0.8, 0.9, 1],
  lead: [1.5, 2, 2.5, 3],
  request: [0.5, 0.75, 1, 1.3],
  commit: [0.3, 0.5, 1],
  words: [0.1, 0.3, 1],
  earlier: [0.3, 0.5, 0.8],
  choice: [1, 1.5, 2],
}

type Setting = typeof STORY
type Dump = Pick<MadeStart, 'project' | 'options' | 'reads'> & {
  name: string
  questions: Parameters<typeof answers>[1][]
}
/** Share of the questions of each set. */
type Score = ReadonlyMap<string, number>

const dumpsIn = (directory: string): Dump[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')))

async function scoreOf(dumps: readonly Dump[]): Promise<Score> {
  const asked = new Map<string, boolean[]>()
  for (const { name, project, options, reads, questions } of dumps) {
    const material = reads[0]?.result as ContextMaterial | null
    const { context } = await buildContext({ contextMaterial: async () => structuredClone(material) }, project, options)
    const set = name.replace(/-\d{3}$/, '')
    asked.set(set, [...(asked.get(set) ?? []), ...questions.map((question) => answers(context, question))])
  }
  return new Map([...asked].map(([set, all]) => [set, all.filter(Boolean).length / all.length]))
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length
const meanWithout = (score: Score, left: string | null): number =>
  mean([...score].filter(([set]) => set !== left).map(([, share]) => share))

function figuresOf(tried: readonly { setting: Setting; score: Score }[]): Figures {
  const [inUse, ...random] = tried
  if (inUse === undefined) return {}
  const bestFor = (left: string) =>
    tried.reduce((best, one) => (meanWithout(one.score, left) > meanWithout(best.score, left) ? one : best))
  const all = tried.map(({ score }) => meanWithout(score, null)).sort((a, b) => a - b)
  const marginal = Object.entries(VALUES).map(([name, values]) => [
    name,
    Object.fromEntries(
      values.map((value) => {
        const having = random.filter(({ setting }) => setting[name as keyof Setting] === value)
        return [
          value,
          having.length === 0 ? null : rounded(mean(having.map(({ score }) => meanWithout(score, null))), 3),
        ]
      }),
    ),
  ])
  return {
    in_use: rounded(meanWithout(inUse.score, null), 3),
    left_out: rounded(mean([...inUse.score.keys()].map((set) => bestFor(set).score.get(set) ?? 0)), 3),
    median: rounded(all[all.length >> 1] ?? 0, 3),
    best: rounded(all.at(-1) ?? 0, 3),
    settings: tried.length,
    by_set: Object.fromEntries([...inUse.score].map(([set, share]) => [set, rounded(share, 3)])),
    marginal: Object.fromEntries(marginal),
  }
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      starts: { type: 'string', multiple: true, default: [] },
      settings: { type: 'string', default: '120' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  })
  const dumps = options.starts.flatMap(dumpsIn)
  if (dumps.length === 0)
    throw new Error('--starts DIR is needed: what `bench answers --dump DIR` or `bench asof --dump DIR` wrote')
  let seed = Number(options.seed)
  const pick = (values: readonly number[]): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return values[Math.floor((seed / 2 ** 31) * values.length)] ?? 0
  }
  const progress = new Progress()
  const tried = [{ setting: { ...STORY }, score: await scoreOf(dumps) }]
  while (tried.length < Number(options.settings)) {
    progress.show(`setting ${tried.length + 1} of ${options.settings}`)
    for (const [name, values] of Object.entries(VALUES)) STORY[name as keyof Setting] = pick(values)
    tried.push({ setting: { ...STORY }, score: await scoreOf(dumps) })
  }
  progress.clear()
  report(figuresOf(tried), options.json)
}

await main()
