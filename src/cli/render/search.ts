/** Prints lists of memories: `claude-mem search` (with the parts of a score for --explain) and `claude-mem timeline`. */
import type { Timeline, TimelineItem } from '../../api/operations/memory.ts'
import { TYPE_ICONS } from '../../context/lines.ts'
import { formatFullDay, formatTime } from '../../domain/dates.ts'
import type { ObservationType } from '../../domain/observation.ts'
import type { Explanation, MemoryKind, SearchAnswer, SearchHit } from '../../domain/search-query.ts'
import { formatCount } from '../../lib/format.ts'
import { formatDateTime, formatDuration } from '../format.ts'
import { drawBar } from '../progress.ts'
import type { Display, Style } from '../style.ts'
import { cutColumn, rightColumn, type TableCell, type TableColumn, tableLines } from '../table.ts'
import { displayWidth, padEnd, padStart, sanitize, truncate } from '../text.ts'

interface ListedMemory {
  kind: MemoryKind
  id: number
  type: ObservationType | null
}

const KIND_ICONS: Record<Exclude<MemoryKind, 'observation'>, string> = { summary: '📋', prompt: '💬' }

function memoryIcon({ kind, type }: ListedMemory): string {
  return kind === 'observation' ? TYPE_ICONS[type ?? 'change'] : KIND_ICONS[kind]
}

/** Only observations can be read by their id. */
function memoryLabel({ kind, id }: ListedMemory): string {
  return kind === 'observation' ? `#${id}` : kind
}

/** Snippet and notes are indented below their row. */
const INDENT = '      '
/** Snippets are one line, also when the output is not a terminal. */
const SNIPPET_COLUMNS = 200
/** Ids that a hint names. */
const SHOWN_IDS = 3

export interface SearchDisplay {
  /** All hits are of the same project: no column for it. */
  oneProject: boolean
  explain: boolean
  offset: number
}

export function searchResultLines(answer: SearchAnswer, options: SearchDisplay, display: Display): string[] {
  const { hits, notes } = answer
  const { style } = display
  const noteLines = notes.map((note) => style.yellow(`! ${sanitize(note)}`))
  if (hits.length === 0) return [...noteLines, footer(answer, options, display)]
  const rows = hits.map((hit) => hitCells(hit, options, display))
  const [header = '', ...rowLines] = tableLines(hitColumns(options), rows, display)
  const firstFiller = hits.findIndex(({ completes }) => completes)
  return [
    header,
    ...hits.flatMap((hit, i) => [
      ...(i === firstFiller ? [style.dim(fillerHeading(i))] : []),
      rowLines[i] ?? '',
      ...hitDetailLines(hit, options, display),
    ]),
    '',
    ...noteLines,
    footer(answer, options, display),
    ...hintLines(answer, options, display),
  ]
}

function hitColumns({ oneProject }: SearchDisplay): TableColumn[] {
  const project = oneProject ? [] : [cutColumn('PROJECT')]
  return [rightColumn('ID'), 'WHEN', '', cutColumn('TITLE'), ...project, rightColumn('TOKENS')]
}

function hitCells(hit: SearchHit, { oneProject }: SearchDisplay, { style }: Display): TableCell[] {
  const { bold, dim, cyan } = style
  return [
    { text: memoryLabel(hit), paint: cyan },
    { text: formatDateTime(hit.createdAt), paint: dim },
    memoryIcon(hit),
    { text: hit.title, paint: hit.supersededBy !== null || hit.completes ? dim : bold },
    ...(oneProject ? [] : [hit.projectName || hit.project]),
    { text: `~${formatCount(hit.tokens)}`, paint: dim },
  ]
}

