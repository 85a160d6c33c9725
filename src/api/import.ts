/**
 * Sanitizes imported records: secrets are masked and texts are cut to their bound, as for events of hooks. Private parts are
 * removed from prompts and their passages only, because people write them; observations may mention such tags.
 */

import { cutText, sanitizeText } from '../domain/sanitize.ts'
import { maskSecrets } from '../domain/secrets.ts'
import { isReported } from '../domain/speaker.ts'
import { contentHash } from '../store/commit.ts'
import type {
  ImportBatch,
  ImportedObservation,
  ImportedRecord,
  PassageRecord,
  SummaryRecord,
} from '../store/exchange-records.ts'
import { MAX_RECORD_TEXT_CHARS } from './record-schemas.ts'

export function cleanImportBatch(batch: ImportBatch): ImportBatch {
  return { ...batch, records: batch.records.map(cleaned) }
}

function cleaned(record: ImportedRecord): ImportedRecord {
  switch (record.kind) {
    case 'prompt':
      return { ...record, text: sanitizeText(record.text, MAX_RECORD_TEXT_CHARS) }
    case 'observation':
      return cleanedObservation(record)
    case 'summary':
      return cleanedSummary(record)
    case 'passage':
      return cleanedPassage(record)
    default:
      return record
  }
}

/** Also recognised by the hash of its unmasked content: it may be stored here from before a masking rule was added. */
function cleanedObservation(given: ImportedObservation): ImportedObservation {
  const record = { ...given, ...importedSpeaker(given) }
  return {
    ...record,
    title: masked(record.title),
    subtitle: masked(record.subtitle),
    narrative: masked(record.narrative),
    facts: record.facts.map(mask),
    concepts: record.concepts.map(mask),
    filesRead: record.filesRead.map(mask),
    filesModified: record.filesModified.map(mask),
    functionsChanged: record.functionsChanged.map(({ name, file, action }) => {
      return { name: mask(name), file: mask(file), action }
    }),
    knownAs: [contentHash(given), contentHash(record)],
  }
}

/** A file cannot speak for the user of this machine, and what a tool or a page said is no decision in any file. */
function importedSpeaker({ type, saidBy }: ImportedObservation): Pick<ImportedObservation, 'type' | 'saidBy'> {
  const speaker = saidBy === 'person' ? 'agent' : (saidBy ?? null)
  return { type: type === 'decision' && isReported(speaker) ? 'discovery' : type, saidBy: speaker }
}

function cleanedSummary(record: SummaryRecord): SummaryRecord {
  return {
    ...record,
    request: masked(record.request),
    investigated: masked(record.investigated),
    learned: masked(record.learned),
    completed: masked(record.completed),
    nextSteps: masked(record.nextSteps),
    notes: masked(record.notes),
    filesRead: record.filesRead.map(mask),
    filesEdited: record.filesEdited.map(mask),
  }
}

function cleanedPassage(record: PassageRecord): PassageRecord {
  const isByUser = record.passage === 'prompt' || record.passage === 'answer'
  const text = isByUser ? sanitizeText(record.text, MAX_RECORD_TEXT_CHARS) : mask(record.text)
  return { ...record, subject: masked(record.subject), text }
}

function mask(text: string): string {
  return cutText(text, MAX_RECORD_TEXT_CHARS, maskSecrets)
}

function masked(text: string | null): string | null {
  return text === null ? null : mask(text)
}
