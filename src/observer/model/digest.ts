/**
 * The digest that opens the next generation of the observer's conversation after compaction, built only from stored
 * observations and summaries. Decisions and open threads are kept longest; what does not fit is counted.
 */
import { CHARS_PER_TOKEN, type Observation, type Summary } from '../../domain/observation.ts'
import type { CompactRequest } from '../port.ts'
import { clipAtWord, fileName, singleLine, splitSentences, statedReason, unique } from '../tool-events/text.ts'
import type { WithheldFilter } from './withheld.ts'

/** More do not fit into any digest. */
const MAX_ITEMS = 400
/** Observations whose texts are read; older ones are only counted. */
const MAX_READ = 1_000
const MAX_FIELD_CHARS = 4_000
const LINE_CHARS = 240
const NEXT_STEPS_CHARS = 360
const TITLE_CHARS = 110
const NAME_CHARS = 60
/** Per observation. */
const MAX_NAMES = 50

interface DigestOptions {
  maxTokens: number
  withheld: Pick<WithheldFilter, 'mentions'>
}

export function conversationDigest(request: CompactRequest, { maxTokens, withheld }: DigestOptions): string {
  const mentions = (files: readonly string[]) => withheld.mentions(files, request.cwd)
  const observations = request.observations.filter(
    ({ model, filesRead, filesModified, functionsChanged }) =>
      isFromModel(model) && !mentions([...filesRead, ...filesModified, ...functionsChanged.map(({ file }) => file)]),
  )
  const summaries = request.summaries.filter(({ model }) => isFromModel(model))
  const sections = makeSections({ ...request, observations, summaries }, (file) => !mentions([file]))
  return fillSections(digestOpening(observations.length, summaries.length), sections, maxTokens)
}

/** Notes of the rules may contain what must not be sent to a model. */
export function isFromModel(model: string | null): boolean {
  return model !== null && model !== 'offline'
}

function digestOpening(observations: number, summaries: number): string {
  if (observations + summaries === 0) return 'Nothing has been recorded in this session yet.'
  const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
  return `This session so far, as it was recorded: ${count(observations, 'observation', 'observations')}, ${count(summaries, 'summary', 'summaries')}.`
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
function makeSections(request: CompactRequest, isShown: (file: string) => boolean): DigestSection[] {
  const observations = request.observations.slice(0, MAX_READ)
  const summaries = request.summaries.slice(0, MAX_READ)
  const decisions = request.observations.filter(({ type }) => type === 'decision')
  return [
    section('The user asked', { rank: 2, share: 0.2 }, requestLines(request, summaries)),
    section('Decisions', { rank: 0, share: 0.25 }, decisions.slice(0, MAX_ITEMS).map(decisionLine), decisions.length),
    section('Open threads', { rank: 1, share: 0.25 }, openThreadLines(observations, summaries)),
    section('Done', { rank: 4, share: 0.1 }, summaries.map(completedLine)),
    section('Names', { rank: 5, share: 0.06, inline: true }, names(observations)),
    section('Files', { rank: 6, share: 0.06, inline: true }, files(observations, summaries).filter(isShown).map(line)),
    section(
      'Already recorded, not to be written again',
      { rank: 3, share: 0.2 },
      observations.map(recordedLine),
      request.observations.length,
    ),
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

function requestLines(request: CompactRequest, summaries: readonly Summary[]): string[] {
  const current = line(request.prompt)
  const earlier = summaries.filter(({ promptNumber }) => promptNumber !== request.promptNumber || current === '')
  return [
    ...(current === '' ? [] : [`prompt ${request.promptNumber}, the current one: ${current}`]),
    ...earlier.map((summary) => promptLine(summary, line(summary.request))),
  ]
}

function promptLine({ promptNumber }: Summary, text: string): string {
  return text === '' ? '' : `prompt ${promptNumber}: ${text}`
}

/** The decision and the sentence that states its reason. */
function decisionLine({ title, narrative, facts }: Observation): string {
  const sentences = splitSentences([narrative, ...facts].map((text) => lineOf(text, LINE_CHARS * 2)).join('\n'))
  const reason = sentences.find((sentence) => statedReason(sentence) !== null) ?? sentences[0] ?? ''
  const decision = lineOf(title, TITLE_CHARS)
  return line([decision, reason === decision ? '' : reason].filter((part) => part !== '').join(': '))
}

const FAILING = /\b(?:fail(?:s|ed|ing|ure)?|broken|crash(?:es|ed)?|errors?|red|does not (?:work|pass|build))\b/i
const CHANGES = new Set<Observation['type']>(['bugfix', 'feature', 'refactor', 'change'])

/** Next steps, then failures and findings whose files were not changed since, then warnings. */
function openThreadLines(observations: readonly Observation[], summaries: readonly Summary[]): string[] {
  const next = lineOf(summaries[0]?.nextSteps ?? null, NEXT_STEPS_CHARS)
  // By file name only: the same file is recorded with its whole path or a part of it.
  const changedNames = new Set<string>()
  let anyChange = false
  // A finding without files is settled by any later change.
  const isSettled = (paths: readonly string[]) =>
    paths.length === 0 ? anyChange : paths.some((file) => changedNames.has(fileName(file)))
  const failing: string[] = []
  const findings: string[] = []
  const warnings: string[] = []
  for (const { id, type, title, subtitle, facts, concepts, filesRead, filesModified } of observations) {
    const paths = [...filesRead, ...filesModified]
    const reference = `${lineOf(title, TITLE_CHARS)} (#${id})`
    if (concepts.includes('gotcha')) {
      warnings.push(`gotcha: ${line([title, facts[0] ?? subtitle].filter((text) => text).join(': '))}`)
    } else if (type === 'discovery' && !isSettled(paths)) {
      if (FAILING.test(`${title ?? ''} ${subtitle ?? ''}`)) failing.push(`fails: ${reference}`)
      else if (paths.length > 0) findings.push(`found, not acted on: ${reference}`)
    }
    if (!CHANGES.has(type)) continue
    anyChange = true
    for (const file of filesModified) changedNames.add(fileName(file))
  }
  return [next === '' ? '' : `next: ${next}`, ...failing, ...findings, ...warnings]
}

function completedLine(summary: Summary): string {
  return promptLine(summary, line(summary.completed ?? summary.learned))
}

/** Changed functions, then names in backticks, then concepts. */
function names(observations: readonly Observation[]): string[] {
  const functions = observations.flatMap((one) => one.functionsChanged.slice(0, MAX_NAMES).map(({ name }) => name))
  const quoted = observations.flatMap(({ title, narrative, facts }) => {
    const texts = [title, narrative, ...facts.slice(0, MAX_NAMES)]
    const text = texts.map((part) => (part ?? '').slice(0, MAX_FIELD_CHARS)).join('\n')
    return [...text.matchAll(/`([^`\n]{2,60})`/g)].map((match) => match[1] ?? '')
  })
  const concepts = observations.flatMap((one) => one.concepts.slice(0, MAX_NAMES))
  return unique([...functions, ...quoted, ...concepts]).map((name) => lineOf(name, NAME_CHARS))
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

function recordedLine({ id, type, title, narrative }: Observation): string {
  return `#${id} ${type}: ${lineOf(title ?? narrative, TITLE_CHARS) || 'without a title'}`
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
