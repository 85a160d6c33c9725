/** Commands that read memories: `search` (with the parts of a score for --explain), `show` and `timeline`. */
import type { Call, InputOf } from '../../api/index.ts'
import type { Timeline, TimelineItem } from '../../api/operations/memory.ts'
import { TYPE_ICONS } from '../../context/lines.ts'
import { authorName, byline } from '../../domain/authorship.ts'
import { formatDateTime, formatFullDay, formatTime } from '../../domain/dates.ts'
import { PASSAGE_LABELS } from '../../domain/passage.ts'
import { hitSpeaker, passageSubject, quoted, quotedLines } from '../../domain/quotation.ts'
import {
  type HitKind,
  type HitPiece,
  SCORE_WEIGHTS,
  type ScorePart,
  SEARCH_MODES,
  type SearchAnswer,
  type SearchHit,
} from '../../domain/search-query.ts'
import { formatCount } from '../../lib/format.ts'
import {
  INPUT_LIMITS,
  isObservationId,
  limitOption,
  numberOption,
  oneOf,
  parseObservationId,
  parseShownIds,
  refuseIf,
} from '../arguments.ts'
import { printResult } from '../cli.ts'
import { defineCommand, stringOption } from '../command.ts'
import { filterOptions, parseFilterArgs, parseProjectOrAll, projectOption } from '../filters.ts'
import { formatDuration } from '../format.ts'
import { callMemory, withMemory } from '../memory-client.ts'
import { drawBar } from '../progress.ts'
import { observationLines, reportMissing } from '../render/observation.ts'
import { evidenceLines, passageLines, reportMissingPassages } from '../render/passage.ts'
import type { Display, Style } from '../style.ts'
import { cutColumn, rightColumn, type TableCell, type TableColumn, tableLines } from '../table.ts'
import { displayWidth, padEnd, padStart, paragraphLines, quoteBlock, terminalSafe, truncate } from '../text.ts'
import { showSessionSummary } from './summarize.ts'

const { MAX_AROUND, MAX_HITS, MAX_OFFSET, MAX_QUERY_CHARS, MAX_SHOWN } = INPUT_LIMITS

const MAX_SEARCH_TOKENS = 100_000

export const searchCommand = defineCommand({
  usage: 'search [words..]',
  takesRest: true,
  group: 'Memory',
  summary: 'Find what was learned, by words and by meaning',
  about:
    'Finds observations, summaries and passages (or prompts: --kind) of the current project: the best of each turn, best first, ' +
    'until they are no longer relevant. Ask as you would ask a ' +
    'colleague, or by an exact name: getUserById, ERR_MODULE_NOT_FOUND, src/auth/jwt.ts. Without words it lists the newest ' +
    'that pass the filters. Filters are exact in every mode. --mode strict requires every word and lists the newest first, ' +
    'semantic searches by meaning only, hybrid by both, and auto (the default) chooses; the last line names the mode. ' +
    'Works without a daemon too, then by words only.',
  examples: [
    ['claude-mem search why do logins expire', 'in the project of this directory'],
    ['claude-mem search "connection pool" --project all --since 2w', 'in all projects, of the last two weeks'],
    ['claude-mem search --type decision,bugfix --file src/auth', 'newest first, about these files'],
    ['claude-mem search --author me --since 1d', 'your own, of all your machines'],
    ['claude-mem search jwt --full', 'with all that is found of each turn'],
    ['claude-mem search jwt --explain', 'with the parts of each score'],
    ['claude-mem search jwt --json | jq .hits[].id', 'for programs'],
  ],
  options: {
    ...filterOptions,
    project: projectOption,
    mode: { ...stringOption(SEARCH_MODES.join(', '), 'm'), default: 'auto' },
    limit: limitOption('Hits shown', 10, MAX_HITS),
    offset: { ...numberOption('offset', 'Hits skipped before the first', 0, MAX_OFFSET), default: 0 },
    tokens: numberOption(
      'tokens',
      'About how many tokens all hits may have; the last one is cut',
      1,
      MAX_SEARCH_TOKENS,
    ),
    full: { type: 'boolean', describe: 'Show whole excerpts, and the next best of each turn' },
    explain: { type: 'boolean', alias: 'e', describe: 'Show the parts of each score' },
  },
  run: async ({ rest, mode, limit, offset, tokens = null, full, explain, ...args }, cli) => {
    const filters = parseFilterArgs(args, cli.env, cli.display().now)
    const request = {
      query: joinQuery(rest),
      mode: oneOf('mode', mode, SEARCH_MODES),
      ...filters,
      limit,
      offset,
      tokens,
    }
    const { answer, elsewhere, running } = await withMemory(cli, async (call, running) => {
      const { answer } = await call('search', request)
      return { answer, elsewhere: offset > 0 ? 0 : await countElsewhere(request, answer, call), running }
    })
    const options = { oneProject: filters.project !== null, full, explain, offset }
    printResult(cli, { running, project: filters.project, elsewhere, ...answer }, () =>
      searchResultLines(answer, options, cli.display()),
    )
    if (elsewhere > 0 && !cli.json)
      cli.printStderr(`Nothing in this project, but ${elsewhere} in others: --project all`)
  },
})

