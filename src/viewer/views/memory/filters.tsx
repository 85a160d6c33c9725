/** Filters that are typed, and those that hold, each with a way to take it back. */
import { useState } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { ASKED_FOR_ALL, type Asked, filterCount } from './asked.ts'

interface FilterProps {
  asked: Asked
  onSet(change: Partial<Asked>): void
}

export function MoreFilters({ asked, onSet }: FilterProps) {
  return (
    <div class="memory-more">
      <Words
        label="Concept"
        placeholder="how-it-works"
        onAdd={(word) => onSet({ concepts: [...new Set([...asked.concepts, word])] })}
      />
      <Words
        label="File"
        placeholder="part of a path"
        onAdd={(word) => onSet({ files: [...new Set([...asked.files, word])] })}
      />
      <label>
        From
        <input
          type="date"
          value={asked.from}
          max={asked.to}
          onChange={(event) => onSet({ from: event.currentTarget.value })}
        />
      </label>
      <label>
        To
        <input
          type="date"
          value={asked.to}
          min={asked.from}
          onChange={(event) => onSet({ to: event.currentTarget.value })}
        />
      </label>
    </div>
  )
}

/** A word a time: Enter, or leaving the field, adds it. */
function Words({ label, placeholder, onAdd }: { label: string; placeholder: string; onAdd(word: string): void }) {
  const [typed, setTyped] = useState('')
  const add = () => {
    const word = typed.trim()
    if (word === '') return
    onAdd(word)
    setTyped('')
  }
  return (
    <label>
      {label}
      <input
        value={typed}
        placeholder={placeholder}
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add()
        }}
      />
    </label>
  )
}

interface Active {
  name: string
  value: string
  without: Partial<Asked>
}

function activeOf({ concepts, files, from, to, session, agent }: Asked): Active[] {
  const each = (name: string, field: 'concepts' | 'files', values: readonly string[]): Active[] =>
    values.map((value) => ({ name, value, without: { [field]: values.filter((one) => one !== value) } }))
  const one = (name: string, field: 'from' | 'to' | 'session' | 'agent', value: string): Active[] =>
    value === '' ? [] : [{ name, value, without: { [field]: '' } }]
  return [
    ...each('concept', 'concepts', concepts),
    ...each('file', 'files', files),
    ...one('from', 'from', from),
    ...one('to', 'to', to),
    ...one('session', 'session', session),
    ...one('agent', 'agent', agent),
  ]
}

export function ActiveFilters({ asked, onSet }: FilterProps) {
  if (filterCount(asked) === 0) return null
  return (
    <ul class="memory-active" aria-label="Filters that hold">
      {activeOf(asked).map(({ name, value, without }) => (
        <li key={`${name} ${value}`} class="chip accent">
          <span class="memory-active-text">
            {name}: {safeLine(value, 60)}
          </span>
          <button
            type="button"
            aria-label={`Without ${name} ${safeLine(value, 60)}`}
            title="Remove this filter"
            onClick={() => onSet(without)}
          >
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
      <li>
        <button type="button" class="plain memory-clear" onClick={() => onSet({ ...ASKED_FOR_ALL, text: asked.text })}>
          Clear all filters
        </button>
      </li>
    </ul>
  )
}
