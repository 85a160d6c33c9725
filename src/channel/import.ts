/**
 * Memories from outside, made fit to be kept: secrets are masked and texts are cut to their bound, as with everything
 * that comes in through a hook. Private parts are taken out of prompts, which people write; what an observer wrote may
 * speak about such tags.
 */
import { MAX_TEXT_CHARS } from '../exchange/schema.ts'
import { cutText } from '../memory/bound.ts'
import { cleanText } from '../memory/clean.ts'
import { contentHash } from '../memory/content-hash.ts'
import { maskSecrets } from '../memory/secrets.ts'
import type { ImportBatch, ImportedObservation, ImportedRecord, SummaryRecord } from '../store/import-port.ts'

export function cleanedBatch({ sessions, records, dryRun }: ImportBatch): ImportBatch {
  return { sessions, records: records.map(cleaned), dryRun }
}

function cleaned(record: ImportedRecord): ImportedRecord {
  switch (record.kind) {
    case 'prompt':
      return { ...record, text: cleanText(record.text, MAX_TEXT_CHARS) }
    case 'observation':
      return cleanedObservation(record)
    case 'summary':
      return cleanedSummary(record)
    default:
      return record
  }
}

/** Still known by the words it had: they may be kept here, from before a rule of masking was added. */
function cleanedObservation(record: ImportedObservation): ImportedObservation {
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
    knownAs: [contentHash(record)],
  }
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

function mask(text: string): string {
  return cutText(text, MAX_TEXT_CHARS, maskSecrets)
}

function masked(text: string | null): string | null {
  return text === null ? null : mask(text)
}
