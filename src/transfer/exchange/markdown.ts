/**
 * The Markdown export: by project, day and session, for people to read; it cannot be imported. Stored text comes from
 * programs, web pages and models, so it is escaped: it must not become a heading, end a list, open a code block, run as
 * HTML or load a remote image.
 */
import { TYPE_ICONS } from '../../context/lines.ts'
import type { Authorship } from '../../domain/authorship.ts'
import { formatFullDay, formatTime } from '../../domain/dates.ts'
import type { FunctionChange } from '../../domain/observation.ts'
import type { Project } from '../../domain/project.ts'
import { toWellFormed } from '../../domain/sanitize.ts'
import type { MemoryRecord, ObservationRecord, PromptRecord, SummaryRecord } from '../../store/exchange-records.ts'

interface Moment {
  row: number
  session: string
  at: number
}

/** Where the export is read from. `moments` are in order of time. */
export interface MarkdownSource {
  projects(): readonly Project[]
  moments(project: string): Iterable<Moment>
  /** In the order of `rows`. */
  memories(rows: readonly number[]): Iterable<MemoryRecord>
}

/** A piece of the text, with the number of memories in it. */
export interface MarkdownPiece {
  text: string
  memories: number
}

export function* exportMarkdown(source: MarkdownSource, exportedAt: number): Generator<MarkdownPiece> {
  yield piece([`# Memory, exported on ${formatFullDay(exportedAt)}`])
  for (const project of source.projects()) {
    yield piece([`## ${markdownLine(project.name) || markdownCode(project.key)}`, markdownCode(project.key)])
    for (const day of groupByDay(source.moments(project.key))) yield* dayPieces(day, source)
  }
}

/** One day at a time, ids only: texts are loaded per session. */
function* groupByDay(moments: Iterable<Moment>): Generator<Moment[]> {
  let day: Moment[] = []
  for (const moment of moments) {
    const [first] = day
    if (first !== undefined && formatFullDay(first.at) !== formatFullDay(moment.at)) {
      yield day
      day = []
    }
    day.push(moment)
  }
  if (day.length > 0) yield day
}

function* dayPieces(day: readonly Moment[], source: MarkdownSource): Generator<MarkdownPiece> {
  const [first] = day
  if (first === undefined) return
  yield piece([`### ${formatFullDay(first.at)}`])
  const sessions = new Map<string, number[]>()
  for (const { session, row } of day) sessions.set(session, [...(sessions.get(session) ?? []), row])
  for (const [session, rows] of sessions) {
    yield piece([`#### Session ${markdownCode(session)}`])
    for (const record of source.memories(rows)) yield { ...piece(recordBlocks(record)), memories: 1 }
  }
}

/** Each block is followed by an empty line. */
function piece(blocks: readonly string[]): MarkdownPiece {
  return { text: blocks.map((block) => `${block}\n\n`).join(''), memories: 0 }
}

function recordBlocks(record: MemoryRecord): string[] {
  switch (record.kind) {
    case 'prompt':
      return promptBlocks(record)
    case 'observation':
      return observationBlocks(record)
    case 'summary':
      return summaryBlocks(record)
  }
}

function promptBlocks({ at, number, text }: PromptRecord): string[] {
  const quoted = markdownLines(text).map((line) => `> ${line}`.trimEnd())
  return [`**${formatTime(at)} Prompt ${number}**`, ...block(quoted)]
}

function observationBlocks(record: ObservationRecord): string[] {
  const { type, createdAt, id, facts } = record
  const title = markdownLine(record.title ?? record.subtitle ?? '') || '(untitled)'
  return [
    `**${formatTime(createdAt)} ${TYPE_ICONS[type]} ${title}** (#${id}, ${type})`,
    ...block(markdownLines(record.title === null ? '' : (record.subtitle ?? ''))),
    ...block(markdownLines(record.narrative ?? '')),
    ...block(facts.map((fact) => `- ${markdownLine(fact)}`)),
    ...block(aboutLines(record)),
  ]
}

function aboutLines(record: ObservationRecord): string[] {
  const { concepts, filesRead, filesModified, functionsChanged, agent, model } = record
  return [
    ...list('Concepts', concepts.map(markdownLine)),
    ...list('Read', filesRead.map(markdownCode)),
    ...list('Changed', filesModified.map(markdownCode)),
    ...list('Functions', functionsChanged.map(functionText)),
    ...list('Subagent', agent === null ? [] : [markdownLine(agent)]),
    ...list('Observed by', model === null ? [] : [markdownLine(model)]),
    ...list('By', authorItems(record)),
  ]
}

/** The member of the team whose it is; none for what this machine learned. */
function authorItems({ author, machine }: Authorship): string[] {
  if (author == null) return []
  return [`${markdownLine(author)}${machine == null ? '' : ` on ${markdownLine(machine)}`}`]
}

