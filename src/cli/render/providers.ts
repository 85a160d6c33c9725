/** Prints `claude-mem providers`: the list of observers, and the result of a test call. */
import { type ModelPrice, PRICES_AS_OF } from '../../observer/prices.ts'
import type { ModelProvider, ProviderChoice, ProviderConfig, ProviderOffer } from '../../observer/provider-choice.ts'
import { chatServerAt } from '../../observer/provider-choice.ts'
import { maskSecret } from '../../settings/settings.ts'
import { formatDuration, formatMoney } from '../format.ts'
import type { ProviderTestFailure, ProviderTestSuccess } from '../provider-test.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines } from '../table.ts'
import { sanitize } from '../text.ts'

interface ProviderView {
  provider: ModelProvider | 'offline'
  chosen: boolean
  /** The setting that configures it; null: none does. */
  configuredBy: string | null
  /** Null: it uses no model. */
  model: string | null
  /** An address or a program. */
  at: string | null
  /** `shown`: masked. */
  key: { shown: string; source: string } | null
  price: ModelPrice | null
  cost: string
  problems: string[]
  notes: string[]
}

export interface ProvidersView {
  chosen: ProviderChoice['provider']
  why: string
  providers: ProviderView[]
  offers: ProviderOffer[]
  /** Of settings and of the user's prompts. */
  problems: string[]
}

/** Tokens of a typical turn (a batch and a summary), with cached ones weighted by their price. */
const TURN_INPUT_TOKENS = 18_000
const TURN_OUTPUT_TOKENS = 1_300

export function providerView(
  config: ProviderConfig,
  known: { chosen: boolean; configuredBy: string | null; price: ModelPrice | null },
) {
  const isProgram = config.provider === 'claude-code'
  const key = isProgram ? null : config.key
  return {
    provider: config.provider,
    chosen: known.chosen,
    configuredBy: known.configuredBy,
    model: config.model,
    at: isProgram ? config.program : config.baseUrl,
    key: key === null ? null : { shown: maskSecret(key.value), source: key.source },
    price: known.price,
    cost: providerCostText(config, known.price),
    problems: config.problems,
    notes: config.notes,
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

function providerCostText(config: ProviderConfig, price: ModelPrice | null): string {
  if (config.provider === 'claude-code') return 'part of your subscription, or charged to your API account'
  if (config.provider === 'openrouter' && chatServerAt(config.baseUrl) === 'local')
    return 'free: it runs on this machine'
  if (price === null) return 'unknown; to set the price: claude-mem config set prices MODEL=INPUT/OUTPUT'
  const turn = (TURN_INPUT_TOKENS * price.input + TURN_OUTPUT_TOKENS * price.output) / 1_000_000
  return `$${price.input} in, $${price.output} out for a million tokens (${PRICES_AS_OF}); roughly ${formatMoney(turn)} a turn`
}

export function providerLines(view: ProvidersView, display: Display): string[] {
  const { style } = display
  return [
    `${style.bold(view.chosen)} is the observer: ${sanitize(view.why)}`,
    ...view.providers.flatMap((provider) => ['', ...providerViewLines(provider, display)]),
    ...(view.offers.length === 0 ? [] : ['', style.bold('Available, but not used')]),
    ...view.offers.flatMap(({ text, commands }) => [
      `  ${sanitize(text)}; to use it:`,
      ...commands.map((line) => `    ${sanitize(line)}`),
    ]),
    ...(view.problems.length === 0 ? [] : ['']),
    ...view.problems.map((problem) => style.yellow(`! ${sanitize(problem)}`)),
    '',
    style.dim('A running daemon applies changes after: claude-mem restart'),
  ]
}

function providerViewLines(view: ProviderView, display: Display): string[] {
  const { style } = display
  const mark = view.chosen ? style.green('●') : '○'
  const fields: Field[] = [
    ['model', sanitize(view.model ?? '') || null],
    [view.provider === 'claude-code' ? 'program' : 'address', view.at === null ? null : sanitize(view.at)],
    ['key', view.key && `${sanitize(view.key.shown)} from ${view.key.source}`],
    ['cost', sanitize(view.cost)],
  ]
  const state = view.chosen ? ' (chosen)' : view.configuredBy === null ? '' : ' (set up)'
  // For a provider that is not configured, what is missing is information, not a problem.
  const paint = view.chosen || view.configuredBy !== null ? style.red : style.dim
  return [
    `${mark} ${style.bold(view.provider)}${state}`,
    ...fieldLines(fields, display),
    ...view.problems.map((problem) => `  ${paint(sanitize(problem))}`),
    ...view.notes.map((note) => `  ${style.yellow(sanitize(note))}`),
  ]
}

export function providerTestLines(
  provider: string,
  answer: ProviderTestSuccess | ProviderTestFailure,
  display: Display,
): string[] {
  const { style } = display
  if (!answer.ok) return [`${style.red('✗')} ${sanitize(answer.error)}`]
  const { input, output, cacheRead, cacheWrite } = answer.usage
  const cached = cacheRead + cacheWrite === 0 ? '' : `, ${cacheRead} read from and ${cacheWrite} written to a cache`
  return [
    `${style.green('✓')} ${provider} answers`,
    ...fieldLines(
      [
        ['model', sanitize(answer.model)],
        ['time', answer.ms < 1_000 ? `${answer.ms} ms` : formatDuration(answer.ms)],
        ['tokens', `${input} in, ${output} out${cached}`],
        ['cost', answer.cost === null ? 'unknown: there is no price for the model' : formatMoney(answer.cost)],
        ['reply', sanitize(answer.reply)],
      ],
      display,
    ),
  ]
}