function joinQuery(words: readonly string[]): string {
  const query = words.join(' ').trim()
  const tooLong = `a query has at most ${MAX_QUERY_CHARS} characters, this one has ${query.length}`
  refuseIf(query.length > MAX_QUERY_CHARS, tooLong)
  return query
}

/** Hits in all projects, if the current project has none: the user may be in the wrong directory. */
async function countElsewhere(request: InputOf<'search'>, answer: SearchAnswer, call: Call): Promise<number> {
  if (request.project === null || answer.hits.length > 0) return 0
  return (await call('search', { ...request, project: null, limit: 1, offset: 0 })).answer.total
}

export const showCommand = defineCommand({
  usage: 'show [id..]',
  takesRest: true,
  group: 'Memory',
  summary: 'Observations in full: text, files, links, sources',
  about:
    'Prints whole observations: what was learned, the files and functions it is about, the session and prompt it comes ' +
    'from, what replaces or repeats it, how many tokens it takes to read it, and the passages it was made of. The id of a ' +
    'passage (p12) prints it with what was said and done around it. With --session the summary of a whole ' +
    'session, or, before claude-mem summarize has made one, those of its turns. Works without a daemon too.',
  examples: [
    ['claude-mem show 12', 'one'],
    ['claude-mem show 12 15 16', 'several; 12,15,16 is the same'],
    ['claude-mem show p12', 'a passage with what is around it'],
    ['claude-mem show --session 5f1c', 'the summary of a session'],
    ['claude-mem show 12 --json | jq .observations[].facts', 'for programs'],
  ],
  options: { session: stringOption('The summary of this session: the start of its id', 's') },
  run: async ({ rest, session }, cli) => {
    if (session !== undefined) {
      refuseIf(rest.length > 0, 'show takes either ids or --session')
      return await showSessionSummary(session, cli)
    }
    const ids = parseShownIds(rest)
    const count = ids.observations.length + ids.passages.length
    refuseIf(count === 0, 'show needs the id of an observation or a passage; claude-mem search shows them')
    refuseIf(count > MAX_SHOWN, `show takes at most ${MAX_SHOWN} ids at once`)
    const shown = await withMemory(cli, async (call, running) => {
      const read = ids.observations.length === 0 ? null : await call('observations', { ids: ids.observations })
      const around = ids.passages.length === 0 ? null : await call('passages', { ids: ids.passages })
      return { running, read, around }
    })
    const observations = shown.read?.observations ?? []
    const passages = shown.around?.passages ?? []
    const evidence = shown.read?.passages ?? []
    const missing = shown.read?.missing ?? []
    const result = { running: shown.running, observations, evidence, passages, missing }
    printResult(cli, result, () => {
      const display = cli.display()
      const blocks = [
        ...observations.map((one) => [...observationLines(one, display), ...evidenceLines(one.id, evidence, display)]),
        ...passages.map((one) => passageLines(one, display)),
      ]
      return blocks.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]))
    })
    return reportMissing(missing, cli) || reportMissingPassages(shown.around?.missing ?? [], cli)
  },
})

