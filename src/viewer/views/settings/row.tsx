/** One setting: what it is for, what it is, where that comes from. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SettingInfo } from '../../../channel/protocol.ts'
import { messageOf } from '../../../errors.ts'
import { Icon } from '../../parts/icon.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { change } from './changes.ts'
import { Control } from './controls.tsx'
import { nameOf, sameValue, valueText, wordsOf } from './groups.ts'

/** As long as the soft flash takes, in ms. */
const FLASH_MS = 2_400

export function SettingRow({ setting }: { setting: SettingInfo }) {
  const { name, source, locked } = setting
  const { label } = nameOf(name)
  const [error, setError] = useState<string | null>(null)
  const [saving, setSaving] = useState(false)
  const [saved, setSaved] = useState(false)
  const flash = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(flash.current), [])

  const save = async (value: string | readonly string[] | null) => {
    setSaving(true)
    try {
      await change(name, value)
      setError(null)
      setSaved(true)
      clearTimeout(flash.current)
      flash.current = setTimeout(() => setSaved(false), FLASH_MS)
      return true
    } catch (failed) {
      setError(messageOf(failed))
      return false
    } finally {
      setSaving(false)
    }
  }

  return (
    <li class={classes(setting, saved)} data-setting={name} aria-busy={saving}>
      <div class="setting-words">
        <p class="setting-label">
          {wordsOf(name) === null ? <label for={name}>{label}</label> : <span id={`${name}-label`}>{label}</span>}
          {source === 'default' ? null : (
            <span class="chip accent" title={source === 'file' ? 'In settings.json' : 'An environment variable'}>
              {source === 'file' ? 'set' : 'environment'}
            </span>
          )}
        </p>
        <p class="setting-about" id={`${name}-about`}>
          <Prose text={setting.about} />
        </p>
      </div>
      <div class="setting-field">
        <Control setting={setting} save={save} wrong={error !== null} forget={() => setError(null)} />
        {error === null ? null : (
          <p class="setting-error" id={`${name}-error`} role="alert">
            {safeLine(error, 600)}
          </p>
        )}
        {locked === null ? null : (
          <p class="setting-locked">
            <Icon name="lock" size={14} /> {safeLine(locked)}
          </p>
        )}
      </div>
      <p class="setting-meta">
        <code>{name}</code>
        <span>{setting.holds === 'now' ? 'holds at once' : 'holds from the next start'}</span>
        <Default setting={setting} reset={() => void save(null)} />
      </p>
    </li>
  )
}

/** A longer one is told to who points at it, in characters. */
const LONGEST_DEFAULT = 28

/** What fits beside its words. */
const SMALL = new Set(['boolean', 'choice', 'integer', 'number'])

function classes({ kind }: SettingInfo, saved: boolean): string {
  return `setting${SMALL.has(kind) ? ' small' : ''}${saved ? ' arrived' : ''}`
}

function Default({ setting, reset }: { setting: SettingInfo; reset(): void }) {
  const { source, locked, value, default: usual, secret } = setting
  const whole = secret ? 'none' : valueText(usual)
  const said = whole.length > LONGEST_DEFAULT ? 'the default' : safeLine(whole)
  if (source !== 'file' || locked !== null) {
    return (
      <span title={safeLine(whole)}>{sameValue(value, usual) ? 'default' : secret ? null : `instead of ${said}`}</span>
    )
  }
  return (
    <button type="button" class="setting-reset" onClick={reset} title={safeLine(`Back to the default: ${whole}`)}>
      {secret ? 'take it out' : `back to ${said}`}
    </button>
  )
}

/** Words between backquotes are code. */
function Prose({ text }: { text: string }) {
  return text.split('`').map((piece, i) => (i % 2 === 1 ? <code key={i}>{piece}</code> : piece))
}
