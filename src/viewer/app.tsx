/** The frame around the views: navigation, connection state, notices, help and toasts. */
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { EmptyState, Note, Pairs } from './components/basics.tsx'
import { Dialog, Toasts } from './components/dialog.tsx'
import { Icon, type IconName } from './components/icon.tsx'
import { accessDenied, connectionState, otherProgramAnswers, staleSince } from './connection.ts'
import { daemonStatus } from './daemon-status.ts'
import { RelativeTime } from './format.tsx'
import { helpVisible, KEY_HELP, VIEWS } from './keyboard.ts'
import { NoticeList } from './notices.tsx'
import { useObservable } from './observable.ts'
import { currentRoute, viewHref } from './route.ts'
import { MemoryPage } from './views/memory/memory-page.tsx'
import { SessionsPage } from './views/session/sessions-page.tsx'
import { SettingsPage } from './views/settings/settings-page.tsx'
import { StartPage } from './views/start/start-page.tsx'
import { TeamPage } from './views/team/team-page.tsx'
import { UsagePage } from './views/usage-page.tsx'

const PAGES: Record<(typeof VIEWS)[number]['view'], { icon: IconName; Page: ComponentType }> = {
  start: { icon: 'start', Page: StartPage },
  memory: { icon: 'memory', Page: MemoryPage },
  session: { icon: 'sessions', Page: SessionsPage },
  usage: { icon: 'usage', Page: UsagePage },
  settings: { icon: 'settings', Page: SettingsPage },
  team: { icon: 'team', Page: TeamPage },
}

export function App() {
  const { view } = useObservable(currentRoute)
  const denied = useObservable(accessDenied)
  const main = useRef<HTMLElement>(null)
  const selected = VIEWS.find((one) => one.view === view) ?? VIEWS[0]
  const { Page } = PAGES[selected.view]
  useEffect(() => {
    document.title = `${selected.name} · claude-mem`
    main.current?.scrollTo(0, 0)
  }, [selected])
  if (denied) return <AccessDenied reason="The daemon no longer accepts this page's access." />
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <nav class="nav" aria-label="Views">
        <a class="brand row" href={viewHref('start')}>
          <img src="icon.svg" alt="" width="26" height="26" />
          <span>claude-mem</span>
        </a>
        <ul>
          {VIEWS.map(({ view: name, name: label, key, about }) => (
            <li key={name}>
              <a
                class="row"
                href={viewHref(name)}
                aria-current={selected.view === name ? 'page' : undefined}
                title={`${about} (${key})`}
              >
                <Icon name={PAGES[name].icon} />
                <span>{label}</span>
              </a>
            </li>
          ))}
        </ul>
        <ConnectionStatus />
      </nav>
      <main id="main" ref={main} tabIndex={-1} class={`view view-${selected.view} stack`}>
        <StaleNotice />
        <NoticeList />
        <Page />
      </main>
      <Toasts />
      <KeyHelp />
    </div>
  )
}

const STATES = {
  connecting: { name: 'Connecting', tone: '' },
  live: { name: 'Live', tone: 'live' },
  stale: { name: 'Stale', tone: 'bad' },
  closed: { name: 'Closed', tone: 'bad' },
} as const

function ConnectionStatus() {
  const state = useObservable(connectionState)
  const status = useObservable(daemonStatus)
  return (
    <div class="health row spread" data-testid="connection" data-state={state}>
      <p class="small">
        <span class={`dot ${STATES[state].tone}`} /> {STATES[state].name}
        {status === null ? null : (
          <span class="health-more soft block">
            {status.model ?? status.provider}
            <br />v{status.version}
          </span>
        )}
      </p>
      <button type="button" class="plain" onClick={() => helpVisible.set(true)} aria-label="Keys" title="Keys (?)">
        <Icon name="help" />
      </button>
    </div>
  )
}

function StaleNotice() {
  const since = useObservable(staleSince)
  const isOther = useObservable(otherProgramAnswers)
  if (isOther) {
    return (
      <Note tone="warn" live>
        Another program answers at this address, not your daemon. The page has sent it nothing and keeps trying. Do not
        reload it; close this tab and run <code>claude-mem viewer</code>.
      </Note>
    )
  }
  if (since === null) return null
  return (
    <Note tone="warn" live>
      The connection to the daemon was lost <RelativeTime at={since} />. The page shows the last known data and
      reconnects automatically. Your next prompt starts the daemon, or run <code>claude-mem start</code>.
    </Note>
  )
}

function KeyHelp() {
  if (!useObservable(helpVisible)) return null
  return (
    <Dialog title="Keys" onClose={() => helpVisible.set(false)}>
      <Pairs rows={KEY_HELP.map(([keys, about]) => [<kbd key={keys}>{keys}</kbd>, about])} />
    </Dialog>
  )
}

export function AccessDenied({ reason }: { reason: string }) {
  return (
    <main class="locked">
      <EmptyState icon="memory" title="This page needs a personal link">
        <p>{reason}</p>
        <p>Your memory is private, so the address alone does not open it. In a terminal, run:</p>
        <pre>
          <code>claude-mem viewer</code>
        </pre>
      </EmptyState>
    </main>
  )
}