export const timelineCommand = defineCommand({
  usage: 'timeline [id|words..]',
  takesRest: true,
  group: 'Memory',
  summary: 'What was learned before and after a moment',
  about:
    'Lists what was learned around an observation, day by day, in its project. With words instead of an id: around the ' +
    'best hit for them; with neither: the newest. Works without a daemon too.',
  examples: [
    ['claude-mem timeline 123', 'around observation #123'],
    ['claude-mem timeline login expires', 'around the best hit'],
    ['claude-mem timeline 123 --before 30 --after 0', 'only what came before it'],
  ],
  options: {
    before: { ...numberOption('before', 'Rows before it', 0, MAX_AROUND), default: 10 },
    after: { ...numberOption('after', 'Rows after it', 0, MAX_AROUND), default: 10 },
    project: projectOption,
  },
  run: async ({ rest, before, after, project }, cli) => {
    const [word, ...others] = rest
    const anchor = word !== undefined && others.length === 0 && isObservationId(word) ? parseObservationId(word) : null
    const query = anchor === null ? joinQuery(rest) || null : null
    // An observation has a project, so an id needs none.
    const projectKey = anchor !== null && project === undefined ? null : parseProjectOrAll(project, cli.env)
    const input = { anchor, query, project: projectKey, before, after }
    const { running, ...timeline } = await callMemory(cli, 'timeline', input)
    if (!cli.json && timeline.items.length === 0) {
      cli.printStderr(query === null ? 'Nothing is remembered here yet.' : 'Nothing was found; try: --project all')
    } else {
      printResult(cli, { running, ...timeline }, () => timelineLines(timeline, cli.display()))
    }
  },
})

type ListedMemory = Pick<SearchHit, 'kind' | 'id' | 'type'>

const KIND_ICONS: Record<Exclude<HitKind, 'observation'>, string> = { summary: '📋', prompt: '💬', passage: '¶' }

function memoryIcon({ kind, type }: ListedMemory): string {
  return kind === 'observation' ? TYPE_ICONS[type ?? 'change'] : KIND_ICONS[kind]
}

/** Only observations and passages can be read by their id. */
function memoryLabel({ kind, id }: ListedMemory): string {
  if (kind === 'passage') return `p${id}`
  return kind === 'observation' ? `#${id}` : kind
}

/** Snippet and notes are indented below their row. */
const INDENT = '      '
/** Snippets are wrapped, also when the output is not a terminal. */
const SNIPPET_COLUMNS = 120
/** Lines below the row of a hit; the rest is shown with --full, and by `claude-mem show`. */
const BRIEF_LINES = 2
/** Columns for a speaker and the marks of the quotation. */
const BRIEF_MARGIN = 20
/** Longer than any excerpt. */
const MAX_EXCERPT_CHARS = 2_000
/** Ids that a hint names. */
const SHOWN_IDS = 3

export interface SearchDisplay {
  /** All hits are of the same project: no column for it. */
  oneProject: boolean
  /** Whole excerpts, and all pieces of a hit. */
  full: boolean
  explain: boolean
  offset: number
}

export function searchResultLines(answer: SearchAnswer, options: SearchDisplay, display: Display): string[] {
  const { hits, notes } = answer
  const { style } = display
  const noteLines = notes.map((note) => style.yellow(`! ${terminalSafe(note)}`))
  if (hits.length === 0) return [...noteLines, footer(answer, options, display)]
  const rows = hits.map((hit) => hitCells(hit, options, display))
  const [header = '', ...rowLines] = tableLines(hitColumns(options), rows, display)
  return [
    header,
    ...hits.flatMap((hit, i) => [rowLines[i] ?? '', ...hitDetailLines(hit, options, display)]),
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
    { text: pieceTitle(hit, hit), paint: hit.supersededBy !== null ? dim : bold },
    ...(oneProject ? [] : [hit.projectName || hit.project]),
    { text: `~${formatCount(hit.tokens)}`, paint: dim },
  ]
}

/** What a passage is and is about; its words are below. */
function pieceTitle(piece: HitPiece, { session, author }: SearchHit): string {
  const { title, passage } = piece
  if (passage === null) return quoted(hitSpeaker({ ...piece, session, author: author ?? null }), title)
  const { kind, outcome } = passage
  return [PASSAGE_LABELS[kind], passageSubject(passage) ?? '', outcome === 'failed' ? 'failed' : '']
    .filter((part) => part !== '')
    .join(' ')
}

