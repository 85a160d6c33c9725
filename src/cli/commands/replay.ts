/** `claude-mem replay`: observes a stored session again and compares the result with what is stored. */

import { TYPE_ICONS } from '../../context/lines.ts'
import { formatDateTime } from '../../domain/dates.ts'
import { UNKNOWN_OUTCOME } from '../../domain/model-call.ts'
import type { Observation, Summary } from '../../domain/observation.ts'
import { formatCount, pluralize } from '../../lib/format.ts'
import { loadSettings } from '../../settings/settings.ts'
import { weightedTokens } from '../../store/port.ts'
import type { ComparedMemory, FieldChange } from '../../transfer/replay/compare.ts'
import type { PreparedReplay, ReplayFigures, ReplayView } from '../../transfer/replay/index.ts'
import type { ReplayRequest } from '../../transfer/replay/observer.ts'
import { REPLAY_PROVIDERS } from '../../transfer/replay/providers.ts'
import { oneOf } from '../arguments.ts'
import { type Cli, confirmChange, printResult, withInterruptSignal } from '../cli.ts'
import { defineCommand, EXIT_FAILED, stringOption, yesOption } from '../command.ts'
import { formatKnownCost, formatMoney } from '../format.ts'
import { withDaemon, withMemory } from '../memory-client.ts'
import { progressBar, remainingText, throttled } from '../progress.ts'
import type { Display, Paint } from '../style.ts'
import { rightColumn, tableLines } from '../table.ts'
import { paragraphWidth, terminalSafe, wrapText } from '../text.ts'

/** Time between two updates of the progress line. */
const PROGRESS_INTERVAL_MS = 100

export const replayCommand = defineCommand({
  usage: 'replay <session>',
  group: 'Inspect',
  summary: 'Observe a stored session again, and show what would be different',
  about:
    'Gives a stored session to an observer again, from what is kept of its tool uses, through the same state machine as in ' +
    'the daemon, and compares the result with what is stored. Nothing is added or changed; what a model costs is recorded ' +
    'and counts against the daily budget. Use it to try another provider, model or version of the prompts on work that you know. Without options the ' +
    'observer is the one that the settings choose. If a model would be called, the estimated cost is printed first and has ' +
    'to be confirmed; --yes skips the question. Tool payloads are kept for CLAUDE_MEM_KEEP_PAYLOADS_DAYS; removed ones ' +
    'cannot be replayed.',
  examples: [
    ['claude-mem replay 5f1c', 'the session whose id starts with it, with the current observer'],
    ['claude-mem replay 5f1c --provider offline', 'with the rules, without a model'],
    ['claude-mem replay 5f1c --provider anthropic --model claude-sonnet-5', 'another model'],
    ['claude-mem replay 5f1c --provider anthropic --prompt-dir ./prompts', 'your own prompts'],
  ],
  positionals: { session: { type: 'string', describe: 'The start of its id', demandOption: true } },
  options: {
    provider: stringOption(REPLAY_PROVIDERS.join(', ')),
    model: stringOption('A model of that provider'),
    'prompt-dir': stringOption(
      'A directory with other prompts (init.md, observation.md, …); the built-in ones replace missing ones',
    ),
    all: { type: 'boolean', describe: 'Also show what stays the same' },
    yes: { ...yesOption, describe: 'Do not ask for confirmation of the cost' },
  },
  run: async ({ session, provider, model, 'prompt-dir': promptDir, all, yes }, cli) => {
    const request: ReplayRequest = {
      provider: provider === undefined ? null : oneOf('provider', provider, REPLAY_PROVIDERS),
      model: model ?? null,
      promptDir: promptDir ?? null,
    }
    return await replay(session, request, { all, yes }, cli)
  },
})

