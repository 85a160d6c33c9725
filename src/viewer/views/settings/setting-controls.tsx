/** The input field of a setting, by its kind. */
import { useState } from 'preact/hooks'
import type { SettingInfo } from '../../../settings/settings.ts'
import { compactCount } from '../../format.tsx'
import { listChoices, settingLabel } from './setting-groups.ts'

interface SettingControlProps {
  setting: SettingInfo
  /** Resolves with true if the daemon accepted the value. */
  save(value: string | readonly string[]): Promise<boolean>
  /** The last value was rejected. */
  invalid: boolean
  clearError(): void
}

export function SettingControl(props: SettingControlProps) {
  const { setting } = props
  if (setting.secret) return <SecretField {...props} />
  switch (setting.kind) {
    case 'boolean':
      return <Switch {...props} />
    case 'choice':
      return <Choice {...props} />
    case 'list':
      return listChoices(setting.name) === null ? <ListField {...props} /> : <ChoiceList {...props} />
    case 'integer':
    case 'number':
    case 'text':
      return <ValueField {...props} />
  }
}

/** Attributes that connect a field with its label, description and error. */
function fieldProps({ setting: { name, locked }, invalid }: SettingControlProps) {
  return {
    id: name,
    disabled: locked !== null,
    'aria-invalid': invalid,
    'aria-describedby': invalid ? `${name}-error` : `${name}-about`,
  } as const
}

function Switch(props: SettingControlProps) {
  const on = props.setting.value === true
  return (
    <input
      type="checkbox"
      {...fieldProps(props)}
      checked={on}
      onChange={async (event) => {
        const box = event.currentTarget
        if (!(await props.save(String(box.checked)))) box.checked = on
      }}
    />
  )
}

function Choice(props: SettingControlProps) {
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

/** A rejected draft stays in the field until it is accepted or cancelled with Escape. */
function draftProps(
  { save, invalid, clearError }: SettingControlProps,
  stored: string,
  [draft, setDraft]: [string | null, (draft: string | null) => void],
  parse: (text: string) => string | readonly string[] = (text) => text,
) {
  type Field = HTMLInputElement | HTMLTextAreaElement
  return {
    value: draft ?? stored,
    onInput: ({ currentTarget }: { currentTarget: Field }) => setDraft(currentTarget.value),
    onChange: async ({ currentTarget: { value } }: { currentTarget: Field }) => {
      if ((value === stored && !invalid) || (await save(parse(value)))) setDraft(null)
    },
    onKeyDown: (event: { key: string; currentTarget: Field }) => {
      if (event.key !== 'Escape') return
      // Before the field loses the focus, which would save the draft.
      event.currentTarget.value = stored
      setDraft(null)
      clearError()
    },
  }
}

/** A text or a number. */
function ValueField(props: SettingControlProps) {
  const { kind, min, max, value, name } = props.setting
  const { unit } = settingLabel(name)
  const isNumber = kind !== 'text'
  const draft = useState<string | null>(null)
  return (
    <span class="row wrap">
      <input
        {...fieldProps(props)}
        {...(isNumber ? { type: 'number', step: kind === 'integer' ? 1 : 'any' } : { type: 'text' })}
        {...(min === null ? {} : { min })}
        {...(max === null ? {} : { max })}
        class={isNumber ? 'short' : ''}
        spellcheck={false}
        autocomplete="off"
        {...draftProps(props, String(value), draft)}
      />
      <span class="soft small">
        {unit} {isNumber && min !== null && max !== null ? `${compactCount(min)}–${compactCount(max)}` : ''}
      </span>
    </span>
  )
}

/** The page neither gets the stored value nor can change it: a key is set in a terminal. */
function SecretField(props: SettingControlProps) {
  const { value } = props.setting
  const isSet = value !== '' && value !== null
  return (
    <input type="password" {...fieldProps(props)} disabled placeholder={isSet ? `Set: ${String(value)}` : 'Not set'} />
  )
}

function itemsOf({ value }: SettingInfo): readonly string[] {
  return Array.isArray(value) ? value : []
}

/** A list of any texts, one per line. */
function ListField(props: SettingControlProps) {
  const stored = itemsOf(props.setting).join('\n')
  const draft = useState<string | null>(null)
  return (
    <textarea
      {...fieldProps(props)}
      rows={Math.min(6, stored.split('\n').length + 1)}
      placeholder="One per line"
      spellcheck={false}
      {...draftProps(props, stored, draft, linesOf)}
    />
  )
}

function linesOf(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
}

/** A list of allowed items. */
function ChoiceList({ setting, save, invalid }: SettingControlProps) {
  const { name, locked } = setting
  const choices = listChoices(name) ?? []
  const selected = itemsOf(setting)
  return (
    <fieldset
      class="row wrap"
      aria-labelledby={`${name}-label`}
      aria-describedby={`${name}-${invalid ? 'error' : 'about'}`}
    >
      {choices.map((choice) => (
        <label key={choice} class="check">
          <input
            type="checkbox"
            disabled={locked !== null}
            checked={selected.includes(choice)}
            onChange={(event) => {
              const { checked } = event.currentTarget
              void save(choices.filter((one) => (one === choice ? checked : selected.includes(one))))
            }}
          />
          {choice}
        </label>
      ))}
    </fieldset>
  )
}
