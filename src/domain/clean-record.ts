/**
 * Cleans memories that were made elsewhere, in a file or by another member of a team: secrets are masked and texts are cut to
 * their bound, as for events of hooks. Private parts are removed from what people write (prompts and their passages) only;
 * observations may mention such tags.
 */
import type { FunctionChange, ObservationType, SummaryDraft } from './observation.ts'
import type { PassageKind } from './passage.ts'
import { cutText, sanitizeText } from './sanitize.ts'
import { maskSecrets } from './secrets.ts'
import { isReported, type Speaker } from './speaker.ts'

/** Longest stored text (a prompt), in characters. */
export const MAX_RECORD_TEXT_CHARS = 65_536
/** Items of one list (facts, files, functions, sources): ten times what an observer may return. */
export const MAX_RECORD_ITEMS = 2_000

interface ObservationTexts {
  title: string | null
  subtitle: string | null
  narrative: string | null
  facts: string[]
  concepts: string[]
  filesRead: string[]
  filesModified: string[]
  functionsChanged: FunctionChange[]
}

export function cleanObservationTexts<T extends ObservationTexts>(record: T): T {
  return {
    ...record,
    title: cleanOptionalText(record.title),
    subtitle: cleanOptionalText(record.subtitle),
    narrative: cleanOptionalText(record.narrative),
    facts: record.facts.map(cleanRecordText),
    concepts: record.concepts.map(cleanRecordText),
    filesRead: record.filesRead.map(cleanRecordText),
    filesModified: record.filesModified.map(cleanRecordText),
    functionsChanged: record.functionsChanged.map(({ name, file, action }) => {
      return { name: cleanRecordText(name), file: cleanRecordText(file), action }
    }),
  }
}

export function cleanSummaryTexts<T extends SummaryDraft>(record: T): T {
  return {
    ...record,
    request: cleanOptionalText(record.request),
    investigated: cleanOptionalText(record.investigated),
    learned: cleanOptionalText(record.learned),
    completed: cleanOptionalText(record.completed),
    nextSteps: cleanOptionalText(record.nextSteps),
    notes: cleanOptionalText(record.notes),
    filesRead: record.filesRead.map(cleanRecordText),
    filesEdited: record.filesEdited.map(cleanRecordText),
  }
}

export function cleanPassageTexts<T extends { subject: string | null; text: string }>(record: T, kind: PassageKind): T {
  const isByUser = kind === 'prompt' || kind === 'answer'
  const text = isByUser ? sanitizeText(record.text, MAX_RECORD_TEXT_CHARS) : cleanRecordText(record.text)
  return { ...record, subject: cleanOptionalText(record.subject), text }
}

/** Of a record from a file: whatever it claims, it is what a file says. */
export function importedSpeaker(record: { type: ObservationType; saidBy?: Speaker | null }): {
  type: ObservationType
  saidBy: Speaker
} {
  const { type, saidBy } = foreignSpeaker(record)
  return { type, saidBy: saidBy === 'web' ? 'web' : 'tool' }
}

/** Nobody else can speak for the user of this machine, and what a tool or a page said is no decision anywhere. */
export function foreignSpeaker(record: { type: ObservationType; saidBy?: Speaker | null }): {
  type: ObservationType
  saidBy: Speaker | null
} {
  const { type, saidBy } = record
  const speaker = saidBy === 'person' ? 'agent' : (saidBy ?? null)
  return { type: type === 'decision' && isReported(speaker) ? 'discovery' : type, saidBy: speaker }
}

function cleanRecordText(text: string): string {
  return cutText(text, MAX_RECORD_TEXT_CHARS, maskSecrets)
}

function cleanOptionalText(text: string | null): string | null {
  return text === null ? null : cleanRecordText(text)
}
