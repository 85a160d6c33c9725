/** The memory as a text for people: by project, day and session. It is read, never imported. */
import { ICONS } from '../context/lines.ts'
import { dayOf, timeOf } from '../context/times.ts'
import type { FunctionChange } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { MemoryRecord, ObservationRecord, PromptRecord, SummaryRecord } from '../store/import-port.ts'
import { code, oneLine, textLines } from './markdown-text.ts'

interface Moment {
  row: number
  session: string
  at: number
}

/** What it is made from. `moments` are in the order of time. */
export interface MarkdownSource {
  projects(): readonly Project[]
  moments(project: string): Iterable<Moment>
  /** In the order of the rows. */
  memories(rows: readonly number[]): Iterable<MemoryRecord>
}

/** Pieces of the text; `memories` says how many it tells of. */
export interface MarkdownPiece {
  text: string
  memories: number
}

export function* markdown(source: MarkdownSource, exportedAt: number): Generator<MarkdownPiece> {
  yield piece([`# Memory, exported on ${dayOf(exportedAt)}`])
  for (const project of source.projects()) {
    yield piece([`## ${oneLine(project.name) || code(project.key)}`, code(project.key)])
    for (const day of daysOf(source.moments(project.key))) yield* dayPieces(day, source)
  }
}

/** The moments of one day at a time: ids, not texts. */
function* daysOf(moments: Iterable<Moment>): Generator<Moment[]> {
  let day: Moment[] = []
  for (const moment of moments) {
    const [first] = day
    if (first !== undefined && dayOf(first.at) !== dayOf(moment.at)) {
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
  yield piece([`### ${dayOf(first.at)}`])
  const sessions = new Map<string, number[]>()
  for (const { session, row } of day) sessions.set(session, [...(sessions.get(session) ?? []), row])
  for (const [session, rows] of sessions) {
    yield piece([`#### Session ${code(session)}`])
    for (const record of source.memories(rows)) yield { ...piece(blocksOf(record)), memories: 1 }
  }
}

/** Blocks with an empty line after each. */
function piece(blocks: readonly string[]): MarkdownPiece {
  return { text: blocks.map((block) => `${block}\n\n`).join(''), memories: 0 }
}

function blocksOf(record: MemoryRecord): string[] {
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
  const quoted = textLines(text).map((line) => `> ${line}`.trimEnd())
  return [`**${timeOf(at)} Prompt ${number}**`, ...block(quoted)]
}

function observationBlocks(record: ObservationRecord): string[] {
  const { type, createdAt, id, facts } = record
  const title = oneLine(record.title ?? record.subtitle ?? '') || '(untitled)'
  return [
    `**${timeOf(createdAt)} ${ICONS[type]} ${title}** (#${id}, ${type})`,
    ...block(textLines(record.title === null ? '' : (record.subtitle ?? ''))),
    ...block(textLines(record.narrative ?? '')),
    ...block(facts.map((fact) => `- ${oneLine(fact)}`)),
    ...block(aboutLines(record)),
  ]
}

function aboutLines(record: ObservationRecord): string[] {
  const { concepts, filesRead, filesModified, functionsChanged, agent, model } = record
  return [
    ...list('Concepts', concepts.map(oneLine)),
    ...list('Read', filesRead.map(code)),
    ...list('Changed', filesModified.map(code)),
    ...list('Functions', functionsChanged.map(functionText)),
    ...list('Subagent', agent === null ? [] : [oneLine(agent)]),
    ...list('Observed by', model === null ? [] : [oneLine(model)]),
  ]
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
  const said = parts.flatMap(([label, text]) => {
    const lines = textLines(text ?? '')
    return lines.length === 0 ? [] : [`*${label}:* ${lines.join('\n')}`]
  })
  const files = [...list('Read', filesRead.map(code)), ...list('Changed', filesEdited.map(code))]
  return [`**${timeOf(createdAt)} Summary**`, ...said, ...block(files)]
}

function functionText({ name, file, action }: FunctionChange): string {
  return `${code(name)} in ${code(file)} (${action})`
}

function list(label: string, items: readonly string[]): string[] {
  const some = items.filter((item) => item !== '')
  return some.length === 0 ? [] : [`- ${label}: ${some.join(', ')}`]
}

function block(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [lines.join('\n')]
}
