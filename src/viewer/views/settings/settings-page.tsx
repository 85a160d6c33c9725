/** The settings, grouped and searchable. */
import { useState } from 'preact/hooks'
import { errorMessage } from '../../../lib/errors.ts'
import type { SettingInfo } from '../../../settings/settings.ts'
import { Chip, CodeText, EmptyState, Loaded, Note, Page, Section } from '../../components/basics.tsx'
import { changeSetting, daemonSettings, loadDaemonSettings, settingProblems } from '../../daemon-status.ts'
import { useObservable } from '../../observable.ts'
import { useQuery } from '../../queries.ts'
import { currentRoute, replaceRoute, viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { SettingControl } from './setting-controls.tsx'
import {
  groupSettings,
  listChoices,
  sameSettingValue,
  settingLabel,
  settingMatches,
  settingValueText,
} from './setting-groups.ts'

export function SettingsPage() {
  const { query } = useObservable(currentRoute)
  const loaded = useQuery('settings', loadDaemonSettings)
  const settings = useObservable(daemonSettings)
  const problems = useObservable(settingProblems)
  const find = query.get('find') ?? ''
  const onlySet = query.get('set') === '1'
  const visible = settings.filter((one) => settingMatches(one, find) && (!onlySet || one.source !== 'default'))
  const setFilter = (next: { find?: string; set?: string }) =>
    replaceRoute(viewHref('settings', null, { find, set: onlySet ? '1' : '', ...next }))
  const tools = (
    <search class="row wrap">
      <label class="check">
        <input
          type="checkbox"
          checked={onlySet}
          onChange={(event) => setFilter({ set: event.currentTarget.checked ? '1' : '' })}
        />
        Only changed
      </label>
      <input
        type="search"
        placeholder="Find a setting"
        aria-label="Find a setting"
        value={find}
        onInput={(event) => setFilter({ find: event.currentTarget.value })}
      />
    </search>
  )
  return (
    <Page title="Settings" tools={tools}>
      {problems.map(({ name, message }) => (
        <Note key={`${name} ${message}`} tone="warn" live>
          {safeLine(message)}
        </Note>
      ))}
      <Loaded query={loaded}>
        {() =>
          visible.length > 0 ? (
            groupSettings(visible).map((group) => (
              <Section key={group.name} title={group.name} about={group.about} card>
                <ul class="rows">
                  {group.settings.map((setting) => (
                    <SettingRow key={setting.name} setting={setting} />
                  ))}
                </ul>
              </Section>
            ))
          ) : (
            <EmptyState icon="settings" title={find === '' ? 'All settings have their defaults' : 'No setting matches'}>
              <button type="button" onClick={() => setFilter({ find: '', set: '' })}>
                Show all settings
              </button>
            </EmptyState>
          )
        }
      </Loaded>
    </Page>
  )
}

function SettingRow({ setting }: { setting: SettingInfo }) {
  const { name, source, locked, about, holds } = setting
  const { label } = settingLabel(name)
  const { busy, error, save, clearError } = useSave(name)
  return (
    <li class="setting" data-setting={name} aria-busy={busy}>
      <div>
        <p class="row wrap">
          {listChoices(name) === null ? <label for={name}>{label}</label> : <span id={`${name}-label`}>{label}</span>}
          {source === 'default' ? null : (
            <Chip tone="accent" title={source === 'file' ? 'In settings.json' : 'An environment variable'}>
              {source === 'file' ? 'changed' : 'environment'}
            </Chip>
          )}
        </p>
        <p class="soft small" id={`${name}-about`}>
          <CodeText text={about} />
        </p>
        <p class="row wrap small soft">
          <code>{name}</code>
          {holds === 'now' ? null : <span>takes effect at the next start</span>}
          <DefaultValue setting={setting} reset={() => void save(null)} />
        </p>
      </div>
      <div class="stack">
        <SettingControl setting={setting} save={save} invalid={error !== null} clearError={clearError} />
        {error === null ? null : (
          <p class="bad small" id={`${name}-error`} role="alert">
            {safeLine(error, 600)}
          </p>
        )}
        {locked === null ? null : <p class="soft small">{safeLine(locked)}</p>}
      </div>
    </li>
  )
}

function useSave(name: string) {
  const [error, setError] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const save = async (value: string | readonly string[] | null) => {
    setBusy(true)
    try {
      await changeSetting(name, value)
      setError(null)
      return true
    } catch (failure) {
      setError(errorMessage(failure))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, save, clearError: () => setError(null) }
}

/** Longer defaults are only in the tooltip, in characters. */
const MAX_DEFAULT_CHARS = 28

function DefaultValue({ setting, reset }: { setting: SettingInfo; reset(): void }) {
  const { source, locked, value, default: fallback, secret } = setting
  const full = secret ? 'none' : settingValueText(fallback)
  const short = full.length > MAX_DEFAULT_CHARS ? 'the default' : safeLine(full)
  if (source === 'file' && locked === null) {
    return (
      <button type="button" class="plain small" onClick={reset} title={safeLine(`Reset to the default: ${full}`)}>
        reset to {short}
      </button>
    )
  }
  const text = sameSettingValue(value, fallback) ? 'default' : secret ? '' : `default: ${short}`
  return <span title={safeLine(full)}>{text}</span>
}
