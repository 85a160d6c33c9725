/**
 * The digest that opens the next generation of the observer's conversation after compaction, built only from stored
 * observations and summaries. Each observation has one line with its number; open problems and decisions are kept longest,
 * and what does not fit is counted. Superseded observations are not part of it.
 */
import { CHARS_PER_TOKEN, type Observation, type Summary } from '../../domain/observation.ts'
import type { CompactRequest } from '../port.ts'
import { clipAtWord, singleLine, splitSentences, statedReason, unique } from '../tool-events/text.ts'
import { isFromModel, noteTitle, sendableObservations, statusMark } from './stored-notes.ts'
import type { WithheldFilter } from './withheld.ts'

/** More do not fit into any digest. */
const MAX_ITEMS = 400
/** Observations whose texts are read; older ones are only counted. */
const MAX_READ = 1_000
const MAX_FIELD_CHARS = 4_000
const LINE_CHARS = 240
const NEXT_STEPS_CHARS = 360
const NAME_CHARS = 60
/** Per observation. */
const MAX_NAMES = 50

interface DigestOptions {
  maxTokens: number
  withheld: Pick<WithheldFilter, 'mentions'>
}

export function conversationDigest(request: CompactRequest, { maxTokens, withheld }: DigestOptions): string {
  const observations = sendableObservations(request.observations, withheld, request.cwd)
  const summaries = request.summaries.filter(({ model }) => isFromModel(model))
  const sections = makeSections(observations, summaries, (file) => !withheld.mentions([file], request.cwd))
  return fillSections(digestOpening(observations, summaries.length), sections, maxTokens)
}

function digestOpening(observations: readonly Observation[], summaries: number): string {
  if (observations.length + summaries === 0) return 'Nothing has been recorded in this session yet.'
  const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
  const counts = `${count(observations.length, 'observation', 'observations')}, ${count(summaries, 'summary', 'summaries')}`
  return `This session so far: ${counts}.`
}

interface DigestSection {
  title: string
  /** A lower rank is filled first. */
  rank: number
  /** Share of the digest that it may take before the other sections had theirs. */
  share: number
  /** All items on one line. */
  inline: boolean
  items: string[]
  /** Number of items that exist; `items` has at most as many as could be shown. */
  total: number
}

/** In the order in which they are shown, the most useful items of each first. */
function makeSections(
  stored: readonly Observation[],
  allSummaries: readonly Summary[],
  isShown: (file: string) => boolean,
): DigestSection[] {
  const observations = stored.slice(0, MAX_READ)
  const summaries = allSummaries.slice(0, MAX_READ)
  const next = lineOf(summaries[0]?.nextSteps ?? null, NEXT_STEPS_CHARS)
  return [
    section('Turns', { rank: 2, share: 0.3 }, summaries.map(turnLine)),
    section('Next steps of the last turn', { rank: 1, share: 0.1 }, [next]),
    section('Stored', { rank: 0, share: 0.5 }, byImportance(observations).map(storedLine), stored.length),
    section('Names', { rank: 3, share: 0.06, inline: true }, names(observations)),
    section('Files', { rank: 4, share: 0.06, inline: true }, files(observations, summaries).filter(isShown).map(line)),
  ]
}

function section(
  title: string,
  options: { rank: number; share: number; inline?: boolean },
  found: readonly string[],
  total = 0,
): DigestSection {
  const items = unique(found.filter((item) => item !== ''))
  return {
    title,
    inline: false,
    ...options,
    items: items.slice(0, MAX_ITEMS),
    total: Math.max(total, items.length),
  }
}

/** Four times the limit is read, because white space and control characters are removed. */
const lineOf = (text: string | null, maxChars: number) => singleLine((text ?? '').slice(0, 4 * maxChars), maxChars)
const line = (text: string | null) => lineOf(text, LINE_CHARS)

/** What was asked, and what became of it. */
function turnLine({ promptNumber, request, completed, learned }: Summary): string {
  const parts = [line(request), line(completed ?? learned)].filter((part) => part !== '')
  return parts.length === 0 ? '' : `prompt ${promptNumber}: ${parts.join(' → ')}`
}