function summaryBlocks(record: SummaryRecord): string[] {
  const { createdAt, request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = record
  const parts: [string, string | null][] = [
    ['Asked', request],
    ['Investigated', investigated],
    ['Learned', learned],
    ['Done', completed],
    ['Next', nextSteps],
    ['Notes', notes],
  ]
  const paragraphs = parts.flatMap(([label, text]) => {
    const lines = markdownLines(text ?? '')
    return lines.length === 0 ? [] : [`*${label}:* ${lines.join('\n')}`]
  })
  const files = [
    ...list('Read', filesRead.map(markdownCode)),
    ...list('Changed', filesEdited.map(markdownCode)),
    ...list('By', authorItems(record)),
  ]
  return [`**${formatTime(createdAt)} Summary**`, ...paragraphs, ...block(files)]
}

function functionText({ name, file, action }: FunctionChange): string {
  return `${markdownCode(name)} in ${markdownCode(file)} (${action})`
}

function list(label: string, items: readonly string[]): string[] {
  const nonEmpty = items.filter((item) => item !== '')
  return nonEmpty.length === 0 ? [] : [`- ${label}: ${nonEmpty.join(', ')}`]
}

function block(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [lines.join('\n')]
}

/** Control characters except tab and line end, line separators, and bidirectional controls. */
const UNSAFE = /(?![\t\n])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** Starts of blocks: heading, quote, list, table, rule, fence. */
const BLOCK_START = /^(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=|-{2,}|\*{3,}|_{3,}|~{3,}|\||:-)/
const NUMBER_START = /^(\d{1,9})([.)])(?=\s|$)/
const FENCE_START = /^`{3,}/

/** Escaped lines of one or more paragraphs; none for an empty text. */
export function markdownLines(text: string): string[] {
  return splitParagraphs(escapeControls(text).split('\n'))
    .map(paragraphText)
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
    .split('\n')
    .filter((line, _, all) => line !== '' || all.length > 1)
}

/** Lines without text separate paragraphs. */
function splitParagraphs(lines: readonly string[]): string[][] {
  const paragraphs: string[][] = [[]]
  for (const line of lines) {
    if (line.trim() === '') paragraphs.push([])
    else paragraphs.at(-1)?.push(line)
  }
  return paragraphs
}

/** Escaped text as one line, for a heading or a list item. */
export function markdownLine(text: string): string {
  return paragraphText([escapeControls(text).replace(/\s+/g, ' ')])
}

/** A name or a path as a code span, unescaped. */
export function markdownCode(text: string): string {
  const plain = escapeControls(text).replace(/\s+/g, ' ').trim()
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${plain}${pad}${fence}`
}

function escapeControls(text: string): string {
  return toWellFormed(text)
    .replace(/\r\n?/g, '\n')
    .replace(UNSAFE, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
}

/** Code spans are not escaped, unless it is ambiguous where one begins or ends. */
function paragraphText(rawLines: readonly string[]): string {
  const lines = rawLines.map((line) => escapeBlock(line.trim())).filter((line) => line !== '')
  const parts = lines.map(splitAtCode)
  const isAmbiguous = parts.includes(null)
  return lines
    .map((line, i) => {
      if (isAmbiguous || line.includes('\\`')) return escapeProse(line)
      return (parts[i] ?? []).map((part, at) => (at % 2 === 0 ? escapeProse(part) : part)).join('')
    })
    .join('\n')
}

function escapeBlock(line: string): string {
  if (FENCE_START.test(line)) return line.replace(FENCE_START, (fence) => '&#96;'.repeat(fence.length))
  if (BLOCK_START.test(line)) return `\\${line}`
  return line.replace(NUMBER_START, '$1\\$2')
}

/** Limits the quadratic search below; a line with more backtick runs is escaped as a whole. */
const MAX_BACKTICK_RUNS = 1_000

/** Alternating prose and code spans; null if a code span does not end in its line. */
function splitAtCode(line: string): string[] | null {
  const runs = [...line.matchAll(/`+/g)]
  if (runs.length > MAX_BACKTICK_RUNS) return null
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < runs.length; at += 1) {
    const open = runs[at]
    const end = runs.findIndex((run, i) => i > at && run[0].length === open?.[0].length)
    const close = runs[end]
    if (open === undefined || close === undefined) return null
    const after = close.index + close[0].length
    parts.push(line.slice(from, open.index), line.slice(open.index, after))
    from = after
    at = end
  }
  return [...parts, line.slice(from)]
}

/** Escapes links, images, HTML and entities. Emphasis stays: it affects only its own paragraph. */
function escapeProse(text: string): string {
  return text.replace(/[<[\]]|&(?!#96;)(?=#?\w+;)/g, '\\$&')
}
