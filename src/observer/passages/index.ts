/**
 * The passages of an event: short pieces of what was said and done, in its own words (src/domain/passage.ts). Pure, in
 * linear time, and a bounded number for an event. Events come here cleaned: private parts removed, secrets masked.
 *
 * Not kept: contents of files that were read, listings, progress, tests that passed one by one.
 */
import type { MemoryEvent } from '../../domain/event.ts'
import type { PassageDraft } from '../../domain/passage.ts'
import { makeWithheldFilter, type WithheldLists } from '../model/withheld.ts'
import { cutProse, type PassageContent } from './pieces.ts'
import { toolPassages } from './tools.ts'

/** Most passages of one message: some 12,000 characters. */
const MAX_PASSAGES = 30
/** Of everything that was written between the tool uses of a turn. The last is nearest to the result. */
const MAX_WORDS_PASSAGES = 60
/** Of a pasted log or document in a prompt. */
const MAX_PROMPT_PASSAGES = 16

/**
 * Whether passages may be made of an event. Not of tool uses that the user never wants to be sent to a model: an agent that
 * searches would send them. Files that hold keys by convention come here masked, so only the user's own lists count.
 */
export function makePassageFilter(lists: WithheldLists): (event: MemoryEvent) => boolean {
  if (lists.tools.length + lists.paths.length === 0) return () => true
  const { reasonFor } = makeWithheldFilter(lists, [])
  return (event) => (event.kind !== 'tool_use' && event.kind !== 'tool_failure') || reasonFor(event) === null
}

export function passagesOfEvent(event: MemoryEvent, promptNumber: number): PassageDraft[] {
  const seen = new Set<string>()
  const contents = contentsOf(event).filter(({ kind, subject, text }) => {
    const key = `${kind}\n${subject}\n${text}`
    return !seen.has(key) && seen.add(key)
  })
  return contents.map((content, position) => ({ ...content, eventId: event.id, position, promptNumber, at: event.at }))
}

function contentsOf(event: MemoryEvent): PassageContent[] {
  switch (event.kind) {
    case 'prompt':
      return event.private ? [] : promptPassages(event.text)
    case 'turn_end':
      return [
        ...said('closing', event.lastMessage ?? '', MAX_PASSAGES),
        ...(event.words ?? []).flatMap((words) => said('words', words, MAX_PASSAGES)).slice(-MAX_WORDS_PASSAGES),
      ]
    case 'subagent_end':
      return said('report', event.lastMessage, MAX_PASSAGES)
    case 'tool_use':
    case 'tool_failure':
      return toolPassages(event)
    default:
      return []
  }
}

/** A client reports the end of an agent in the background as a prompt. */
const NOTIFICATION = /^\s*<task-notification>/

function promptPassages(text: string): PassageContent[] {
  if (!NOTIFICATION.test(text)) return said('prompt', text, MAX_PROMPT_PASSAGES)
  const from = text.indexOf('<result>')
  const to = text.lastIndexOf('</result>')
  return from === -1 || to < from ? [] : said('report', text.slice(from + '<result>'.length, to), MAX_PASSAGES)
}

function said(kind: PassageContent['kind'], text: string, most: number): PassageContent[] {
  return cutProse(text, most).map((piece) => ({ kind, subject: null, outcome: null, text: piece }))
}