function hitDetailLines(hit: SearchHit, { explain }: SearchDisplay, display: Display): string[] {
  const { style, columns } = display
  const width = Math.min(SNIPPET_COLUMNS, columns ?? SNIPPET_COLUMNS) - INDENT.length
  const snippet = truncate(sanitize(hit.snippet), width)
  const notes = hitNotes(hit)
  const lines = [
    ...(snippet === '' ? [] : [highlightWords(snippet, hit.explanation.matched, style)]),
    ...(notes === '' ? [] : [style.yellow(notes)]),
    ...(explain ? explanationLines(hit.explanation, width, display) : []),
  ]
  return lines.map((line) => INDENT + line)
}

function hitNotes({ pinned, supersededBy, similar }: SearchHit): string {
  const ids = similar.slice(0, SHOWN_IDS).map((id) => `#${id}`)
  const more = similar.length > SHOWN_IDS ? ` and ${similar.length - SHOWN_IDS} more` : ''
  return [
    ...(pinned ? ['pinned'] : []),
    ...(supersededBy === null ? [] : [`replaced by #${supersededBy}`]),
    ...(similar.length === 0 ? [] : [`nearly the same: ${ids.join(', ')}${more}`]),
  ].join('; ')
}

/** Too few hits are filled up with the newest memories, which do not match the query. */
function fillerHeading(hitsBefore: number): string {
  const heading = 'The newest that pass the filters:'
  return hitsBefore === 0 ? `Nothing was found by these words; ${heading.toLowerCase()}` : heading
}

const MODE_TEXTS: Record<SearchAnswer['mode'], string> = {
  filter: 'newest first',
  strict: 'every word, newest first (strict)',
  semantic: 'by meaning (semantic)',
  hybrid: 'by words and meaning (hybrid)',
}

function footer(answer: SearchAnswer, { offset }: SearchDisplay, { style }: Display): string {
  const { mode, hits, total, tookMs, embedder } = answer
  const found = hits.filter(({ completes }) => !completes).length
  const from = offset === 0 ? '' : `, from ${offset + 1} on`
  const count = hits.length === 0 ? 'Nothing found' : `${found} of ${total}${from}`
  const usesMeaning = mode === 'semantic' || mode === 'hybrid'
  const how = usesMeaning && embedder === null ? `by words alone (${mode})` : MODE_TEXTS[mode]
  const withEmbedder = usesMeaning && embedder !== null ? ` with ${sanitize(embedder)}` : ''
  return style.dim(`${count}; ${how}${withEmbedder}, ${formatDuration(tookMs)}`)
}

function hintLines({ hits, total }: SearchAnswer, { offset }: SearchDisplay, { style }: Display): string[] {
  const ids = hits.filter(({ kind }) => kind === 'observation').map(({ id }) => id)
  const next = offset + hits.length
  return [
    ...(ids.length === 0 ? [] : [style.dim(`Full text: claude-mem show ${ids.slice(0, SHOWN_IDS).join(' ')}`)]),
    ...(next < total ? [style.dim(`More: --offset ${next}`)] : []),
  ]
}

/** Words of a long query that are highlighted. */
const MAX_HIGHLIGHTED_WORDS = 50
const REGEXP_CHARACTERS = /[\\^$.*+?()[\]{}|/]/g
/** Scripts that separate words: a match starts where no letter precedes. Other scripts may have no gaps. */
const SPACED_SCRIPT = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]/u
/** English endings of words with at least four letters before them. */
const ENDING = /(?<=\p{L}{4})(?:ing|ed|es|s)$/iu

/** `text` is sanitised; the result has colours. */
export function highlightWords(text: string, words: readonly string[], style: Style): string {
  const patterns = words
    .slice(0, MAX_HIGHLIGHTED_WORDS)
    .filter((word) => word.trim() !== '')
    .sort((a, b) => b.length - a.length)
    .map((word) => {
      if (!SPACED_SCRIPT.test(word)) return escapeRegExp(word)
      // Search matches word stems, so the text may have another ending.
      return `(?<![\\p{L}\\p{N}])${escapeRegExp(word.replace(ENDING, ''))}\\p{L}*`
    })
  if (patterns.length === 0) return text
  return text.replace(new RegExp(patterns.join('|'), 'giu'), (word) => style.bold(style.yellow(word)))
}

