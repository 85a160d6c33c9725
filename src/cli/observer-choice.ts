/** Who observes from now on: asked for by name or at the terminal, and what has to be set for it. */
import { MemError } from '../errors.ts'
import { chooseProvider } from '../observer/choose.ts'
import { priceOf } from '../observer/prices.ts'
import { APIS, type Surroundings, setUpOf } from '../observer/set-up.ts'
import { type LoadedSettings, parseSetting, type SettingName } from '../settings.ts'
import { askLine, type Terminal } from './ask.ts'
import { oneOf, UsageError } from './failure.ts'
import { clean } from './text.ts'

export const OBSERVERS = ['offline', 'claude-code', 'anthropic', 'gemini', 'openrouter'] as const
export type Observer = (typeof OBSERVERS)[number]

export interface ObserverPlan {
  provider: Observer
  /** In the order in which they are written. */
  settings: readonly (readonly [name: SettingName, value: string])[]
  notes: readonly string[]
}

/** Where a key comes from that is not set yet; null where nobody can be asked. */
export type KeySource = ((setting: SettingName) => Promise<string>) | null

export async function planObserver(
  provider: Observer,
  loaded: LoadedSettings,
  around: Surroundings,
  key: { always: boolean; ask: KeySource },
): Promise<ObserverPlan> {
  const chosen = ['CLAUDE_MEM_PROVIDER', provider] as const
  if (provider === 'offline') return { provider, settings: [chosen], notes: [] }
  if (provider === 'claude-code') {
    const { program, problems, notes } = programOf(loaded, around)
    if (program === null) throw new MemError('bad_setting', `${problems.join('; ')}. Nothing was changed.`)
    // The daemon may be started from somewhere with another PATH.
    const path = ['CLAUDE_CODE_PATH', program] as const
    return { provider, settings: loaded.values.CLAUDE_CODE_PATH === '' ? [path, chosen] : [chosen], notes }
  }
  const { key: setting } = APIS[provider]
  const before = setUpOf(provider, loaded, around, { named: true })
  const isMissing = before.problems.length > 0 && 'key' in before && before.key === null
  const given = (key.always || isMissing) && key.ask !== null ? await key.ask(setting) : null
  if (given === null) {
    if (before.problems.length === 0) return { provider, settings: [chosen], notes: before.notes }
    const hint = isMissing ? `, or pipe it in: claude-mem install --provider ${provider} --key-stdin` : ''
    throw new MemError('bad_setting', `${provider}: ${before.problems.join('; ')}${hint}. Nothing was changed.`)
  }
  const parsed = parseSetting(setting, given)
  if (!parsed.ok) throw new UsageError(parsed.message)
  const withKey = { ...loaded, values: { ...loaded.values, [setting]: given } }
  const { problems, notes } = setUpOf(provider, withKey, around, { named: true })
  if (problems.length > 0) {
    throw new MemError('bad_setting', `${provider}: ${problems.join('; ')}. Nothing was changed.`)
  }
  return { provider, settings: [[setting, given], chosen], notes }
}

function programOf(loaded: LoadedSettings, around: Surroundings) {
  const setUp = setUpOf('claude-code', loaded, around, { named: true })
  return { ...setUp, program: 'program' in setUp ? setUp.program : null }
}

/** A wrong key is pressed; somebody who does not know what to answer should not be held. */
const TRIES = 3

/** Null: as it is. */
export async function chooseObserver(
  loaded: LoadedSettings,
  around: Surroundings,
  terminal: Terminal,
): Promise<Observer | null> {
  const now = chooseProvider(loaded, around).provider
  const say = (line: string) => terminal.output.write(`${line}\n`)
  const width = Math.max(...OBSERVERS.map((name) => name.length))
  say('Who should observe your sessions and write down what was learned?')
  OBSERVERS.forEach((name, index) => {
    say(`  ${index + 1}  ${name.padEnd(width)}  ${costText(name, loaded, around)}`)
  })
  for (let n = 0; n < TRIES; n++) {
    const answer = await askLine(`1 to ${OBSERVERS.length}, or Enter for ${now}: `, terminal)
    if (answer === '') return null
    const found = OBSERVERS.find((name, index) => name === answer.toLowerCase() || String(index + 1) === answer)
    if (found !== undefined) return found
    say(`"${clean(answer)}" is none of them`)
  }
  return null
}

/** What 300 tool uses came to in docs/benchmarks.md (`tokens`), cache reads and writes at what they are billed. */
const BENCH_SESSION = { toolUses: 300, inputTokens: 214_000, outputTokens: 15_200 }

export function costText(observer: Observer, loaded: LoadedSettings, around: Surroundings): string {
  if (observer === 'offline') return 'rules, no model: costs nothing, sends nothing anywhere'
  if (observer === 'claude-code') {
    const { program } = programOf(loaded, around)
    const which = program === null ? 'no claude was found' : clean(program)
    return `your Claude subscription (${which}): counts against its limits`
  }
  const { model } = setUpOf(observer, loaded, around, { named: true })
  const price = priceOf(model, loaded.values.CLAUDE_MEM_PRICES)
  const { toolUses, inputTokens, outputTokens } = BENCH_SESSION
  const usd = price === null ? null : (inputTokens * price.input + outputTokens * price.output) / 1_000_000
  const about = usd === null ? 'what it costs is not known' : `about $${usd.toFixed(2)} for ${toolUses} tool uses`
  const most = `at most $${loaded.values.CLAUDE_MEM_DAILY_BUDGET_USD} a day`
  return `${clean(model) || 'a model'} by a key of yours: ${about}, ${most}`
}

export function observerNamed(given: string): Observer {
  return oneOf('provider', given, OBSERVERS)
}
