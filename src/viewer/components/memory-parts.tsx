/** Elements about one memory: whose it is, a line that links to it, its texts and files. */
import type { ComponentChildren, ComponentProps } from 'preact'
import type { MemoryOrigin } from '../../domain/observation.ts'
import { shortDay } from '../format.tsx'
import { safeLine, safeText, titleText } from '../safe-text.ts'
import { Chip } from './basics.tsx'
import { KindIcon } from './icon.tsx'

type Author = Pick<MemoryOrigin, 'author' | 'machine'>

/** Most characters of a name. Names are other people's text. */
const NAME_CHARS = 60

/** `by alice, 16 Nov`; '' for your own. */
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
  return text === '' ? null : <Chip title={`A memory of another person, ${receivedNote(memory)}`}>{text}</Chip>
}

interface MemoryLinkProps {
  href: string
  kind: ComponentProps<typeof KindIcon>['kind']
  title: string | null
  children?: ComponentChildren
}

/** One line of a list of memories. */
export function MemoryLink({ href, kind, title, children }: MemoryLinkProps) {
  return (
    <li class="row">
      <KindIcon kind={kind} />
      <a class="plain-link grow" href={href} data-row dir="auto">
        {titleText(title)}
      </a>
      {children}
    </li>
  )
}

export function ProseText({ text }: { text: string }) {
  return (
    <p class="prose" dir="auto">
      {safeText(text)}
    </p>
  )
}
