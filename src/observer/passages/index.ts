/** Passages of an event: what the user asked, and the last message of the agent, cut at the ends of lines and sentences. */
import type { MemoryEvent } from '../../domain/event.ts'
import { MAX_PASSAGE_CHARS, type PassageDraft, type PassageKind } from '../../domain/passage.ts'

export function passagesOfEvent(event: MemoryEvent, promptNumber: number): PassageDraft[] {
  switch (event.kind) {
    case 'prompt':
      return drafts(event, promptNumber, 'prompt', event.text)
    case 'turn_end':
      return drafts(event, promptNumber, 'closing', event.lastMessage ?? '')
    case 'subagent_end':
      return drafts(event, promptNumber, 'report', event.lastMessage)
    default:
      return []
  }
}

function drafts(
  { id: eventId, at }: MemoryEvent,
  promptNumber: number,
  kind: PassageKind,
  text: string,
): PassageDraft[] {
  return cutText(text).map((piece, position) => {
    return { kind, subject: null, outcome: null, text: piece, eventId, position, promptNumber, at }
  })
}

/** Linear: every character is looked at once from the front and at most once from the end of its piece. */
function cutText(text: string): string[] {
  const pieces: string[] = []
  let start = 0
  while (start < text.length) {
    const end = start + MAX_PASSAGE_CHARS >= text.length ? text.length : lastBoundary(text, start)
    const piece = text.slice(start, end).trim()
    if (piece !== '') pieces.push(piece)
    start = end
  }
  return pieces
}

/** The end of the last line of the piece, else of the last sentence or word in its second half, else its full length. */
function lastBoundary(text: string, start: number): number {
  const end = start + MAX_PASSAGE_CHARS
  const piece = text.slice(start, end)
  const half = MAX_PASSAGE_CHARS / 2
  for (const boundary of ['\n', '. ', ' ']) {
    const found = piece.lastIndexOf(boundary)
    if (found >= half) return start + found + boundary.length
  }
  const last = text.charCodeAt(end - 1)
  // A surrogate pair stays together.
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}