/** Open problems, decisions, traps, then the rest; newest first within each. */
function byImportance(observations: readonly Observation[]): Observation[] {
  const rank = (one: Observation) =>
    one.status === 'open' ? 0 : one.type === 'decision' ? 1 : one.concepts.includes('gotcha') ? 2 : 3
  return [...observations].sort((one, other) => rank(one) - rank(other))
}

function storedLine(observation: Observation): string {
  const title = noteTitle(observation)
  const detail = detailOf(observation)
  const text = detail === '' || title.includes(detail) ? title : `${title}: ${detail}`
  return line(`#${observation.id} ${observation.type}${statusMark(observation)}: ${text}`)
}

/** The reason of a decision, the point of a problem or a trap. Of anything else the title is enough. */
function detailOf({ type, status, subtitle, narrative, facts, concepts }: Observation): string {
  if (type === 'decision') {
    const sentences = splitSentences([narrative, ...facts].map((text) => lineOf(text, LINE_CHARS * 2)).join('\n'))
    return sentences.find((sentence) => statedReason(sentence) !== null) ?? sentences[0] ?? ''
  }
  return status === 'open' || concepts.includes('gotcha') ? line(subtitle ?? facts[0] ?? null) : ''
}

/** Changed functions, then names in backticks. */
function names(observations: readonly Observation[]): string[] {
  const functions = observations.flatMap((one) => one.functionsChanged.slice(0, MAX_NAMES).map(({ name }) => name))
  const quoted = observations.flatMap(({ title, narrative, facts }) => {
    const texts = [title, narrative, ...facts.slice(0, MAX_NAMES)]
    const text = texts.map((part) => (part ?? '').slice(0, MAX_FIELD_CHARS)).join('\n')
    return [...text.matchAll(/`([^`\n]{2,60})`/g)].map((match) => match[1] ?? '')
  })
  return unique([...functions, ...quoted]).map((name) => lineOf(name, NAME_CHARS))
}

/** Modified files first. */
function files(observations: readonly Observation[], summaries: readonly Summary[]): string[] {
  return unique([
    ...observations.flatMap((one) => one.filesModified),
    ...summaries.flatMap((one) => one.filesEdited),
    ...observations.flatMap((one) => one.filesRead),
    ...summaries.flatMap((one) => one.filesRead),
  ])
}

interface FilledSection {
  section: DigestSection
  kept: string[]
  chars: number
}

/** By rank: first each section up to its share, so that a long one does not displace another, then what is left. */
function fillSections(opening: string, sections: readonly DigestSection[], maxTokens: number): string {
  const maxChars = Math.max(0, Math.floor((maxTokens || 0) * CHARS_PER_TOKEN))
  const filled = sections.map((section): FilledSection => ({ section, kept: [], chars: 0 }))
  const byRank = [...filled].sort((a, b) => a.section.rank - b.section.rank)
  let left = maxChars - opening.length
  for (const isFirstPass of [true, false]) {
    for (const one of byRank) {
      const allowed = isFirstPass ? Math.min(left, Math.floor(maxChars * one.section.share) - one.chars) : left
      left -= addItems(one, allowed)
    }
  }
  const text = [opening, ...filled.filter(({ kept }) => kept.length > 0).map(renderSection)].join('\n\n')
  return text.length <= maxChars ? text : clipAtWord(opening, maxChars).slice(0, maxChars)
}

/** Adds items in order until one does not fit. Returns the number of characters that were added. */
function addItems(filled: FilledSection, allowed: number): number {
  const { section, kept } = filled
  const before = filled.chars
  for (const item of section.items.slice(kept.length)) {
    // The first item pays for the heading, blank lines and the line that counts what is left out.
    const frame = section.title.length + 3 + 2 + 1 + leftOutLine(section.total).length + 1
    const chars = (kept.length === 0 ? frame : filled.chars) + item.length + (section.inline ? 2 : 3)
    if (chars - before > allowed) break
    kept.push(item)
    filled.chars = chars
  }
  return filled.chars - before
}

function renderSection({ section, kept }: FilledSection): string {
  const missing = section.total - kept.length
  const items = section.inline ? [kept.join(', ')] : kept.map((item) => `- ${item}`)
  return [`## ${section.title}`, ...items, ...(missing > 0 ? [leftOutLine(missing)] : [])].join('\n')
}

function leftOutLine(count: number): string {
  return `(${count} more left out)`
}