function escapeRegExp(word: string): string {
  return word.replace(REGEXP_CHARACTERS, '\\$&')
}

const SCORE_BAR_COLUMNS = 6
const GAP = '  '

const SCORE_PARTS = [
  ['words', 'lexical'],
  ['meaning', 'semantic'],
  ['session', 'session'],
  ['recency', 'recency'],
  ['type', 'type'],
] as const

/** A bar for each part of a hit's score, as many in a line as fit. */
export function explanationLines(explanation: Explanation, width: number, { style }: Display): string[] {
  const lines: { width: number; text: string }[] = []
  for (const [label, name] of SCORE_PARTS) {
    const value = explanation[name].toFixed(2)
    const drawn = padEnd(drawBar(explanation[name], 1, SCORE_BAR_COLUMNS), SCORE_BAR_COLUMNS)
    const part = {
      width: displayWidth(`${label} ${drawn} ${value}`),
      text: `${style.dim(label)} ${style.cyan(drawn)} ${value}`,
    }
    const line = lines.at(-1)
    const joined = (line?.width ?? 0) + GAP.length + part.width
    if (line === undefined || joined > width) lines.push(part)
    else Object.assign(line, { width: joined, text: `${line.text}${GAP}${part.text}` })
  }
  const { score, matched, fragment } = explanation
  const sum = [
    `score ${score.toFixed(3)}`,
    ...(matched.length === 0 ? [] : [`words: ${matched.slice(0, 10).map(sanitize).join(' ')}`]),
    ...(fragment === null ? [] : [`closest: ${sanitize(fragment)}`]),
  ].join(', ')
  return [...lines.map(({ text }) => text), style.dim(sum)]
}

const ANCHOR_MARK = '▶'
/** Columns that a title keeps on a narrow terminal. */
const MIN_TITLE_COLUMNS = 20

/** Rows grouped by day. The anchor, around which the timeline was loaded, is marked. */
export function timelineLines({ anchor, items }: Timeline, display: Display): string[] {
  const { style } = display
  const labels = items.map(memoryLabel)
  const labelWidth = Math.max(0, ...labels.map(displayWidth))
  const showProject = new Set(items.map(({ project }) => project)).size > 1
  let day = ''
  const lines = items.flatMap((item, i) => {
    const itemDay = formatFullDay(item.createdAt)
    const heading = itemDay === day ? [] : [...(day === '' ? [] : ['']), style.bold(itemDay)]
    day = itemDay
    const label = padStart(labels[i] ?? '', labelWidth)
    const isAnchor = item.kind === 'observation' && item.id === anchor
    return [...heading, timelineRow(item, { label, isAnchor, showProject }, display)]
  })
  const total = items.reduce((sum, item) => sum + item.tokens, 0)
  return [...lines, '', style.dim(`${items.length} in all, ~${formatCount(total)} tokens to read; claude-mem show ID`)]
}

function timelineRow(
  item: TimelineItem,
  { label, isAnchor, showProject }: { label: string; isAnchor: boolean; showProject: boolean },
  { style, columns }: Display,
): string {
  const time = formatTime(item.createdAt)
  const icon = padEnd(memoryIcon(item), 2)
  const mark = isAnchor ? ANCHOR_MARK : ' '
  const tail = `${showProject ? `  ${sanitize(item.projectName || item.project)}` : ''}  ~${formatCount(item.tokens)}`
  const used = displayWidth(`${mark} ${label}  ${time}  ${icon} ${tail}`)
  const titleWidth = columns === null ? Number.POSITIVE_INFINITY : Math.max(MIN_TITLE_COLUMNS, columns - used)
  const title = truncate(sanitize(item.title), titleWidth)
  const head = `${style.yellow(mark)} ${style.cyan(label)}  ${style.dim(time)}  ${icon}`
  return `${head} ${isAnchor ? style.bold(title) : title}${style.dim(tail)}`
}
