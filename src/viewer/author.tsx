/** Whose a memory or a session is, where it is somebody else's or came from another machine. Names are other people's text. */
import type { MemoryOrigin } from '../domain/observation.ts'
import { shortDay } from './format.tsx'
import { safeLine } from './safe-text.ts'

type Author = Pick<MemoryOrigin, 'author' | 'machine'>

/** Most characters of a name. */
const NAME_CHARS = 60

/** `by alice, 16 Nov`; '' for one's own. */
export function authorText({ author = null }: Author, at: number): string {
  return author === null ? '' : `by ${safeLine(author, NAME_CHARS) || '(no name)'}, ${shortDay(at)}`
}

/** `received from alice's machine laptop`; '' for what was learned here. */
export function receivedNote({ author = null, machine = null }: Author): string {
  if (author === null && machine === null) return ''
  const owner = author === null ? 'your' : `${safeLine(author, NAME_CHARS) || '(no name)'}'s`
  return `received from ${owner} ${machine === null ? 'machine' : `machine ${safeLine(machine, NAME_CHARS)}`}`
}

export function AuthorChip({ memory, at }: { memory: Author; at: number }) {
  const text = authorText(memory, at)
  if (text === '') return null
  return (
    <span class="chip" data-testid="author" title={`A memory of another person, ${receivedNote(memory)}`} dir="auto">
      {text}
    </span>
  )
}
