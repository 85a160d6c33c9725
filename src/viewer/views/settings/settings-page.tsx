/** The settings, grouped and searchable, with a preview of the context that the next session gets. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { errorMessage } from '../../../lib/errors.ts'
import type { SettingInfo } from '../../../settings/settings.ts'
import { EmptyState, ErrorNotice, LoadingRows } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { changeSetting, daemonSettings, loadDaemonSettings, settingProblems } from '../../daemon-status.ts'
import { useObservable } from '../../observable.ts'
import { useQuery } from '../../queries.ts'
import { currentRoute, replaceRoute, viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { ContextPreviewPanel, PREVIEW_ID } from './context-preview.tsx'
import { SettingControl } from './setting-controls.tsx'
import {
  groupSettings,
  listChoices,
  sameSettingValue,
  settingLabel,
  settingMatches,
  settingValueText,
} from './setting-groups.ts'
import './settings.css'

export function SettingsPage() {
  const { query } = useObservable(currentRoute)
  const { error, loading, reload } = useQuery('settings', loadDaemonSettings)
  const settings = useObservable(daemonSettings)
  const find = query.get('find') ?? ''
  const onlySet = query.get('set') === '1'
  const visible = settings.filter((one) => settingMatches(one, find) && (!onlySet || one.source !== 'default'))
  const setFilter = (next: { find?: string; set?: string }) =>
    replaceRoute(viewHref('settings', null, { find, set: onlySet ? '1' : '', ...next }))
  return (
    <div class="settings stack">
      <div class="settings-main">
        <div class="view-head row wrap">
          <h1>Settings</h1>
          <button type="button" class="settings-jump" onClick={scrollToPreview}>
            Preview
          </button>
          <label class="check soft">
            <input
              type="checkbox"
              checked={onlySet}
              onChange={(event) => setFilter({ set: event.currentTarget.checked ? '1' : '' })}
            />
            Only changed
          </label>
          <input
            type="search"
            class="settings-find"
            placeholder="Find a setting"
            aria-label="Find a setting"
            value={find}
            onInput={(event) => setFilter({ find: event.currentTarget.value })}
          />
        </div>
        <ErrorNotice text={error} retry={reload} />
        <Problems />
        {settings.length === 0 && loading ? <LoadingRows rows={6} /> : null}
        {settings.length > 0 && visible.length === 0 ? (
          <EmptyState icon="settings" title={find === '' ? 'All settings have their defaults' : 'No setting matches'}>
            <button type="button" onClick={() => setFilter({ find: '', set: '' })}>
              Show all settings
            </button>
          </EmptyState>
        ) : null}
        <Groups settings={visible} />
      </div>
      {settings.length === 0 ? null : <ContextPreviewPanel settings={settings} />}
    </div>
  )
}

/** On narrow screens the preview is below all settings. */
function scrollToPreview(): void {
  document.getElementById(PREVIEW_ID)?.scrollIntoView({ block: 'start' })
}

function Groups({ settings }: { settings: readonly SettingInfo[] }) {
  return (
    <>
      {groupSettings(settings).map((group) => (
        <section key={group.name} class="settings-group" aria-labelledby={`settings-${group.name}`}>
          <h2 id={`settings-${group.name}`}>
            {group.name} <span class="settings-about small soft">{group.about}</span>
          </h2>
          <ul class="card">
            {group.settings.map((setting) => (
              <SettingRow key={setting.name} setting={setting} />
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

/** Invalid values in the settings file or the environment. */
function Problems() {
  const problems = useObservable(settingProblems)
  if (problems.length === 0) return null
  return (
    <div class="note warn bordered" role="status">
      <Icon name="warn" />
      <ul>
        {problems.map(({ name, message }) => (
          <li key={`${name} ${message}`}>{safeLine(message)}</li>
        ))}
      </ul>
    </div>
  )
}

/** Duration of the `arrived` animation, in ms. */
const HIGHLIGHT_MS = 2_400
/** Kinds whose field fits beside the text. */
const SMALL_KINDS = new Set(['boolean', 'choice', 'integer', 'number'])

function SettingRow({ setting }: { setting: SettingInfo }) {
  const { name, source, locked, kind } = setting
  const { label } = settingLabel(name)
  const { state, error, save, clearError } = useSave(name)
  const classes = ['setting stack', SMALL_KINDS.has(kind) ? 'small-field' : '', state === 'saved' ? 'arrived' : '']
  return (
    <li class={classes.join(' ')} data-setting={name} aria-busy={state === 'saving'}>
      <div>
        <p class="setting-label row">
          {listChoices(name) === null ? <label for={name}>{label}</label> : <span id={`${name}-label`}>{label}</span>}
          {source === 'default' ? null : (
            <span class="chip accent" title={source === 'file' ? 'In settings.json' : 'An environment variable'}>
              {source === 'file' ? 'changed' : 'environment'}
            </span>
          )}
        </p>
        <p class="setting-about soft" id={`${name}-about`}>
          <AboutText text={setting.about} />
        </p>
      </div>
      <div class="setting-field stack">
        <SettingControl setting={setting} save={save} invalid={error !== null} clearError={clearError} />
        {error === null ? null : (
          <p class="bad small" id={`${name}-error`} role="alert">
            {safeLine(error, 600)}
          </p>
        )}
        {locked === null ? null : (
          <p class="soft small">
            <Icon name="lock" size={14} /> {safeLine(locked)}
          </p>
        )}
      </div>
      <p class="setting-meta wrap soft">
        <code>{name}</code>
        <span>{setting.holds === 'now' ? 'takes effect immediately' : 'takes effect at the next start'}</span>
        <DefaultValue setting={setting} reset={() => void save(null)} />
      </p>
    </li>
  )
}

function useSave(name: string) {
  const [error, setError] = useState<string | null>(null)
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle')
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const save = async (value: string | readonly string[] | null) => {
    clearTimeout(timer.current)
    setState('saving')
    try {
      await changeSetting(name, value)
      setError(null)
      setState('saved')
      timer.current = setTimeout(() => setState('idle'), HIGHLIGHT_MS)
      return true
    } catch (failure) {
      setError(errorMessage(failure))
      setState('idle')
      return false
    }
  }
  return { state, error, save, clearError: () => setError(null) }
}

/** Longer defaults are only in the tooltip, in characters. */
const MAX_DEFAULT_CHARS = 28

function DefaultValue({ setting, reset }: { setting: SettingInfo; reset(): void }) {
  const { source, locked, value, default: fallback, secret } = setting
  const full = secret ? 'none' : settingValueText(fallback)
  const short = full.length > MAX_DEFAULT_CHARS ? 'the default' : safeLine(full)
  if (source === 'file' && locked === null) {
    return (
      <button type="button" class="setting-reset" onClick={reset} title={safeLine(`Reset to the default: ${full}`)}>
        {secret ? 'remove' : `reset to ${short}`}
      </button>
    )
  }
  const text = sameSettingValue(value, fallback) ? 'default' : secret ? '' : `default: ${short}`
  return <span title={safeLine(full)}>{text}</span>
}

/** Text between backquotes is code. */
function AboutText({ text }: { text: string }) {
  return <>{text.split('`').map((piece, i) => (i % 2 === 1 ? <code key={i}>{piece}</code> : piece))}</>
}