function hitDetailLines(hit: SearchHit, { full, explain }: SearchDisplay, display: Display): string[] {
  const { style, columns } = display
  const width = Math.min(SNIPPET_COLUMNS, columns ?? SNIPPET_COLUMNS) - INDENT.length
  const texts = full ? fullTexts(hit, width) : briefTexts(hit, width)
  const notes = hitNotes(hit, display.now)
  const lines = [
    ...texts.map((line) => highlightWords(line, hit.matched, style)),
    ...(notes === '' ? [] : [style.yellow(notes)]),
    ...(explain ? explanationLines(hit, width, display) : []),
  ]
  return lines.map((line) => INDENT + line)
}

/** Whole excerpts, line by line. */
function fullTexts(hit: SearchHit, width: number): string[] {
  const all = [excerpt(hit, hit), ...hit.further.flatMap((piece) => [furtherHead(piece, hit), excerpt(piece, hit)])]
  return all.flatMap((text) => text.split('\n')).flatMap((line) => wrapQuoted(line, width))
}

/** What is left of a long line of a quotation has the mark, too. */
function wrapQuoted(line: string, width: number): string[] {
  return line.startsWith('> ') ? quoteBlock(line.slice(2), width) : paragraphLines(line, width)
}

/** The words of a hit, with their speaker. */
function excerpt(piece: HitPiece, { session, author }: SearchHit): string {
  const speaker = hitSpeaker({ ...piece, session, author: author ?? null })
  return quotedLines(speaker, withoutMarkdown(piece.snippet), MAX_EXCERPT_CHARS)
}

/** The beginning, on two lines; on the second one the next piece, if the first one is short. */
function briefTexts(hit: SearchHit, width: number): string[] {
  const {
    snippet,
    further: [next],
  } = hit
  const said = (piece: HitPiece, room: number) =>
    quoted(
      hitSpeaker({ ...piece, session: hit.session, author: hit.author ?? null }),
      withoutMarkdown(piece.snippet),
      room,
    )
  const lines = snippet.trim() === '' ? [] : paragraphLines(said(hit, BRIEF_LINES * width - BRIEF_MARGIN), width)
  if (lines.length >= BRIEF_LINES || next === undefined) return lines
  const head = `${furtherHead(next, hit)}: `
  return [...lines, terminalSafe(head + said(next, Math.max(1, width - displayWidth(head) - BRIEF_MARGIN)))]
}

const furtherHead = (piece: HitPiece, hit: SearchHit): string => `${memoryLabel(piece)} ${pieceTitle(piece, hit)}`

const TABLE_RULE = /^[\s|:-]*-[\s|:-]*$/
const HEADING = /^\s*#{1,6}\s+/

/** Marks that only help a reader of Markdown: emphasis, code, headings, the borders of tables. */
export function withoutMarkdown(text: string): string {
  return text
    .split('\n')
    .filter((line) => !TABLE_RULE.test(line) && !line.trim().startsWith('```'))
    .map((line) => line.replace(HEADING, '').replaceAll('**', '').replaceAll('`', '').trim())
    .map((line) => (line.startsWith('|') ? tableRow(line) : line))
    .join('\n')
}

const tableRow = (line: string): string =>
  line
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' · ')

function hitNotes(hit: SearchHit, now: number): string {
  const { pinned, supersededBy, amendedBy, similar, createdAt } = hit
  const by = terminalSafe(byline(hit, createdAt, now))
  const ids = similar.slice(0, SHOWN_IDS).map((id) => `#${id}`)
  const more = similar.length > SHOWN_IDS ? ` and ${similar.length - SHOWN_IDS} more` : ''
  return [
    ...(by === '' ? [] : [by]),
    ...(pinned ? ['pinned'] : []),
    ...(supersededBy === null ? [] : [`replaced by #${supersededBy}`]),
    ...amendedBy.slice(0, SHOWN_IDS).map((id) => `amended by #${id}`),
    ...(similar.length === 0 ? [] : [`says the same: ${ids.join(', ')}${more}`]),
  ].join('; ')
}

