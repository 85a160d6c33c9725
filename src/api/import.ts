/** Sanitizes imported records with the functions of `src/domain/clean-record.ts`. */

import {
  cleanObservationTexts,
  cleanPassageTexts,
  cleanSummaryTexts,
  importedSpeaker,
  MAX_RECORD_TEXT_CHARS,
} from '../domain/clean-record.ts'
import { importedId } from '../domain/event.ts'
import { sanitizeText } from '../domain/sanitize.ts'
import { contentHash } from '../store/commit.ts'
import type { ImportBatch, ImportedObservation, ImportedRecord } from '../store/exchange-records.ts'

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
      return cleanSummaryTexts(record)
    case 'passage':
      return { ...cleanPassageTexts(record, record.passage), eventId: importedId(record.eventId) }
    default:
      return record
  }
}

/** Also recognised by the hash of its unmasked content: it may be stored here from before a masking rule was added. */
function cleanedObservation(given: ImportedObservation): ImportedObservation {
  const record = { ...given, ...importedSpeaker(given), sources: given.sources.map(importedId) }
  return { ...cleanObservationTexts(record), knownAs: [contentHash(given), contentHash(record)] }
}
