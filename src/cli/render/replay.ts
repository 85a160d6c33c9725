/** `claude-mem replay` for people: what would come out different, and what it would cost. */
import { ICONS } from '../../context/lines.ts'
import type { Observation, Summary } from '../../memory/observation.ts'
import type { Compared } from '../../replay/compare.ts'
import type { FieldChange } from '../../replay/fields.ts'
import type { Prepared } from '../../replay/index.ts'
import type { Figures, ReplayView } from '../../replay/view.ts'
import { weighedTokens } from '../../store/accounting.ts'
import { knownMoney, money, tokens } from '../amounts.ts'
import { bar } from '../bar.ts'
import type { Look, Paint } from '../style.ts'
import { table } from '../table.ts'
import { clean, counted, padEnd, wrap } from '../text.ts'
import { duration, minute } from '../times.ts'

const BAR_COLUMNS = 24
/** Longer lines are hard to read however wide the terminal is. */
const MAX_COLUMNS = 100
/** Of one text or one item: enough to see what is different about it. */
const MAX_CHARS = 600
const SHOWN_FAILED = 5

export function costLines({ session, observer, cost }: Prepared, look: Look): string[] {
  if (cost === null) return []
  const { estimate, budget } = cost
  const { limitUsd, spentUsd } = budget.view
  const price = estimate.cost === null ? 'nobody knows its price' : `about ${money(estimate.cost)}`
  const billed = observer.provider === 'claude-code' ? ' of your subscription' : `, ${price}`
  const past = estimate.cost !== null && estimate.cost + spentUsd > limitUsd
  return [
    look.style.bold(`Session ${clean(session.session)}: ${counted(session.toolUses, 'tool use')}`),
    `${whoText(observer)} would be asked: about ${tokens(estimate.tokens)} tokens${billed}`,
    ...(past ? [look.style.yellow(`! past ${money(limitUsd)} a day it ends; ${money(spentUsd)} is spent today`)] : []),
    ...goneLines({ payloads: payloadsOf(session) }, look),
  ]
}

export function progressLine(done: number, of: number, elapsedMs: number): string {
  const left = done === 0 ? '' : `, ${duration((elapsedMs * (of - done)) / done)} left`
  return `▕${padEnd(bar(done, of, BAR_COLUMNS), BAR_COLUMNS)}▏ ${done} of ${counted(of, 'event')}${left}`
}

export function replayLines(view: ReplayView, all: boolean, look: Look): string[] {
  const { bold } = look.style
  const place = clean(view.projectName) || clean(view.project)
  return [
    bold(`Session ${clean(view.session)} (${place}), observed again by ${whoText(view.observer)}`),
    ...goneLines(view, look),
    ...section('Observations', view.observations, observationHead, all, look),
    ...section('Summaries', view.summaries, summaryHead, all, look),
    ...failedLines(view, look),
    '',
    ...figureTable(view, look),
    '',
    ...notes(view, look),
    verdict(view, look),
  ]
}

function whoText({ provider, model, promptDir }: ReplayView['observer']): string {
  const prompts = promptDir === null ? '' : `, prompts of ${promptDir}`
  return clean(`${provider}${model === null ? '' : ` (${model})`}${prompts}`)
}

function payloadsOf({ payloads, gone }: Prepared['session']): ReplayView['payloads'] {
  return { ...payloads, goneFrom: gone?.from ?? null, goneTo: gone?.to ?? null }
}

function goneLines({ payloads }: Pick<ReplayView, 'payloads'>, { style }: Look): string[] {
  const { kept, total, goneFrom, goneTo } = payloads
  if (goneFrom === null || goneTo === null) return []
  const when = minute(goneFrom) === minute(goneTo) ? minute(goneFrom) : `${minute(goneFrom)} to ${minute(goneTo)}`
  const what = kept === total ? 'The last words of a turn are' : `What ${total - kept} of ${total} tool uses said is`
  return [
    style.yellow(`! ${what} gone (${when}): it is kept for CLAUDE_MEM_KEEP_PAYLOADS_DAYS`),
    style.yellow('  The observer knows less than it did then, and what came of it alone is not compared'),
  ]
}

function section<T extends Observation | Summary>(
  title: string,
  list: readonly Compared<T>[],
  head: (memory: T) => string,
  all: boolean,
  look: Look,
): string[] {
  const { bold, dim } = look.style
  const same = list.filter(({ kind }) => kind === 'same').length
  const shown = all ? list : list.filter(({ kind }) => kind !== 'same')
  if (list.length === 0) return []
  return [
    '',
    bold(title),
    ...shown.flatMap((one) => memoryLines(one, head, look)),
    ...(same === 0 || all ? [] : [dim(`= ${same} would stay the same`)]),
  ]
}

function memoryLines<T extends Observation | Summary>(
  one: Compared<T>,
  head: (memory: T) => string,
  look: Look,
): string[] {
  const { red, green, yellow, dim } = look.style
  switch (one.kind) {
    case 'same':
      return [dim(`= ${idOf(one.stored)} ${head(one.stored)}`)]
    case 'changed':
      return [
        `${yellow('~')} ${idOf(one.stored)} ${head(one.fresh)}`,
        ...one.fields.flatMap((f) => fieldLines(f, look)),
      ]
    case 'only_stored':
      return [red(`- ${idOf(one.stored)} ${head(one.stored)}`), ...factLines(one.stored, '-', red, look)]
    case 'only_new':
      return [green(`+ ${head(one.fresh)}`), ...factLines(one.fresh, '+', green, look)]
  }
}

