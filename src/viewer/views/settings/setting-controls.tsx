/** The input field of a setting, by its kind. */
import { useState } from 'preact/hooks'
import type { SettingInfo } from '../../../settings/settings.ts'
import { Icon } from '../../components/icon.tsx'
import { compactCount } from '../../format.tsx'
import { safeLine } from '../../safe-text.ts'
import { listChoices, sameSettingValue, settingLabel } from './setting-groups.ts'

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
      return <Toggle {...props} />
    case 'choice':
      return <Choice {...props} />
    case 'list':
      return listChoices(setting.name) === null ? <ListField {...props} /> : <ChoiceListField {...props} />
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

function Toggle(props: SettingControlProps) {
  const on = props.setting.value === true
  return (
    <span class="setting-toggle soft row wrap">
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

/** A text or a number. A rejected draft stays in the field until it is accepted or cancelled with Escape. */
function ValueField(props: SettingControlProps) {
  const { kind, min, max, value, name } = props.setting
  const { unit } = settingLabel(name)
  const [draft, setDraft] = useState<string | null>(null)
  const stored = String(value)
  const isNumber = kind !== 'text'
  return (
    <span class="setting-text row wrap">
      <input
        {...fieldProps(props)}
        {...(isNumber ? { type: 'number', step: kind === 'integer' ? 1 : 'any' } : { type: 'text' })}
        {...(min === null ? {} : { min })}
        {...(max === null ? {} : { max })}
        class={isNumber ? 'setting-number figure' : 'setting-line'}
        spellcheck={false}
        autocomplete="off"
        value={draft ?? stored}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={async (event) => {
          const next = event.currentTarget.value
          if ((next === stored && !props.invalid) || (await props.save(next))) setDraft(null)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          // Before the field loses the focus, which would save the draft.
          event.currentTarget.value = stored
          setDraft(null)
          props.clearError()
        }}
      />
      {unit === null ? null : <span class="soft small">{unit}</span>}
      {isNumber && min !== null && max !== null ? (
        <span class="setting-range soft figure" title={`From ${min} to ${max}`}>
          {compactCount(min)}–{compactCount(max)}
        </span>
      ) : null}
    </span>
  )
}

/** The page neither gets the stored value nor can change it: a key is set in a terminal. */
function SecretField(props: SettingControlProps) {
  const { value } = props.setting
  return (
    <span class="setting-text row wrap">
      <input
        type="password"
        {...fieldProps(props)}
        class="setting-line"
        disabled
        placeholder={sameSettingValue(value, '') ? 'Not set' : `Set: ${String(value)}`}
      />
    </span>
  )
}

function listItems({ value }: SettingInfo): readonly string[] {
  return Array.isArray(value) ? value : []
}

/** A list of any texts. */
function ListField(props: SettingControlProps) {
  const { setting, save, clearError } = props
  const items = listItems(setting)
  const [draft, setDraft] = useState('')
  const add = async () => {
    const item = draft.trim()
    if (item === '') return
    if (items.includes(item) || (await save([...items, item]))) setDraft('')
  }
  return (
    <div class="setting-list stack">
      {items.length === 0 ? null : (
        <ul class="row wrap">
          {items.map((item) => (
            <li key={item} class="chip removable">
              <span class="mono ellipsis" title={safeLine(item)}>
                {safeLine(item)}
              </span>
              <button
                type="button"
                disabled={setting.locked !== null}
                aria-label={safeLine(`Remove ${item}`)}
                onClick={() => void save(items.filter((one) => one !== item))}
              >
                <Icon name="close" size={11} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="setting-text row wrap"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <input
          type="text"
          {...fieldProps(props)}
          class="setting-line"
          placeholder="Add an item"
          spellcheck={false}
          autocomplete="off"
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            setDraft('')
            clearError()
          }}
        />
        <button type="submit" disabled={draft.trim() === ''}>
          Add
        </button>
      </form>
    </div>
  )
}

/** A list of allowed items. */
function ChoiceListField({ setting, save, invalid }: SettingControlProps) {
  const { name, locked } = setting
  return (
    <fieldset
      class="pills wrap"
      aria-labelledby={`${name}-label`}
      aria-describedby={`${name}-${invalid ? 'error' : 'about'}`}
    >
      <Pills
        choices={listChoices(name) ?? []}
        selected={listItems(setting)}
        disabled={locked !== null}
        onSelect={(items) => void save(items)}
      />
    </fieldset>
  )
}

interface PillsProps<T extends string> {
  choices: readonly T[]
  selected: readonly string[]
  disabled?: boolean
  /** Tooltips. */
  titles?: Readonly<Record<T, string>>
  /** In the order of `choices`. */
  onSelect(items: T[]): void
}

/** Checkboxes for some of a few words. */
export function Pills<T extends string>({ choices, selected, disabled = false, titles, onSelect }: PillsProps<T>) {
  return (
    <>
      {choices.map((choice) => (
        <label key={choice} class="pill" title={titles?.[choice]}>
          <input
            type="checkbox"
            disabled={disabled}
            checked={selected.includes(choice)}
            onChange={(event) => {
              const { checked } = event.currentTarget
              onSelect(choices.filter((one) => (one === choice ? checked : selected.includes(one))))
            }}
          />
          {choice}
        </label>
      ))}
    </>
  )
}
