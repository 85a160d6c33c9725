/** `claude-mem providers`: the list of observers, and one small call through a provider to test it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Usage } from '../domain/observation.ts'
import { errorMessage } from '../lib/errors.ts'
import { makeChatModel } from '../observer/make-observer.ts'
import type { ChatReply, ChatRequest } from '../observer/model/chat.ts'
import { builtInPromptFolder, loadPrompts, userPromptFolder } from '../observer/model/prompts.ts'
import { parseReply } from '../observer/model/reply/index.ts'
import { type ModelPrice, modelPrice, PRICES_AS_OF, usageCost } from '../observer/prices.ts'
import {
  chatServerAt,
  chooseProvider,
  configuringSetting,
  findProviderOffers,
  MODEL_PROVIDERS,
  type ModelProvider,
  type ProviderConfig,
  providerConfig,
  readProviderEnvironment,
} from '../observer/provider-choice.ts'
import { type LoadedSettings, loadSettings, maskSecret } from '../settings/settings.ts'
import { oneOf } from './arguments.ts'
import { type Cli, printResult, withInterruptSignal } from './cli.ts'
import { EXIT_FAILED } from './command.ts'
import { formatDuration, formatMoney } from './format.ts'
import type { Display } from './style.ts'
import { type Field, fieldLines } from './table.ts'
import { terminalSafe } from './text.ts'

export async function listProviders(cli: Cli): Promise<number> {
  const view = await loadProviders(cli)
  printResult(cli, view, () => providerLines(view, cli.display()))
  return 0
}

async function loadProviders(cli: Cli) {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const environment = await readProviderEnvironment(cli.env)
  const choice = chooseProvider(loaded, environment)
  const models = MODEL_PROVIDERS.map((provider) => {
    const chosen = choice.provider === provider
    const config = (chosen ? choice.config : null) ?? providerConfig(provider, loaded, environment, { named: false })
    const price = config.model === '' ? null : modelPrice(config.model, loaded.values.CLAUDE_MEM_PRICES)
    return providerView(config, { chosen, configuredBy: configuringSetting(provider, loaded), price })
  })
  return {
    chosen: choice.provider,
    why: choice.why,
    providers: [...models, offlineView(choice.provider === 'offline')],
    offers: findProviderOffers(loaded, environment),
    /** Of settings and of the user's prompts. */
    problems: [...loaded.problems.map(({ message }) => message), ...findPromptProblems(cli, loaded)],
  }
}
type ProvidersView = Awaited<ReturnType<typeof loadProviders>>

function findPromptProblems(cli: Cli, { values }: LoadedSettings): string[] {
  const override = userPromptFolder(cli.paths.dataDir, values.CLAUDE_MEM_PROMPT_DIR)
  try {
    return loadPrompts({ folder: builtInPromptFolder(), override }).problems
  } catch (error) {
    // The built-in prompts are missing; the rest of the list is still useful.
    return [errorMessage(error)]
  }
}

export async function testObserver(cli: Cli, name: string | undefined): Promise<number> {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const environment = await readProviderEnvironment(cli.env)
  const choice = chooseProvider(loaded, environment)
  const names = [...MODEL_PROVIDERS, 'offline', 'plain'] as const
  const provider = name === undefined ? choice.provider : oneOf('provider', name, names)
  if (provider === 'offline' || provider === 'plain') {
    const text = `${provider} uses no model: there is nothing to call, and it always works`
    printResult(cli, { provider, ok: true, called: false }, () => text)
    return 0
  }
  const chosen = choice.provider === provider ? choice.config : null
  const config = chosen ?? providerConfig(provider, loaded, environment, { named: true })
  const problems = findPromptProblems(cli, loaded)
  const called = config.problems.length === 0
  if (!cli.json) {
    for (const note of [...config.notes, ...problems])
      cli.printStderr(cli.display().style.yellow(`! ${terminalSafe(note)}`))
    if (called) cli.printStderr(`One small call to ${terminalSafe(config.model)} through ${provider} …`)
  }
  const { CLAUDE_MEM_PRICES: prices, CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS } = loaded.values
  const timeoutMs = CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS * 1_000
  // A provider that is a program must exit with this process.
  const answer = await withInterruptSignal((signal) => testProvider(config, { prices, timeoutMs, signal }))
  printResult(cli, { provider, called, ...answer, notes: config.notes, problems }, () =>
    providerTestLines(provider, answer, cli.display()),
  )
  return answer.ok ? 0 : EXIT_FAILED
}

interface TestSuccess {
  ok: true
  /** As the provider names it, which may differ from the configured name. */
  model: string
  ms: number
  usage: Usage
  /** US dollars; null: the price is unknown. */
  cost: number | null
  reply: string
}

/** Thinking counts as output, so the limit is far above the one line that is asked for. */
const MAX_TOKENS = 1_024
/** Characters of the reply that are printed. */
const SHOWN_CHARS = 200

const REQUEST: ChatRequest = {
  system:
    'This is a test of a connection. Answer with exactly the one line of XML that you are asked for, nothing else.',
  messages: [{ role: 'user', content: 'Answer with this line:\n<skip reason="test"/>' }],
  maxTokens: MAX_TOKENS,
}

type TestResult = TestSuccess | { ok: false; error: string }