const idOf = ({ id }: { id: number }) => `#${id}`

function observationHead({ type, title, subtitle }: Observation): string {
  return `${ICONS[type]} ${type}  ${clean(title ?? subtitle ?? '(no title)')}`
}

function summaryHead({ promptNumber, request }: Summary): string {
  return `turn ${promptNumber}  ${clean(short(request ?? '(no request)'))}`
}

function factLines(memory: Observation | Summary, sign: string, paint: Paint, look: Look): string[] {
  return 'facts' in memory ? memory.facts.flatMap((fact) => signed(sign, fact, paint, look)) : []
}

function fieldLines(change: FieldChange, look: Look): string[] {
  const { red, green, dim } = look.style
  const before = change.kind === 'list' ? change.removed : [change.before ?? '']
  const after = change.kind === 'list' ? change.added : [change.after ?? '']
  return [
    `    ${dim(change.field)}`,
    ...before.filter(Boolean).flatMap((text) => signed('-', text, red, look)),
    ...after.filter(Boolean).flatMap((text) => signed('+', text, green, look)),
  ]
}

const INDENT = '      '

function signed(sign: string, text: string, paint: Paint, { columns }: Look): string[] {
  const width = Math.max(1, Math.min(MAX_COLUMNS, columns ?? MAX_COLUMNS) - INDENT.length - 2)
  return wrap(clean(short(text)), width).map((line, i) => paint(`${INDENT}${i === 0 ? sign : ' '} ${line}`))
}

function short(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`
}

function failedLines({ failed }: ReplayView, { style }: Look): string[] {
  const more = failed.length - SHOWN_FAILED
  return [
    ...(failed.length === 0 ? [] : ['']),
    ...failed
      .slice(0, SHOWN_FAILED)
      .map(({ eventId, tool, error }) =>
        style.yellow(`! ${clean(tool ?? 'event')} ${clean(eventId)} would be set aside: ${clean(error ?? 'unknown')}`),
      ),
    ...(more > 0 ? [style.yellow(`! and ${more} more`)] : []),
  ]
}

function figureTable({ before, after }: ReplayView, look: Look): string[] {
  const row = (title: string, show: (figures: Figures) => string) => [title, show(before), show(after)]
  return table(
    [{ title: '' }, { title: 'stored', align: 'right' }, { title: 'replayed', align: 'right' }],
    [
      row('observations', ({ observations }) => String(observations)),
      row('for 100 tool uses', ({ perHundred }) => perHundred.toFixed(1)),
      row('summaries', ({ summaries }) => String(summaries)),
      row('calls to a model', ({ calls }) => String(calls)),
      row('tokens', ({ usage }) => tokens(weighedTokens(usage))),
      row('cost', knownMoney),
    ],
    look,
  )
}

function notes({ leftOut, partly, before, after, payloads }: ReplayView, { style }: Look): string[] {
  const { gone, byHand, summaries } = leftOut
  const kept = [
    ...(gone > 0 ? [`${counted(gone, 'observation')} whose tool uses are gone`] : []),
    ...(byHand > 0 ? [`${counted(byHand, 'observation')} written by hand or imported`] : []),
    ...(summaries > 0 ? [`the summaries of ${counted(summaries, 'turn')}`] : []),
  ]
  return [
    ...(kept.length === 0 ? [] : [`not compared: ${kept.join(', ')}`]),
    ...(partly === 0 ? [] : [`${counted(partly, 'observation')} compared though a part of the tool uses is gone`]),
    ...(payloads.goneFrom === null || before.calls === 0 ? [] : ['stored figures are those of the whole session']),
    after.calls === 0
      ? 'the memory was only read'
      : 'the memory was only read; what this cost is on no account of it, nor counted against its budget later',
  ].map(style.dim)
}

function verdict({ observations, summaries, payloads }: ReplayView, { style }: Look): string {
  const texts = [...partsOf(observations, 'observation', 'observations'), ...partsOf(summaries, 'summary', 'summaries')]
  const told = payloads.goneFrom === null ? '' : ', as far as it can be told'
  if (texts.length === 0) return style.green(`✓ Nothing would change${told}`)
  return style.bold(`Of ${texts.join('; of ')}${told}`)
}

function partsOf(list: readonly Compared<unknown>[], one: string, many: string): string[] {
  const count = (kind: Compared<unknown>['kind']) => list.filter((item) => item.kind === kind).length
  const stored = list.length - count('only_new')
  const parts = [
    ...(count('changed') > 0 ? [`${count('changed')} would change`] : []),
    ...(count('only_stored') > 0 ? [`${count('only_stored')} would be missing`] : []),
    ...(count('only_new') > 0 ? [`${count('only_new')} would be new`] : []),
  ]
  return parts.length === 0 ? [] : [`${stored} ${stored === 1 ? one : many} ${parts.join(', ')}`]
}
