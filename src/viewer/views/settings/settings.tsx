/** What is set and where it comes from, to be changed; beside it what the next session gets. */
import type { SettingInfo } from '../../../channel/protocol.ts'
import { useCell } from '../../cell.ts'
import { useLoaded } from '../../loaded.ts'
import { settings } from '../../model/status.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Trouble, Waiting } from '../../parts/plain.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { hrefOf, replace, route } from '../../route.ts'
import { loadAll, problems } from './changes.ts'
import { found, inGroups } from './groups.ts'
import { PREVIEW, Preview } from './preview.tsx'
import { SettingRow } from './row.tsx'
import './settings.css'

export function SettingsView() {
  const { query } = useCell(route)
  const { error, loading, reload } = useLoaded('settings', loadAll)
  const all = useCell(settings)
  const find = query.get('find') ?? ''
  const onlySet = query.get('set') === '1'
  const shown = all.filter((setting) => found(setting, find) && (!onlySet || setting.source !== 'default'))
  const look = (next: { find?: string; set?: string }) =>
    replace(hrefOf('settings', null, { find, set: onlySet ? '1' : '', ...next }))
  return (
    <div class="settings">
      <div class="settings-main">
        <div class="view-head settings-head">
          <h1>Settings</h1>
          <button type="button" class="settings-jump" onClick={toPreview}>
            Preview
          </button>
          <label class="settings-only">
            <input
              type="checkbox"
              checked={onlySet}
              onChange={(event) => look({ set: event.currentTarget.checked ? '1' : '' })}
            />
            Only what is set
          </label>
          <input
            type="search"
            class="settings-find"
            placeholder="Find a setting"
            aria-label="Find a setting"
            value={find}
            onInput={(event) => look({ find: event.currentTarget.value })}
          />
        </div>
        {error === null ? null : <Trouble text={error} retry={reload} />}
        <Problems />
        {all.length === 0 && loading ? <Waiting rows={6} /> : null}
        {all.length > 0 && shown.length === 0 ? (
          <NothingFound find={find} reset={() => look({ find: '', set: '' })} />
        ) : null}
        <Groups shown={shown} />
      </div>
      {all.length === 0 ? null : <Preview settings={all} />}
    </div>
  )
}

/** On a narrow page it stands below everything. */
function toPreview(): void {
  document.getElementById(PREVIEW)?.scrollIntoView({ block: 'start' })
}

function Groups({ shown }: { shown: readonly SettingInfo[] }) {
  return inGroups(shown).map(({ name, about, settings: own }) => (
    <section key={name} class="settings-group" aria-labelledby={`settings-${name}`}>
      <h2 id={`settings-${name}`}>
        {name} <span class="settings-about">{about}</span>
      </h2>
      <ul class="card">
        {own.map((setting) => (
          <SettingRow key={setting.name} setting={setting} />
        ))}
      </ul>
    </section>
  ))
}

function Problems() {
  const all = useCell(problems)
  if (all.length === 0) return null
  return (
    <div class="settings-problems" role="status">
      <Icon name="warn" />
      <ul>
        {all.map(({ name, message }) => (
          <li key={`${name} ${message}`}>{safeLine(message)}</li>
        ))}
      </ul>
    </div>
  )
}

function NothingFound({ find, reset }: { find: string; reset(): void }) {
  return (
    <Empty
      icon="settings"
      title={find === '' ? 'Nothing is set: everything is as it comes' : 'No setting is called that'}
    >
      <button type="button" onClick={reset}>
        Show all settings
      </button>
    </Empty>
  )
}