async function replay(
  session: string,
  request: ReplayRequest,
  { all, yes }: { all: boolean; yes: boolean },
  cli: Cli,
): Promise<number> {
  const [{ prepareReplay, runReplay }, { sessionPolicy }] = await Promise.all([
    import('../../transfer/replay/index.ts'),
    import('../../daemon/actors/supervisor.ts'),
  ])
  const settings = loadSettings(cli.paths.dataDir, cli.env)
  const prepared = await withMemory(cli, (call) =>
    prepareReplay(call, session, request, { settings, paths: cli.paths, env: cli.env }),
  )
  if (!yes && !(await confirmCost(prepared, cli))) return EXIT_FAILED
  const { loaded, choice } = prepared.chosen
  const view = await withInterruptSignal((signal) =>
    runReplay(prepared, {
      policy: sessionPolicy(loaded, choice.provider === 'offline'),
      signal,
      temporary: cli.paths.temporary,
      recordCost: async (project, calls) => {
        const figures = calls.map(({ sent: _sent, received: _received, error, ...call }) => ({
          ...call,
          outcome: outcomeOf(error),
        }))
        await withDaemon(cli, (client) => client.call('record_calls', { project, calls: figures }))
      },
      onProgress: throttled(PROGRESS_INTERVAL_MS, (elapsedMs, done: number, total: number) =>
        cli.progress(replayProgressLine(done, total, elapsedMs)),
      ),
    }),
  ).finally(() => cli.progress(''))
  printResult(cli, { dryRun: false, ...view }, () => replayLines(view, all, cli.display()))
  return 0
}

function outcomeOf(error: string | null): 'answered' | 'failed' | 'unknown' {
  if (error === null) return 'answered'
  return error === UNKNOWN_OUTCOME ? 'unknown' : 'failed'
}

/** Only if a model would be called. With --json or without a terminal the answer is no. */
async function confirmCost(prepared: PreparedReplay, cli: Cli): Promise<boolean> {
  const { cost, observer } = prepared
  if (cost === null) return true
  printResult(cli, { dryRun: true, observer, estimate: cost.estimate }, () => costLines(prepared, cost, cli.display()))
  const options = { reason: 'a model would be called', canAsk: cli.interactive && !cli.json }
  return await confirmChange(cli, 'Replay it?', 'Nothing was replayed', options)
}

/** Characters of one text or list item that are printed. */
const MAX_CHARS = 600
const SHOWN_FAILED = 5
const CHANGE_INDENT = '      '

function costLines(
  { session, observer }: PreparedReplay,
  { estimate, budget }: NonNullable<PreparedReplay['cost']>,
  display: Display,
): string[] {
  const { style } = display
  const { limitUsd, spentUsd } = budget.view
  const price = estimate.cost === null ? 'the price is unknown' : `about ${formatMoney(estimate.cost)}`
  const billed = observer.provider === 'claude-code' ? ' of your subscription' : `, ${price}`
  const isOverBudget = estimate.cost !== null && estimate.cost + spentUsd > limitUsd
  const warning = `! it ends at ${formatMoney(limitUsd)} a day; ${formatMoney(spentUsd)} is spent today`
  return [
    style.bold(`Session ${terminalSafe(session.session)}: ${pluralize(session.toolUses, 'tool use')}`),
    `${observerText(observer)} would be called: about ${formatCount(estimate.tokens)} tokens${billed}`,
    ...(isOverBudget ? [style.yellow(warning)] : []),
    ...removedPayloadLines(
      { ...session.payloads, goneFrom: session.gone?.from ?? null, goneTo: session.gone?.to ?? null },
      display,
    ),
  ]
}

function replayProgressLine(done: number, total: number, elapsedMs: number): string {
  const remaining = remainingText(done, total, elapsedMs)
  return `${progressBar(done, total)} ${done} of ${pluralize(total, 'event')}${remaining}`
}

