/** `claude-mem providers` for people. */
import type { Choice, Offer } from '../../observer/choose.ts'
import { PRICES_OF, type Price } from '../../observer/prices.ts'
import { chatServerAt } from '../../observer/providers/openrouter.ts'
import type { ModelProvider, SetUp } from '../../observer/set-up.ts'
import { maskedSecret } from '../../settings.ts'
import { money } from '../amounts.ts'
import type { Answered, Failed } from '../provider-test.ts'
import type { Look } from '../style.ts'
import { fields } from '../table.ts'
import { clean } from '../text.ts'
import { duration } from '../times.ts'

export interface ProviderView {
  provider: ModelProvider | 'offline'
  chosen: boolean
  /** Null: it was not set up for claude-mem. */
  configuredBy: string | null
  /** Null: no model is asked. */
  model: string | null
  /** An address or a program. */
  at: string | null
  /** What may be shown of it. */
  key: { shown: string; source: string } | null
  price: Price | null
  cost: string
  problems: string[]
  notes: string[]
}

export interface ProvidersView {
  chosen: Choice['provider']
  why: string
  providers: ProviderView[]
  offers: Offer[]
  /** Of settings and of the user's own prompts. */
  problems: string[]
}

/** What a turn takes of a model, as tokens at the price of plain input and of output: a batch and a summary. */
const TURN_INPUT_TOKENS = 18_000
const TURN_OUTPUT_TOKENS = 1_300

export function viewOf(setUp: SetUp, known: { chosen: boolean; configuredBy: string | null; price: Price | null }) {
  const isProgram = setUp.provider === 'claude-code'
  const key = isProgram ? null : setUp.key
  return {
    provider: setUp.provider,
    chosen: known.chosen,
    configuredBy: known.configuredBy,
    model: setUp.model,
    at: isProgram ? setUp.program : setUp.baseUrl,
    key: key === null ? null : { shown: maskedSecret(key.value), source: key.source },
    price: known.price,
    cost: costText(setUp, known.price),
    problems: setUp.problems,
    notes: setUp.notes,
  } satisfies ProviderView
}

export function offlineView(chosen: boolean): ProviderView {
  return {
    provider: 'offline',
    chosen,
    configuredBy: null,
    model: null,
    at: null,
    key: null,
    price: null,
    cost: 'free: rules on this machine, no model; it always works',
    problems: [],
    notes: [],
  }
}

function costText(setUp: SetUp, price: Price | null): string {
  if (setUp.provider === 'claude-code') return 'part of your subscription, or what your API account is charged'
  if (setUp.provider === 'openrouter' && chatServerAt(setUp.baseUrl) === 'local') return 'free: it runs on this machine'
  if (price === null) return 'not known; to count it: claude-mem config set prices MODEL=INPUT/OUTPUT'
  const turn = (TURN_INPUT_TOKENS * price.input + TURN_OUTPUT_TOKENS * price.output) / 1_000_000
  return `$${price.input} in, $${price.output} out for a million tokens (${PRICES_OF}); roughly ${money(turn)} a turn`
}

export function providerLines(view: ProvidersView, look: Look): string[] {
  const { style } = look
  return [
    `${style.bold(view.chosen)} observes: ${clean(view.why)}`,
    ...view.providers.flatMap((provider) => ['', ...oneProvider(provider, look)]),
    ...(view.offers.length === 0 ? [] : ['', style.bold('There, and not used')]),
    ...view.offers.flatMap(({ text, commands }) => [
      `  ${clean(text)}; to use it:`,
      ...commands.map((line) => `    ${clean(line)}`),
    ]),
    ...(view.problems.length === 0 ? [] : ['']),
    ...view.problems.map((problem) => style.yellow(`! ${clean(problem)}`)),
    '',
    style.dim('A running daemon keeps what it was started with; to take up changes: claude-mem restart'),
  ]
}

function oneProvider(view: ProviderView, look: Look): string[] {
  const { style } = look
  const mark = view.chosen ? style.green('●') : '○'
  const list: [string, string][] = []
  if (view.model !== null && view.model !== '') list.push(['model', clean(view.model)])
  if (view.at !== null) list.push([view.provider === 'claude-code' ? 'program' : 'address', clean(view.at)])
  if (view.key !== null) list.push(['key', `${clean(view.key.shown)} from ${view.key.source}`])
  list.push(['cost', clean(view.cost)])
  const state = view.chosen ? ' (chosen)' : view.configuredBy === null ? '' : ' (set up)'
  // What is missing from a provider that nobody wants is how to get it, not a fault.
  const paint = view.chosen || view.configuredBy !== null ? style.red : style.dim
  return [
    `${mark} ${style.bold(view.provider)}${state}`,
    ...fields(list, look),
    ...view.problems.map((problem) => `  ${paint(clean(problem))}`),
    ...view.notes.map((note) => `  ${style.yellow(clean(note))}`),
  ]
}

export function answerLines(provider: string, answer: Answered | Failed, look: Look): string[] {
  const { style } = look
  if (!answer.ok) return [`${style.red('✗')} ${clean(answer.error)}`]
  const { input, output, cacheRead, cacheWrite } = answer.usage
  const cached = cacheRead + cacheWrite === 0 ? '' : `, ${cacheRead} read from and ${cacheWrite} written to a cache`
  return [
    `${style.green('✓')} ${provider} answers`,
    ...fields(
      [
        ['model', clean(answer.model)],
        ['time', answer.ms < 1_000 ? `${answer.ms} ms` : duration(answer.ms)],
        ['tokens', `${input} in, ${output} out${cached}`],
        ['cost', answer.cost === null ? 'not known: no price is known for the model' : money(answer.cost)],
        ['reply', clean(answer.reply)],
      ],
      look,
    ),
  ]
}
