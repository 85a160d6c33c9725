/** The field of a setting, by what it may be. */
import { useState } from 'preact/hooks'
import { short } from '../../times.ts'
import { type ControlProps, fieldProps } from './field.ts'
import { nameOf, sameValue, wordsOf } from './groups.ts'
import { ListField, SomeField } from './lists.tsx'

export function Control(props: ControlProps) {
  const { setting } = props
  if (setting.secret) return <SecretField {...props} />
  switch (setting.kind) {
    case 'boolean':
      return <Toggle {...props} />
    case 'choice':
      return <Choice {...props} />
    case 'list':
      return wordsOf(setting.name) === null ? <ListField {...props} /> : <SomeField {...props} />
    case 'integer':
    case 'number':
    case 'text':
      return <TextField {...props} />
  }
}

function Toggle(props: ControlProps) {
  const on = props.setting.value === true
  return (
    <span class="setting-toggle">
      <input
        type="checkbox"
        {...fieldProps(props)}
        checked={on}
        onChange={async (event) => {
          const box = event.currentTarget
          if (!(await props.save(String(box.checked)))) box.checked = on
        }}
      />
      <span aria-hidden="true">{on ? 'On' : 'Off'}</span>
    </span>
  )
}

function Choice(props: ControlProps) {
  const { value, choices } = props.setting
  return (
    <select
      {...fieldProps(props)}
      value={String(value)}
      onChange={(event) => void props.save(event.currentTarget.value)}
    >
      {(choices ?? []).map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  )
}

/** One line, or a number. What is typed is kept until it is taken or given up with Escape. */
function TextField(props: ControlProps) {
  const { setting, save, forget } = props
  const { kind, min, max, value } = setting
  const { unit } = nameOf(setting.name)
  const [draft, setDraft] = useState<string | null>(null)
  const held = String(value)
  const number = kind !== 'text'
  return (
    <span class="setting-text">
      <input
        {...fieldProps(props)}
        {...(number ? { type: 'number', step: kind === 'integer' ? 1 : 'any' } : { type: 'text' })}
        {...(min === null ? {} : { min })}
        {...(max === null ? {} : { max })}
        class={number ? 'setting-number figure' : 'setting-line'}
        spellcheck={false}
        autocomplete="off"
        value={draft ?? held}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={async (event) => {
          const given = event.currentTarget.value
          if (given === held && !props.wrong) setDraft(null)
          else if (await save(given)) setDraft(null)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          // Before the field is left, which would save it.
          event.currentTarget.value = held
          setDraft(null)
          forget()
        }}
      />
      {unit === null ? null : <span class="setting-unit">{unit}</span>}
      {number && min !== null && max !== null ? (
        <span class="setting-range figure" title={`From ${min} to ${max}`}>
          {short(min)}–{short(max)}
        </span>
      ) : null}
    </span>
  )
}

/** Goes one way: what is there is never shown, only that it is. */
function SecretField(props: ControlProps) {
  const { setting, save } = props
  const [draft, setDraft] = useState('')
  const set = !sameValue(setting.value, '')
  return (
    <form
      class="setting-text"
      onSubmit={async (event) => {
        event.preventDefault()
        if (draft !== '' && (await save(draft))) setDraft('')
      }}
    >
      <input
        type="password"
        {...fieldProps(props)}
        class="setting-line"
        autocomplete="new-password"
        spellcheck={false}
        placeholder={set ? `Set: ${String(setting.value)}` : 'Not set'}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
      />
      <button type="submit" disabled={draft === ''}>
        {set ? 'Replace' : 'Save'}
      </button>
    </form>
  )
}