function replayLines(view: ReplayView, all: boolean, display: Display): string[] {
  const { bold } = display.style
  const project = terminalSafe(view.projectName) || terminalSafe(view.project)
  return [
    bold(`Session ${terminalSafe(view.session)} (${project}), observed again by ${observerText(view.observer)}`),
    ...removedPayloadLines(view.payloads, display),
    ...comparisonSection('Observations', view.observations, observationHead, all, display),
    ...comparisonSection('Summaries', view.summaries, summaryHead, all, display),
    ...failedLines(view, display),
    '',
    ...figureTable(view, display),
    '',
    ...noteLines(view, display),
    verdict(view, display),
  ]
}

function observerText({ provider, model, promptDir }: ReplayView['observer']): string {
  const prompts = promptDir === null ? '' : `, prompts of ${promptDir}`
  return terminalSafe(`${provider}${model === null ? '' : ` (${model})`}${prompts}`)
}

function removedPayloadLines(payloads: ReplayView['payloads'], { style }: Display): string[] {
  const { kept, total, goneFrom, goneTo } = payloads
  if (goneFrom === null || goneTo === null) return []
  const [from, to] = [formatDateTime(goneFrom), formatDateTime(goneTo)]
  const what = kept === total ? 'The last message of a turn' : `The payload of ${total - kept} of ${total} tool uses`
  return [
    style.yellow(
      `! ${what} was removed (${from === to ? from : `${from} to ${to}`}) after CLAUDE_MEM_KEEP_PAYLOADS_DAYS`,
    ),
    style.yellow(
      '  The observer gets less than before; memories that came only from removed payloads are not compared',
    ),
  ]
}

function comparisonSection<T extends Observation | Summary>(
  title: string,
  list: readonly ComparedMemory<T>[],
  head: (memory: T) => string,
  all: boolean,
  display: Display,
): string[] {
  const { bold, dim } = display.style
  if (list.length === 0) return []
  const same = list.filter(({ kind }) => kind === 'same').length
  const shown = all ? list : list.filter(({ kind }) => kind !== 'same')
  return [
    '',
    bold(title),
    ...shown.flatMap((one) => memoryLines(one, head, display)),
    ...(same === 0 || all ? [] : [dim(`= ${same} would stay the same`)]),
  ]
}

function memoryLines<T extends Observation | Summary>(
  one: ComparedMemory<T>,
  head: (memory: T) => string,
  display: Display,
): string[] {
  const { red, green, yellow, dim } = display.style
  switch (one.kind) {
    case 'same':
      return [dim(`= #${one.stored.id} ${head(one.stored)}`)]
    case 'changed':
      return [
        `${yellow('~')} #${one.stored.id} ${head(one.fresh)}`,
        ...one.fields.flatMap((change) => fieldChangeLines(change, display)),
      ]
    case 'only_stored':
      return [red(`- #${one.stored.id} ${head(one.stored)}`), ...factLines(one.stored, '-', red, display)]
    case 'only_new':
      return [green(`+ ${head(one.fresh)}`), ...factLines(one.fresh, '+', green, display)]
  }
}

function observationHead({ type, title, subtitle }: Observation): string {
  return `${TYPE_ICONS[type]} ${type}  ${terminalSafe(title ?? subtitle ?? '(no title)')}`
}

function summaryHead({ promptNumber, request }: Summary): string {
  return `turn ${promptNumber}  ${terminalSafe(truncateChars(request ?? '(no request)'))}`
}

function factLines(memory: Observation | Summary, sign: string, paint: Paint, display: Display): string[] {
  return 'facts' in memory ? memory.facts.flatMap((fact) => signedLines(sign, fact, paint, display)) : []
}

function fieldChangeLines(change: FieldChange, display: Display): string[] {
  const { red, green, dim } = display.style
  const before = change.kind === 'list' ? change.removed : [change.before ?? '']
  const after = change.kind === 'list' ? change.added : [change.after ?? '']
  return [
    `    ${dim(change.field)}`,
    ...before.filter(Boolean).flatMap((text) => signedLines('-', text, red, display)),
    ...after.filter(Boolean).flatMap((text) => signedLines('+', text, green, display)),
  ]
}

