/** The text that is looked for, while it is typed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { MAX_QUERY_CHARS } from '../../../channel/memory-limits.ts'
import { SEARCH_FIELD } from '../../keys.ts'
import { Icon } from '../../parts/icon.tsx'

/** People pause between words, not between letters, in ms. */
const TYPING_MS = 120

interface SearchFieldProps {
  text: string
  busy: boolean
  onText(text: string): void
}

export function SearchField({ text, busy, onText }: SearchFieldProps) {
  const [typed, setTyped] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const said = useRef(text)
  // Another address, by a link or by going back, is another text; what was just typed comes back as it is.
  useEffect(() => {
    if (text !== said.current) setTyped(text)
    said.current = text
  }, [text])
  useEffect(() => () => clearTimeout(timer.current), [])
  const say = (next: string, soon: boolean) => {
    setTyped(next)
    clearTimeout(timer.current)
    const tell = () => {
      said.current = next
      onText(next)
    }
    if (soon) timer.current = setTimeout(tell, TYPING_MS)
    else tell()
  }
  return (
    <div class={busy ? 'memory-search busy' : 'memory-search'}>
      <Icon name="search" />
      <input
        id={SEARCH_FIELD}
        type="search"
        value={typed}
        placeholder="Search: words, a question, or “an exact phrase”"
        aria-label="Search the memory"
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_QUERY_CHARS}
        onInput={(event) => say(event.currentTarget.value, true)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') say(event.currentTarget.value, false)
          // The first Escape empties the field, the next one leaves it.
          if (event.key === 'Escape' && typed !== '') {
            event.preventDefault()
            say('', false)
          }
        }}
      />
      {typed === '' ? <kbd title="Press / to search">/</kbd> : null}
    </div>
  )
}