interface TestOptions {
  prices: readonly string[]
  timeoutMs: number
  signal: AbortSignal
}

async function testProvider(config: ProviderConfig, options: TestOptions): Promise<TestResult> {
  const workDir = mkdtempSync(join(tmpdir(), 'claude-mem-test-'))
  const startedAt = performance.now()
  try {
    const reply = await callModel(config, workDir, options)
    const fault = replyFault(reply)
    if (fault !== null) return { ok: false, error: fault }
    const price = modelPrice(reply.model, options.prices) ?? modelPrice(config.model, options.prices)
    return {
      ok: true,
      model: reply.model,
      ms: Math.round(performance.now() - startedAt),
      usage: reply.usage,
      cost: reply.cost ?? (price === null ? null : usageCost(reply.usage, price)),
      reply: excerpt(reply.text),
    }
  } catch (error) {
    return { ok: false, error: errorMessage(error) }
  } finally {
    rmSync(workDir, { recursive: true, force: true })
  }
}

async function callModel(config: ProviderConfig, workDir: string, options: TestOptions): Promise<ChatReply> {
  const { timeoutMs, signal } = options
  const timeout = new AbortController()
  const error = new Error(`there was no answer within ${timeoutMs / 1_000} s (CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS)`)
  const timer = setTimeout(() => timeout.abort(error), timeoutMs)
  try {
    return await makeChatModel(config, { workDir }).complete(REQUEST, AbortSignal.any([signal, timeout.signal]))
  } finally {
    clearTimeout(timer)
  }
}

/** Null: the reply is what was asked for. */
function replyFault({ text, stop, model }: ChatReply): string | null {
  const advice = 'choose another model: claude-mem config set model NAME'
  if (stop === 'refused') return `${model} refused to answer: ${excerpt(text)}; ${advice}`
  if (parseReply(text).skip !== null) return null
  if (stop === 'length') return `${model} was cut off after ${MAX_TOKENS} tokens without an answer; ${advice}`
  return `${model} answers, but not with the XML that it was asked for: ${excerpt(text)}; ${advice}`
}

function excerpt(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}

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

/** Tokens of a typical turn (a batch and a summary), with cached ones weighted by their price. */
const TURN_INPUT_TOKENS = 18_000
const TURN_OUTPUT_TOKENS = 1_300

function providerView(
  config: ProviderConfig,
  known: Pick<ProviderView, 'chosen' | 'configuredBy' | 'price'>,
): ProviderView {
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
  }
}

function offlineView(chosen: boolean): ProviderView {
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

function providerLines(view: ProvidersView, display: Display): string[] {
  const { style } = display
  return [
    `${style.bold(view.chosen)} is the observer: ${terminalSafe(view.why)}`,
    ...view.providers.flatMap((provider) => ['', ...providerViewLines(provider, display)]),
    ...(view.offers.length === 0 ? [] : ['', style.bold('Available, but not used')]),
    ...view.offers.flatMap(({ text, commands }) => [
      `  ${terminalSafe(text)}; to use it:`,
      ...commands.map((line) => `    ${terminalSafe(line)}`),
    ]),
    ...(view.problems.length === 0 ? [] : ['']),
    ...view.problems.map((problem) => style.yellow(`! ${terminalSafe(problem)}`)),
    '',
    style.dim('A running daemon applies changes after: claude-mem restart'),
  ]
}

function providerViewLines(view: ProviderView, display: Display): string[] {
  const { style } = display
  const mark = view.chosen ? style.green('●') : '○'
  const fields: Field[] = [
    ['model', terminalSafe(view.model ?? '') || null],
    [view.provider === 'claude-code' ? 'program' : 'address', view.at === null ? null : terminalSafe(view.at)],
    ['key', view.key && `${terminalSafe(view.key.shown)} from ${view.key.source}`],
    ['cost', terminalSafe(view.cost)],
  ]
  const state = view.chosen ? ' (chosen)' : view.configuredBy === null ? '' : ' (set up)'
  // For a provider that is not configured, what is missing is information, not a problem.
  const paint = view.chosen || view.configuredBy !== null ? style.red : style.dim
  return [
    `${mark} ${style.bold(view.provider)}${state}`,
    ...fieldLines(fields, display),
    ...view.problems.map((problem) => `  ${paint(terminalSafe(problem))}`),
    ...view.notes.map((note) => `  ${style.yellow(terminalSafe(note))}`),
  ]
}

function providerTestLines(provider: string, answer: TestResult, display: Display): string[] {
  const { style } = display
  if (!answer.ok) return [`${style.red('✗')} ${terminalSafe(answer.error)}`]
  const { input, output, cacheRead, cacheWrite } = answer.usage
  const cached = cacheRead + cacheWrite === 0 ? '' : `, ${cacheRead} read from and ${cacheWrite} written to a cache`
  return [
    `${style.green('✓')} ${provider} answers`,
    ...fieldLines(
      [
        ['model', terminalSafe(answer.model)],
        ['time', answer.ms < 1_000 ? `${answer.ms} ms` : formatDuration(answer.ms)],
        ['tokens', `${input} in, ${output} out${cached}`],
        ['cost', answer.cost === null ? 'unknown: there is no price for the model' : formatMoney(answer.cost)],
        ['reply', terminalSafe(answer.reply)],
      ],
      display,
    ),
  ]
}
