/**
 * What opens the next generation of the observer's conversation, built only from what was stored. Decisions and open
 * threads are kept longest; what does not fit is counted.
 */
import { estimateTokens } from '../../memory/observation.ts'
import { cut } from '../offline/text.ts'
import type { CompactRequest } from '../port.ts'
import { type Section, sectionsOf } from './digest/sections.ts'
import type { Withheld } from './withheld.ts'

export interface DigestOptions {
  maxTokens: number
  withheld: Pick<Withheld, 'mentions'>
}

export function digestOf(request: CompactRequest, { maxTokens, withheld }: DigestOptions): string {
  const mentions = (files: readonly string[]) => withheld.mentions(files, request.cwd)
  const observations = request.observations.filter(
    ({ model, filesRead, filesModified, functionsChanged }) =>
      isTold(model) && !mentions([...filesRead, ...filesModified, ...functionsChanged.map((one) => one.file)]),
  )
  const summaries = request.summaries.filter(({ model }) => isTold(model))
  const sections = sectionsOf({ ...request, observations, summaries }, (file) => !mentions([file]))
  const opening = openingOf(observations.length, summaries.length)
  return fill(opening, sections, maxTokens)
}

/** What was noted without a model may tell of what no model is to be told. */
function isTold(model: string | null): boolean {
  return model !== null && model !== 'offline'
}

function openingOf(observations: number, summaries: number): string {
  if (observations + summaries === 0) return 'Nothing has been recorded in this session yet.'
  return `This session so far, as it was recorded: ${count(observations, 'observation')}, ${count(summaries, 'summary', 'summaries')}.`
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

interface Filled {
  section: Section
  kept: string[]
  chars: number
}

/**
 * By rank: first each section up to its share, so that none is silent because another is long, then whatever is
 * left. Shown in the order in which they were given.
 */
function fill(opening: string, sections: readonly Section[], maxTokens: number): string {
  const room = largestText(maxTokens)
  const ranked = [...sections]
    .sort((a, b) => a.rank - b.rank)
    .map((section): Filled => ({ section, kept: [], chars: 0 }))
  let left = room - opening.length
  for (const isFirst of [true, false]) {
    for (const filled of ranked) {
      const allowed = isFirst ? Math.min(left, Math.floor(room * filled.section.share) - filled.chars) : left
      left -= take(filled, allowed)
    }
  }
  const shown = sections.flatMap(
    (section) => ranked.find((one) => one.section === section && one.kept.length > 0) ?? [],
  )
  const text = [opening, ...shown.map(render)].join('\n\n')
  return text.length <= room ? text : cut(opening, room).slice(0, room)
}

/** `estimateTokens` counts characters, rounded up: this is the longest text that passes. */
function largestText(maxTokens: number): number {
  const charsPerToken = 1_000 / estimateTokens(' '.repeat(1_000))
  return Number.isFinite(maxTokens) ? Math.max(0, Math.floor(maxTokens * charsPerToken)) : 0
}

/** Takes items in their order until one does not fit; says how many characters that costs. */
function take(filled: Filled, allowed: number): number {
  const { section, kept } = filled
  const before = filled.chars
  for (let next = kept.length; next < section.items.length; next++) {
    const item = section.items[next] ?? ''
    const chars = costOf(section, kept.length === 0 ? 0 : filled.chars, item)
    if (chars - before > allowed) break
    kept.push(item)
    filled.chars = chars
  }
  return filled.chars - before
}

/** Heading, blank lines and the line that counts what is left out are paid with the first item. */
function costOf(section: Section, before: number, item: string): number {
  const frame = before === 0 ? section.title.length + 3 + 2 + 1 + leftOut(section.total).length + 1 : before
  return frame + item.length + (section.inline ? 2 : 3)
}

function render({ section, kept }: Filled): string {
  const missing = section.total - kept.length
  const items = section.inline ? [kept.join(', ')] : kept.map((item) => `- ${item}`)
  return [`## ${section.title}`, ...items, ...(missing > 0 ? [leftOut(missing)] : [])].join('\n')
}

function leftOut(n: number): string {
  return `(${n} more left out)`
}
