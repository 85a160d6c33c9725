/** Runs scenarios one after the other and reports their counts. */
import { errorMessage } from '../../src/lib/errors.ts'
import { Random } from '../lib/random.ts'
import { printNote, report, rounded } from '../lib/report.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { type Counts, World } from './world.ts'

interface RunOptions {
  seed: number
  sabotage: boolean
  keep: boolean
  cuts: number
  json: boolean
}

interface Result extends Counts {
  failures: number
  events: number
  duration_s: number
  skipped?: string
}

const NOTHING: Result = {
  lost: 0,
  altered: 0,
  duplicated: 0,
  stuck: 0,
  orphans: 0,
  leaked: 0,
  damage: 0,
  failures: 0,
  events: 0,
  duration_s: 0,
}
const BAD = ['lost', 'altered', 'duplicated', 'stuck', 'orphans', 'leaked', 'damage', 'failures'] as const

/** The exit code: 0 if nothing went wrong in any scenario, or, with sabotage, something in each. */
export async function runScenarios(name: string, options: RunOptions): Promise<number> {
  const names = name === 'all' ? Object.keys(SCENARIOS) : [name]
  if (names.some((one) => !Object.hasOwn(SCENARIOS, one))) {
    printNote(`there is no scenario "${name}"; choose "all" or one of these:`)
    for (const [known, { about }] of Object.entries(SCENARIOS)) printNote(`  ${known.padEnd(20)}${about}`)
    return 2
  }
  const results: Record<string, Result> = {}
  for (const one of names) {
    const scenario = SCENARIOS[one]
    if (scenario === undefined) continue
    printNote(`${one}: ${scenario.about}`)
    results[one] = await runOne(one, scenario, options)
    printNote(`${one}: ${JSON.stringify(results[one])}`)
  }
  const all = Object.values(results)
  const sums = Object.fromEntries(BAD.map((key) => [key, all.reduce((sum, result) => sum + result[key], 0)]))
  report({ scenario: name, ...sums, seed: options.seed, sabotage: options.sabotage, scenarios: results }, options.json)
  const isBad = (result: Result) => BAD.some((key) => result[key] > 0)
  const isFound = ({ lost, leaked, skipped }: Result) => lost + leaked > 0 || skipped !== undefined
  if (options.sabotage) return all.every(isFound) ? 0 : 1
  return all.some(isBad) ? 1 : 0
}

async function runOne(name: string, scenario: Scenario, { seed, sabotage, keep, cuts }: RunOptions): Promise<Result> {
  const skipped = scenario.unavailable?.() ?? null
  if (skipped !== null) return { ...NOTHING, skipped }
  const began = performance.now()
  const world = new World(name, new Random(seed), {
    sabotage,
    cuts,
    sabotagesItself: scenario.sabotagesItself ?? false,
  })
  const end = () => world.remove(false)
  process.once('SIGINT', end)
  try {
    let counts: Counts = NOTHING
    try {
      await scenario.run(world)
      counts = await world.finish()
    } catch (error) {
      world.failures.push(errorMessage(error))
    }
    for (const failure of world.failures) printNote(`  ${failure}`)
    return {
      ...counts,
      failures: world.failures.length,
      events: world.log.length,
      ...world.figures,
      duration_s: rounded((performance.now() - began) / 1000, 1),
    }
  } finally {
    process.removeListener('SIGINT', end)
    if (keep) printNote(`kept: ${world.paths.dataDir} and ${world.work}`)
    world.remove(keep)
  }
}
