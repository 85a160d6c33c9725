/** The selection as text: what is pinned, the last turns, then newest day first, within a day by file, newest first. */
import type { ContextPart } from '../memory/context-parts.ts'
import { estimateTokens, OBSERVATION_TYPES, tokensOf } from '../memory/observation.ts'
import { CLOSE, dayLine, legendLine, MORE, OPEN, PINNED, titleLine, totalsLine } from './lines.ts'
import { charsOf } from './room.ts'
import { type ContextEntry, type ContextSelection, type LeftOut, shows } from './select.ts'

/** What the text holds and what it does not. */
export interface ContextReport {
  /** Tokens that each part takes, the `frame` around them too. */
  parts: Partial<Record<ContextPart | 'frame', number>>
  /** How many are shown. */
  counts: { observations: number; pinned: number; details: number; summaries: number }
  leftOut: LeftOut
}

export interface RenderedContext {
  text: string
  report: ContextReport
}

interface Section {
  part: ContextPart | 'frame'
  lines: readonly string[]
}

export function renderContext(selection: ContextSelection): RenderedContext {
  const rest = sectionsBelow(selection)
  const text = [...sectionsAbove(selection, 0), ...rest].flatMap(({ lines }) => lines).join('\n')
  // Without the cost itself: a few characters of several thousand.
  const all = [...sectionsAbove(selection, estimateTokens(text)), ...rest]
  return { text: all.flatMap(({ lines }) => lines).join('\n'), report: reportOf(selection, all) }
}

function sectionsAbove({ material, options, pinned, entries }: ContextSelection, cost: number): Section[] {
  const used = new Set([...pinned, ...entries].map(({ observation }) => observation.type))
  const types = OBSERVATION_TYPES.filter((type) => used.has(type))
  return [
    { part: 'frame', lines: [OPEN, titleLine(material.project, options.now)] },
    ...section('totals', shows(options, 'totals') ? [totalsLine(material.totals, options.now, cost)] : []),
    ...section('legend', shows(options, 'legend') && types.length > 0 ? [legendLine(types, pinned.length > 0)] : []),
  ]
}

function sectionsBelow({ options, pinned, summary, earlier, entries }: ContextSelection): Section[] {
  return [
    ...section('pinned', pinned.length === 0 ? [] : ['', PINNED, ...pinned.flatMap(entryLines)]),
    ...section('summary', summary),
    ...section('earlier', earlier),
    ...section('timeline', timeline(entries)),
    ...section('more', shows(options, 'more') ? ['', MORE] : []),
    { part: 'frame', lines: [CLOSE] },
  ]
}

function section(part: ContextPart, lines: readonly string[]): Section[] {
  return lines.length === 0 ? [] : [{ part, lines }]
}

function timeline(entries: readonly ContextEntry[]): string[] {
  return groupedBy(entries, ({ day }) => day).flatMap(([day, ofDay]) => [
    '',
    dayLine(day),
    ...groupedBy(ofDay, ({ group }) => group).flatMap(([group, ofGroup]) => [group, ...ofGroup.flatMap(entryLines)]),
  ])
}

function entryLines({ row, detail }: ContextEntry): string[] {
  return detail === null ? [row] : [row, detail]
}

/** In the order in which the groups first appear. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups]
}

function reportOf({ pinned, entries, summary, earlier, leftOut }: ContextSelection, all: Section[]): ContextReport {
  const details = (shown: readonly ContextEntry[]) => shown.flatMap(({ detail }) => detail ?? [])
  const chars = new Map<ContextPart | 'frame', number>()
  const count = (part: ContextPart | 'frame', more: number) => chars.set(part, (chars.get(part) ?? 0) + more)
  for (const { part, lines } of all) count(part, charsOf(lines))
  // They stand among the rows that they belong to.
  count('timeline', -charsOf(details(entries)))
  count('pinned', -charsOf(details(pinned)))
  count('details', charsOf(details([...entries, ...pinned])))
  const told = [...chars].filter(([, length]) => length > 0)
  return {
    parts: Object.fromEntries(told.map(([part, length]) => [part, tokensOf(length)])),
    counts: {
      observations: entries.length,
      pinned: pinned.length,
      details: details([...entries, ...pinned]).length,
      // Each of them has a blank line and a heading.
      summaries: Math.min(1, summary.length) + Math.max(0, earlier.length - 2),
    },
    leftOut,
  }
}
