/** What a digest may say, section by section in the order in which it reads best, the most useful of each first. */
import type { Observation, Summary } from '../../../memory/observation.ts'
import { reasonIn } from '../../offline/decisions.ts'
import { oneLine, sentencesOf, unique } from '../../offline/text.ts'
import type { CompactRequest } from '../../port.ts'

export interface Section {
  title: string
  /** Lower survives longer. */
  rank: number
  /** The part of the whole that it may take before the others had theirs. */
  share: number
  /** One line for all items. */
  inline: boolean
  items: string[]
  /** How many there are; `items` holds no more than could ever be shown. */
  total: number
}

/** More fits into no digest. */
const MAX_ITEMS = 400
/** Observations whose words are looked at: older ones count, but their names no longer matter. */
const MAX_READ = 1_000
/** Of a field that is longer nobody reads on. */
const MAX_FIELD_CHARS = 4_000
const LINE_CHARS = 240
const NEXT_CHARS = 360
const TITLE_CHARS = 110
const NAME_CHARS = 60
/** Of one observation. */
const MAX_NAMES = 50

export function sectionsOf(request: CompactRequest, isShown: (file: string) => boolean): Section[] {
  const observations = request.observations.slice(0, MAX_READ)
  const summaries = request.summaries.slice(0, MAX_READ)
  const decisions = request.observations.filter((one) => one.type === 'decision')
  return [
    section('The user asked', { rank: 2, share: 0.2 }, requestsIn(request, summaries)),
    section('Decisions', { rank: 0, share: 0.25 }, decisions.slice(0, MAX_ITEMS).map(decision), decisions.length),
    section('Open threads', { rank: 1, share: 0.25 }, openThreads(observations, summaries)),
    section('Done', { rank: 4, share: 0.1 }, summaries.map(completed)),
    section('Names', { rank: 5, share: 0.06, inline: true }, namesIn(observations)),
    section('Files', { rank: 6, share: 0.06, inline: true }, filesIn(observations, summaries, isShown)),
    section(
      'Already recorded, not to be written again',
      { rank: 3, share: 0.2 },
      observations.map(recorded),
      request.observations.length,
    ),
  ]
}

function section(
  title: string,
  how: { rank: number; share: number; inline?: boolean },
  found: readonly string[],
  total = 0,
): Section {
  const items = unique(found.filter((item) => item !== ''))
  return {
    title,
    inline: false,
    ...how,
    items: items.slice(0, MAX_ITEMS),
    total: Math.max(total, items.length),
  }
}

/** Four times as much is enough to fill a line, whatever is not text in it. */
const line = (text: string | null, most = LINE_CHARS) => oneLine((text ?? '').slice(0, 4 * most), most)

function requestsIn(request: CompactRequest, summaries: readonly Summary[]): string[] {
  const now = line(request.prompt)
  const earlier = summaries.filter((one) => one.promptNumber !== request.promptNumber || now === '')
  return [
    ...(now === '' ? [] : [`prompt ${request.promptNumber}, the current one: ${now}`]),
    ...earlier.flatMap((one) => (line(one.request) === '' ? [] : [`prompt ${one.promptNumber}: ${line(one.request)}`])),
  ]
}

/** What was decided and why, in the words in which it was recorded. */
function decision(one: Observation): string {
  const sentences = sentencesOf([one.narrative, ...one.facts].map((text) => line(text, LINE_CHARS * 2)).join('\n'))
  const why = sentences.find((sentence) => reasonIn(sentence) !== null) ?? sentences[0] ?? ''
  const title = line(one.title, TITLE_CHARS)
  return line([title, why === title ? '' : why].filter((part) => part !== '').join(': '), LINE_CHARS)
}

const FAILING = /\b(?:fail(?:s|ed|ing|ure)?|broken|crash(?:es|ed)?|errors?|red|does not (?:work|pass|build))\b/i
const CHANGES = new Set<Observation['type']>(['bugfix', 'feature', 'refactor', 'change'])

/** Next steps, then what fails or was found and has not been followed by a change of its files, then warnings. */
function openThreads(observations: readonly Observation[], summaries: readonly Summary[]): string[] {
  const next = line(summaries[0]?.nextSteps ?? null, NEXT_CHARS)
  const changed = new Set<string>()
  let isFixed = false
  const failing: string[] = []
  const found: string[] = []
  const warnings: string[] = []
  for (const one of observations) {
    const files = [...one.filesRead, ...one.filesModified]
    const told = `${line(one.title, TITLE_CHARS)} (#${one.id})`
    if (one.concepts.includes('gotcha')) warnings.push(`gotcha: ${gotcha(one)}`)
    else if (one.type === 'discovery' && !isSettled(files, changed, isFixed)) {
      if (FAILING.test(`${one.title ?? ''} ${one.subtitle ?? ''}`)) failing.push(`fails: ${told}`)
      else if (files.length > 0) found.push(`found, not acted on: ${told}`)
    }
    if (!CHANGES.has(one.type)) continue
    isFixed = true
    for (const file of one.filesModified) changed.add(nameOf(file))
  }
  return [next === '' ? '' : `next: ${next}`, ...failing, ...found, ...warnings]
}

/** The same file is written down with its whole path or a part of it. */
const nameOf = (file: string) => file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)

/** What names no file is settled by any later change. */
function isSettled(files: readonly string[], changed: ReadonlySet<string>, isFixed: boolean): boolean {
  return files.length === 0 ? isFixed : files.some((file) => changed.has(nameOf(file)))
}

function gotcha(one: Observation): string {
  return line([one.title, one.facts[0] ?? one.subtitle].filter((text) => text).join(': '))
}

function completed(one: Summary): string {
  const done = line(one.completed ?? one.learned)
  return done === '' ? '' : `prompt ${one.promptNumber}: ${done}`
}

/** What was changed, then what is named in code's own letters, then what it is about. */
function namesIn(observations: readonly Observation[]): string[] {
  const functions = observations.flatMap((one) => one.functionsChanged.slice(0, MAX_NAMES).map(({ name }) => name))
  const quoted = observations.flatMap((one) => {
    const texts = [one.title, one.narrative, ...one.facts.slice(0, MAX_NAMES)]
    const text = texts.map((part) => (part ?? '').slice(0, MAX_FIELD_CHARS)).join('\n')
    return [...text.matchAll(/`([^`\n]{2,60})`/g)].map((match) => match[1] ?? '')
  })
  const concepts = observations.flatMap((one) => one.concepts.slice(0, MAX_NAMES))
  return unique([...functions, ...quoted, ...concepts]).map((name) => line(name, NAME_CHARS))
}

/** Modified ones first. */
function filesIn(
  observations: readonly Observation[],
  summaries: readonly Summary[],
  isShown: (file: string) => boolean,
): string[] {
  const modified = [...observations.flatMap((one) => one.filesModified), ...summaries.flatMap((one) => one.filesEdited)]
  const read = [...observations.flatMap((one) => one.filesRead), ...summaries.flatMap((one) => one.filesRead)]
  const shown = unique([...modified, ...read]).filter(isShown)
  return shown.map((file) => line(file))
}

function recorded(one: Observation): string {
  const title = line(one.title ?? one.narrative, TITLE_CHARS)
  return `#${one.id} ${one.type}: ${title === '' ? 'without a title' : title}`
}
