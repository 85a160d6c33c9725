/** The page around the views: where one can go, whether the daemon is heard, what just happened. */
import { useEffect, useRef } from 'preact/hooks'
import { useCell } from './cell.ts'
import { connectionState, locked, staleSince } from './connection.ts'
import { helpShown, KEYS, VIEWS } from './keys.ts'
import { status } from './model/status.ts'
import { Dialog } from './parts/dialog.tsx'
import { Icon, type IconName } from './parts/icon.tsx'
import { Empty } from './parts/plain.tsx'
import { Ago } from './parts/time.tsx'
import { Toasts } from './parts/toast.tsx'
import { hrefOf, route } from './route.ts'
import { MemoryView } from './views/memory/memory.tsx'
import { NowView } from './views/now/now.tsx'
import { SessionsView } from './views/session/sessions.tsx'
import { SettingsView } from './views/settings/settings.tsx'
import { UsageView } from './views/usage/usage.tsx'

const ICONS: Record<(typeof VIEWS)[number]['view'], IconName> = {
  now: 'now',
  memory: 'memory',
  session: 'sessions',
  usage: 'usage',
  settings: 'settings',
}

export function App() {
  const { view } = useCell(route)
  const shut = useCell(locked)
  const main = useRef<HTMLElement>(null)
  const chosen = VIEWS.find((one) => one.view === view) ?? VIEWS[0]
  // Another view begins at its top.
  useEffect(() => {
    document.title = `${chosen.name} · claude-mem`
    main.current?.scrollTo(0, 0)
  }, [chosen])
  if (shut) return <Locked why="The daemon does not know this page any more." />
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <nav class="nav" aria-label="Views">
        <a class="brand" href={hrefOf('now')}>
          <img src="icon.svg" alt="" width="26" height="26" />
          <span>claude-mem</span>
        </a>
        <ul>
          {VIEWS.map(({ view: name, name: label, key, about }) => (
            <li key={name}>
              <a
                href={hrefOf(name)}
                aria-current={chosen.view === name ? 'page' : undefined}
                title={`${about} (${key})`}
              >
                <Icon name={ICONS[name]} />
                <span>{label}</span>
              </a>
            </li>
          ))}
        </ul>
        <Health />
      </nav>
      <main id="main" ref={main} tabIndex={-1} class={`view view-${chosen.view}`}>
        <StaleNote />
        {chosen.view === 'now' ? <NowView /> : null}
        {chosen.view === 'memory' ? <MemoryView /> : null}
        {chosen.view === 'session' ? <SessionsView /> : null}
        {chosen.view === 'usage' ? <UsageView /> : null}
        {chosen.view === 'settings' ? <SettingsView /> : null}
      </main>
      <Toasts />
      <Help />
    </div>
  )
}

const SAID = { connecting: 'Connecting', live: 'Live', stale: 'Stale', closed: 'Closed' } as const

/** The foot of the navigation: is the daemon heard, and what is it doing? */
function Health() {
  const state = useCell(connectionState)
  const daemon = useCell(status)
  return (
    <div class={`health ${state}`} data-testid="connection" data-state={state}>
      <p class="health-state">
        <span class="dot" />
        {SAID[state]}
      </p>
      {daemon === null ? null : (
        <p class="health-more">
          {daemon.model ?? daemon.provider}
          <br />v{daemon.version}
        </p>
      )}
      <button type="button" class="plain" onClick={() => helpShown.set(true)} aria-label="Keys" title="Keys (?)">
        <Icon name="help" />
      </button>
    </div>
  )
}

function StaleNote() {
  const since = useCell(staleSince)
  if (since === null) return null
  return (
    <div class="stale-note" role="status">
      <Icon name="warn" />
      <p>
        The daemon went quiet <Ago at={since} />. What you see is from before; the page goes on by itself when it is
        back. A hook starts it with your next prompt, or <code>claude-mem start</code> does.
      </p>
    </div>
  )
}

function Help() {
  if (!useCell(helpShown)) return null
  return (
    <Dialog title="Keys" onClose={() => helpShown.set(false)}>
      <dl class="keys">
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              {key.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

export function Locked({ why }: { why: string }) {
  return (
    <main class="locked">
      <Empty icon="memory" title="This page opens with a link of its own">
        <p>{why}</p>
        <p>Your memory is yours alone, so nothing is shown to whoever finds the address. In a terminal, run:</p>
        <pre>
          <code>claude-mem viewer</code>
        </pre>
      </Empty>
    </main>
  )
}
