/** `claude-mem search` for people: a row for each hit, the words around what was found, and what answered. */
import type { SearchAnswer, SearchHit } from '../../search/query.ts'
import { tokens } from '../amounts.ts'
import type { Look } from '../style.ts'
import { type Cell, type Column, table } from '../table.ts'
import { clean, cut } from '../text.ts'
import { duration, minute } from '../times.ts'
import { explanationLines } from './explanation.ts'
import { highlighted } from './highlight.ts'
import { iconOf, labelOf } from './memory-label.ts'

/** Below the title, so that one sees where the next hit begins. */
const INDENT = '      '
/** A snippet that goes elsewhere than to a terminal is one line all the same. */
const SNIPPET_COLUMNS = 200
/** More ids say nothing more about how to ask for them. */
const SHOWN_IDS = 3

export interface Shown {
  /** The project is the same for all. */
  oneProject: boolean
  explain: boolean
  offset: number
}

export function hitLines(answer: SearchAnswer, shown: Shown, look: Look): string[] {
  const { hits } = answer
  if (hits.length === 0) return [...noteLines(answer, look), footer(answer, shown, look)]
  const [header = '', ...rows] = table(
    columnsOf(shown),
    hits.map((hit) => rowOf(hit, shown, look)),
    look,
  )
  const firstToComplete = hits.findIndex(({ completes }) => completes)
  return [
    header,
    ...hits.flatMap((hit, i) => [
      ...(i === firstToComplete ? [look.style.dim(completionText(i))] : []),
      rows[i] ?? '',
      ...belowRow(hit, shown, look),
    ]),
    '',
    ...noteLines(answer, look),
    footer(answer, shown, look),
    ...hints(answer, shown, look),
  ]
}

function columnsOf({ oneProject }: Shown): Column[] {
  return [
    { title: 'ID', align: 'right' },
    { title: 'WHEN' },
    { title: '' },
    { title: 'TITLE', narrow: 'cut' },
    ...(oneProject ? [] : [{ title: 'PROJECT', narrow: 'cut' } as const]),
    { title: 'TOKENS', align: 'right' },
  ]
}

function rowOf(hit: SearchHit, { oneProject }: Shown, { style }: Look): Cell[] {
  const { bold, dim } = style
  const paint = hit.supersededBy !== null || hit.completes ? dim : bold
  return [
    { text: labelOf(hit), paint: style.cyan },
    { text: minute(hit.createdAt), paint: dim },
    iconOf(hit),
    { text: hit.title, paint },
    ...(oneProject ? [] : [hit.projectName || hit.project]),
    { text: `~${tokens(hit.tokens)}`, paint: dim },
  ]
}

function belowRow(hit: SearchHit, { explain }: Shown, look: Look): string[] {
  const width = Math.min(SNIPPET_COLUMNS, look.columns ?? SNIPPET_COLUMNS) - INDENT.length
  const words = cut(clean(hit.snippet), width)
  const snippet = words === '' ? [] : [highlighted(words, hit.explanation.matched, look.style)]
  const state = stateText(hit)
  const lines = [
    ...snippet,
    ...(state === '' ? [] : [look.style.yellow(state)]),
    ...(explain ? explanationLines(hit.explanation, width, look) : []),
  ]
  return lines.map((line) => INDENT + line)
}

function stateText({ pinned, supersededBy, similar }: SearchHit): string {
  const alike = similar.slice(0, SHOWN_IDS).map((id) => `#${id}`)
  const rest = similar.length > SHOWN_IDS ? ` and ${similar.length - SHOWN_IDS} more` : ''
  return [
    ...(pinned ? ['pinned'] : []),
    ...(supersededBy === null ? [] : [`replaced by #${supersededBy}`]),
    ...(similar.length === 0 ? [] : [`nearly the same: ${alike.join(', ')}${rest}`]),
  ].join('; ')
}

function completionText(before: number): string {
  return before === 0
    ? 'Nothing was found by these words; the newest that pass the filters:'
    : 'The newest that pass the filters:'
}

function noteLines({ notes }: SearchAnswer, { style }: Look): string[] {
  return notes.map((note) => style.yellow(`! ${clean(note)}`))
}

function footer({ mode, hits, total, tookMs, embedder }: SearchAnswer, { offset }: Shown, { style }: Look): string {
  const found = hits.filter(({ completes }) => !completes).length
  const from = offset === 0 ? '' : `, from ${offset + 1} on`
  const count = hits.length === 0 ? 'Nothing found' : `${found} of ${total}${from}`
  const meant = mode === 'semantic' || mode === 'hybrid'
  const how = meant && embedder === null ? `by words alone (${mode})` : MODE_TEXTS[mode]
  const by = meant && embedder !== null ? ` with ${clean(embedder)}` : ''
  return style.dim(`${count}; ${how}${by}, ${duration(tookMs)}`)
}

const MODE_TEXTS: Record<SearchAnswer['mode'], string> = {
  filter: 'newest first',
  strict: 'every word, newest first (strict)',
  semantic: 'by meaning (semantic)',
  hybrid: 'by words and meaning (hybrid)',
}

function hints({ hits, total }: SearchAnswer, { offset }: Shown, { style }: Look): string[] {
  const ids = hits.filter(({ kind }) => kind === 'observation').map(({ id }) => id)
  const next = offset + hits.length
  return [
    ...(ids.length === 0 ? [] : [style.dim(`Read them whole: claude-mem show ${ids.slice(0, SHOWN_IDS).join(' ')}`)]),
    ...(next < total ? [style.dim(`More: --offset ${next}`)] : []),
  ]
}
