/** Settings that hold several things. */
import { useState } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { type ControlProps, fieldProps } from './field.ts'
import { wordsOf } from './groups.ts'
import './lists.css'

function itemsOf({ value }: ControlProps['setting']): readonly string[] {
  return Array.isArray(value) ? value : []
}

/** Anything: each item can be taken out, new ones are typed. */
export function ListField(props: ControlProps) {
  const { setting, save, forget } = props
  const items = itemsOf(setting)
  const [draft, setDraft] = useState('')
  const add = async () => {
    const item = draft.trim()
    if (item === '') return
    if (items.includes(item) || (await save([...items, item]))) setDraft('')
  }
  return (
    <div class="setting-list">
      {items.length === 0 ? null : (
        <ul>
          {items.map((item, at) => (
            <li key={item} class="chip">
              <span class="setting-item" title={safeLine(item)}>
                {safeLine(item)}
              </span>
              <button
                type="button"
                class="setting-take"
                disabled={setting.locked !== null}
                aria-label={safeLine(`Take out ${item}`)}
                onClick={() => void save(items.filter((_, i) => i !== at))}
              >
                <Icon name="close" size={11} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="setting-text"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <input
          type="text"
          {...fieldProps(props)}
          class="setting-line"
          placeholder="Add one"
          spellcheck={false}
          autocomplete="off"
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            setDraft('')
            forget()
          }}
        />
        <button type="submit" disabled={draft.trim() === ''}>
          Add
        </button>
      </form>
    </div>
  )
}

/** Some of these words. */
export function SomeField({ setting, save, wrong }: ControlProps) {
  const items = itemsOf(setting)
  const words = wordsOf(setting.name) ?? []
  return (
    <fieldset
      class="pills"
      aria-labelledby={`${setting.name}-label`}
      aria-describedby={wrong ? `${setting.name}-error` : `${setting.name}-about`}
    >
      {words.map((word) => (
        <label key={word} class="pill">
          <input
            type="checkbox"
            disabled={setting.locked !== null}
            checked={items.includes(word)}
            onChange={(event) => {
              const { checked } = event.currentTarget
              void save(words.filter((one) => (one === word ? checked : items.includes(one))))
            }}
          />
          {word}
        </label>
      ))}
    </fieldset>
  )
}