function signedLines(sign: string, text: string, paint: Paint, { columns }: Display): string[] {
  const width = paragraphWidth(columns, CHANGE_INDENT.length + 2)
  return wrapText(terminalSafe(truncateChars(text)), width).map((line, i) =>
    paint(`${CHANGE_INDENT}${i === 0 ? sign : ' '} ${line}`),
  )
}

function truncateChars(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`
}

function failedLines({ failed }: ReplayView, { style }: Display): string[] {
  const more = failed.length - SHOWN_FAILED
  return [
    ...(failed.length === 0 ? [] : ['']),
    ...failed
      .slice(0, SHOWN_FAILED)
      .map(({ eventId, tool, error }) =>
        style.yellow(
          `! ${terminalSafe(tool ?? 'event')} ${terminalSafe(eventId)} would fail: ${terminalSafe(error ?? 'unknown')}`,
        ),
      ),
    ...(more > 0 ? [style.yellow(`! and ${more} more`)] : []),
  ]
}

function figureTable({ before, after }: ReplayView, display: Display): string[] {
  const row = (title: string, show: (figures: ReplayFigures) => string) => [title, show(before), show(after)]
  return tableLines(
    ['', rightColumn('stored'), rightColumn('replayed')],
    [
      row('observations', ({ observations }) => String(observations)),
      row('for 100 tool uses', ({ perHundred }) => perHundred.toFixed(1)),
      row('summaries', ({ summaries }) => String(summaries)),
      row('calls to a model', ({ calls }) => String(calls)),
      row('tokens', ({ usage }) => formatCount(weightedTokens(usage))),
      row('cost', formatKnownCost),
    ],
    display,
  )
}

function noteLines({ leftOut, partly, before, after, payloads }: ReplayView, { style }: Display): string[] {
  const { gone, byHand, summaries } = leftOut
  const notCompared = [
    ...(gone > 0 ? [`${pluralize(gone, 'observation')} whose tool uses were removed`] : []),
    ...(byHand > 0 ? [`${pluralize(byHand, 'observation')} written by hand or imported`] : []),
    ...(summaries > 0 ? [`the summaries of ${pluralize(summaries, 'turn')}`] : []),
  ]
  const isPartial = payloads.goneFrom !== null && before.calls > 0
  return [
    ...(notCompared.length === 0 ? [] : [`not compared: ${notCompared.join(', ')}`]),
    ...(partly === 0 ? [] : [`${pluralize(partly, 'observation')} compared although some tool uses were removed`]),
    ...(isPartial ? ['stored figures are those of the whole session'] : []),
    after.calls === 0
      ? 'the memory was only read'
      : 'the memory was only read; the cost is recorded and counts against the budget',
  ].map(style.dim)
}

function verdict({ observations, summaries, payloads }: ReplayView, { style }: Display): string {
  const texts = [
    ...differenceTexts(observations, 'observation', 'observations'),
    ...differenceTexts(summaries, 'summary', 'summaries'),
  ]
  const limitation = payloads.goneFrom === null ? '' : ', as far as it can be compared'
  if (texts.length === 0) return style.green(`✓ Nothing would change${limitation}`)
  return style.bold(`Of ${texts.join('; of ')}${limitation}`)
}

function differenceTexts(list: readonly ComparedMemory<unknown>[], one: string, many: string): string[] {
  const count = (kind: ComparedMemory<unknown>['kind']) => list.filter((item) => item.kind === kind).length
  const stored = list.length - count('only_new')
  const parts = [
    ...(count('changed') > 0 ? [`${count('changed')} would change`] : []),
    ...(count('only_stored') > 0 ? [`${count('only_stored')} would be missing`] : []),
    ...(count('only_new') > 0 ? [`${count('only_new')} would be new`] : []),
  ]
  return parts.length === 0 ? [] : [`${stored} ${stored === 1 ? one : many} ${parts.join(', ')}`]
}
