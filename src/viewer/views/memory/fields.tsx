/** Fields of what somebody writes. */
import { useId } from 'preact/hooks'
import { OBSERVATION_TYPES, type ObservationType } from '../../../memory/observation.ts'

interface TextProps {
  label: string
  value: string
  onValue(value: string): void
  hint?: string
  rows?: number
  max: number
}

/** Of several lines where `rows` is given. */
export function TextField({ label, value, onValue, hint, rows, max }: TextProps) {
  const id = useId()
  const field = { id, value, maxLength: max, dir: 'auto' } as const
  return (
    <div class="memory-field">
      <label for={id}>
        {label}
        {hint === undefined ? null : <span class="soft"> {hint}</span>}
      </label>
      {rows === undefined ? (
        <input {...field} onInput={(event) => onValue(event.currentTarget.value)} />
      ) : (
        <textarea {...field} rows={rows} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
    </div>
  )
}

export function TypeField({ value, onValue }: { value: ObservationType; onValue(value: ObservationType): void }) {
  return (
    <label class="memory-field">
      <span>Type</span>
      <select
        value={value}
        onChange={(event) => {
          const type = OBSERVATION_TYPES.find((one) => one === event.currentTarget.value)
          if (type !== undefined) onValue(type)
        }}
      >
        {OBSERVATION_TYPES.map((type) => (
          <option key={type} value={type}>
            {type}
          </option>
        ))}
      </select>
    </label>
  )
}

/** One a line. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Between commas. */
export function wordsOf(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
