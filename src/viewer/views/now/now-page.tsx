/** The view of active sessions: notices, figures of today, and a card for each session. */
import { useRef } from 'preact/hooks'
import { EmptyState, LoadingRows } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { SessionRowItem } from '../../components/session-status.tsx'
import { daemonStatus } from '../../daemon-status.ts'
import { countOf, RelativeTime, useNow } from '../../format.tsx'
import { type LiveSession, liveSessions, liveSessionsLoaded } from '../../live-sessions.ts'
import { Observable, useObservable } from '../../observable.ts'
import { useOperation } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { safeText } from '../../safe-text.ts'
import { useRowKeys } from '../../shortcuts.ts'
import { type CardSize, SessionCard } from './session-card.tsx'
import { TodayStrip } from './today-strip.tsx'
import './now.css'

/** An ended session stays visible for this time, in ms. */
const ENDED_VISIBLE_MS = 60_000
/** Ended sessions visible at the same time. */
const MAX_ENDED = 6
/** A session without activity for this time gets a row instead of a card, in ms. */
const IDLE_MS = 30 * 60_000
/** From this number on the cards are smaller, so that all fit on the page. */
const DENSE_FROM = 7
const MAX_RECENT = 8

export function NowPage() {
  const sessions = useObservable(liveSessions)
  const loaded = useObservable(liveSessionsLoaded)
  const now = useNow()
  const view = useRef<HTMLDivElement>(null)
  useRowKeys(view)
  const visible = visibleSessions([...sessions.values()], now).sort(byStart)
  const active = visible.filter((session) => !isIdle(session, now))
  const idle = visible.filter((session) => isIdle(session, now))
  const size = cardSize(active.length)
  return (
    <div class="now stack" ref={view}>
      <div class="view-head row wrap">
        <h1>Now</h1>
        <p class="soft" data-testid="live-count">
          {countOf(active.length, 'active session')}
          {idle.length === 0 ? '' : `, ${idle.length} idle`}
        </p>
      </div>
      <NoticeList />
      <TodayStrip />
      {loaded ? null : <LoadingRows />}
      {loaded && visible.length === 0 ? <NoSessions /> : null}
      {active.length === 0 ? null : (
        <section class={`now-cards ${size}`} aria-label="Active sessions">
          {active.map((session) => (
            <SessionCard key={session.session} session={session} size={size} />
          ))}
        </section>
      )}
      {idle.length === 0 ? null : (
        <section aria-labelledby="now-quiet">
          <h2 id="now-quiet" class="now-title row">
            Idle sessions
          </h2>
          <ul class="session-rows box">
            {idle.map((row) => (
              <SessionRowItem key={row.session} row={row} />
            ))}
          </ul>
        </section>
      )}
      {loaded && active.length === 0 ? <RecentSessions without={idle} /> : null}
    </div>
  )
}

function NoSessions() {
  return (
    <EmptyState icon="now" title="No active sessions">
      <p>Write a prompt in Claude Code, in any project. Its session and its new memories appear here automatically.</p>
      <p>
        Nothing appears? <code>claude-mem doctor</code> checks whether the hooks are installed.
      </p>
    </EmptyState>
  )
}

function RecentSessions({ without }: { without: readonly LiveSession[] }) {
  const { data } = useOperation('sessions', { limit: MAX_RECENT })
  const rows = (data?.sessions ?? []).filter(({ session }) => !without.some((one) => one.session === session))
  if (rows.length === 0) return null
  return (
    <section aria-labelledby="now-recent">
      <h2 id="now-recent" class="now-title row">
        Most recent sessions <a href={viewHref('session')}>all sessions</a>
      </h2>
      <ul class="session-rows box">
        {rows.map((row) => (
          <SessionRowItem key={row.session} row={row} />
        ))}
      </ul>
    </section>
  )
}

/** `sessions`: the most recently updated first. */
function visibleSessions(sessions: readonly LiveSession[], now: number): LiveSession[] {
  const isRecent = ({ quarantine, updatedAt }: LiveSession) => quarantine === null && now - updatedAt < ENDED_VISIBLE_MS
  const ended = sessions.filter((session) => session.status !== 'active' && isRecent(session)).slice(0, MAX_ENDED)
  return [...sessions.filter(({ status }) => status === 'active'), ...ended]
}

function isIdle({ effect, pending, waiting, updatedAt }: LiveSession, now: number): boolean {
  return effect === null && pending === 0 && waiting === null && now - updatedAt > IDLE_MS
}

/** A stable order: cards must not move when sessions are updated. */
function byStart(a: LiveSession, b: LiveSession): number {
  return b.createdAt - a.createdAt || (a.session < b.session ? -1 : 1)
}

function cardSize(count: number): CardSize {
  if (count === 1) return 'large'
  return count < DENSE_FROM ? 'usual' : 'dense'
}

/** Key in `sessionStorage`. A repeated notice has another time and is shown again. */
const READ_NOTICES_KEY = 'claude-mem-read-notices'
const readNotices = new Observable<ReadonlySet<string>>(loadReadNotices())
const MAX_NOTICES = 3
const MAX_NOTICE_CHARS = 600

const NOTICE_TONES = { info: '', warn: 'warn', error: 'bad' } as const

interface NoticeFields {
  at: number
  text: string
}

/** Notices of the daemon, newest first, until they are dismissed. */
function NoticeList() {
  const read = useObservable(readNotices)
  const unread = (useObservable(daemonStatus)?.notices ?? []).filter((one) => !read.has(noticeKey(one))).reverse()
  if (unread.length === 0) return null
  return (
    <section aria-label="Notices">
      <ul class="now-notices stack">
        {unread.slice(0, MAX_NOTICES).map((notice) => (
          <li key={noticeKey(notice)} class={`now-notice box row ${NOTICE_TONES[notice.level]}`}>
            <Icon name={notice.level === 'info' ? 'help' : 'warn'} />
            <p class="grow">
              {safeText(notice.text, MAX_NOTICE_CHARS)}{' '}
              <span class="soft">
                <RelativeTime at={notice.at} />
              </span>
            </p>
            <button type="button" class="plain" aria-label="Dismiss" title="Dismiss" onClick={() => dismiss([notice])}>
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {unread.length > MAX_NOTICES ? (
        <button type="button" class="plain" onClick={() => dismiss(unread)}>
          Dismiss all {unread.length}
        </button>
      ) : null}
    </section>
  )
}

function noticeKey({ at, text }: NoticeFields): string {
  return `${at} ${text.slice(0, 40)}`
}

function dismiss(notices: readonly NoticeFields[]): void {
  readNotices.set(new Set([...readNotices.value, ...notices.map(noticeKey)]))
  sessionStorage.setItem(READ_NOTICES_KEY, JSON.stringify([...readNotices.value]))
}

function loadReadNotices(): ReadonlySet<string> {
  try {
    const keys: unknown = JSON.parse(sessionStorage.getItem(READ_NOTICES_KEY) ?? '[]')
    return new Set(Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [])
  } catch {
    // The stored value is not JSON.
    return new Set()
  }
}