const MODE_TEXTS: Record<SearchAnswer['mode'], string> = {
  filter: 'newest first',
  strict: 'every word, newest first (strict)',
  semantic: 'by meaning (semantic)',
  hybrid: 'by words and meaning (hybrid)',
}

function footer(answer: SearchAnswer, { offset }: SearchDisplay, { style }: Display): string {
  const { mode, hits, total, tookMs, embedder } = answer
  const from = offset === 0 ? '' : `, from ${offset + 1} on`
  const count = hits.length === 0 ? 'Nothing found' : `${hits.length} of ${total}${from}`
  const usesMeaning = mode === 'semantic' || mode === 'hybrid'
  const how = usesMeaning && embedder === null ? `by words alone (${mode})` : MODE_TEXTS[mode]
  const withEmbedder = usesMeaning && embedder !== null ? ` with ${terminalSafe(embedder)}` : ''
  return style.dim(`${count}; ${how}${withEmbedder}, ${formatDuration(tookMs)}`)
}

function hintLines({ hits, total }: SearchAnswer, { offset }: SearchDisplay, { style }: Display): string[] {
  const ids = hits.filter(({ kind }) => kind === 'observation' || kind === 'passage').map(shownId)
  const next = offset + hits.length
  return [
    ...(ids.length === 0 ? [] : [style.dim(`Full text: claude-mem show ${ids.slice(0, SHOWN_IDS).join(' ')}`)]),
    ...(next < total ? [style.dim(`More: --offset ${next}`)] : []),
  ]
}

const shownId = ({ kind, id }: SearchHit): string => (kind === 'passage' ? `p${id}` : String(id))

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

/** A bar for each part of a hit's score, with its weight, as many in a line as fit. */
export function explanationLines(hit: SearchHit, width: number, { style }: Display): string[] {
  const { explanation, matched } = hit
  const lines: { width: number; text: string }[] = []
  for (const name of SCORE_PARTS) {
    const value = `${explanation[name].toFixed(2)} × ${SCORE_WEIGHTS[name]}`
    const drawn = padEnd(drawBar(explanation[name], 1, SCORE_BAR_COLUMNS), SCORE_BAR_COLUMNS)
    const part = {
      width: displayWidth(`${name} ${drawn} ${value}`),
      text: `${style.dim(name)} ${style.cyan(drawn)} ${value}`,
    }
    const line = lines.at(-1)
    const joined = (line?.width ?? 0) + GAP.length + part.width
    if (line === undefined || joined > width) lines.push(part)
    else Object.assign(line, { width: joined, text: `${line.text}${GAP}${part.text}` })
  }
  const { score, kind, fragment } = explanation
  const sum = [
    `score ${score.toFixed(3)}`,
    `kind × ${kind}`,
    ...(matched.length === 0 ? [] : [`words: ${matched.slice(0, 10).map(terminalSafe).join(' ')}`]),
    ...(fragment === null ? [] : [`closest: ${terminalSafe(fragment)}`]),
  ].join(', ')
  return [...lines.map(({ text }) => text), style.dim(sum)]
}

const SCORE_PARTS = Object.keys(SCORE_WEIGHTS) as ScorePart[]

const ANCHOR_MARK = '▶'
/** Of a title in a timeline. */
const MAX_TITLE_CHARS = 300
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
  const by = item.author == null ? '' : `  by ${terminalSafe(authorName(item.author))}`
  const tail = `${by}${showProject ? `  ${terminalSafe(item.projectName || item.project)}` : ''}  ~${formatCount(item.tokens)}`
  const used = displayWidth(`${mark} ${label}  ${time}  ${icon} ${tail}`)
  const titleWidth = columns === null ? Number.POSITIVE_INFINITY : Math.max(MIN_TITLE_COLUMNS, columns - used)
  const said = quoted(
    hitSpeaker({ ...item, author: item.author ?? null }),
    item.title,
    Math.min(titleWidth, MAX_TITLE_CHARS),
  )
  const title = truncate(terminalSafe(said), titleWidth)
  const head = `${style.yellow(mark)} ${style.cyan(label)}  ${style.dim(time)}  ${icon}`
  return `${head} ${isAnchor ? style.bold(title) : title}${style.dim(tail)}`
}
