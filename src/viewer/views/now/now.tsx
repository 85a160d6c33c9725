/** Every session at work, with its machine, as it changes. */
import { useRef } from 'preact/hooks'
import { useCell } from '../../cell.ts'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { type LiveSession, sessions, sessionsLoaded } from '../../model/sessions.ts'
import { Empty, Waiting } from '../../parts/plain.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { useNow } from '../../parts/time.tsx'
import { hrefOf } from '../../route.ts'
import { lineOf, SessionRow } from '../session/row.tsx'
import { type CardSize, SessionCard } from './card.tsx'
import { Notices } from './notices.tsx'
import { Strip } from './strip.tsx'
import './now.css'

/** A session that ended is still seen as it ends, in ms. */
const LINGERS_MS = 60_000
/** Of those that ended, at most so many: where sessions come and go by the second, those at work matter. */
const LINGERING = 6
/** Without a word for so long a session takes a line instead of a card, in ms. */
const QUIET_MS = 30 * 60_000
/** From here on cards say less, so that all of them can be seen. */
const MANY = 7
const RECENT = 8

export function NowView() {
  const all = useCell(sessions)
  const loaded = useCell(sessionsLoaded)
  const now = useNow()
  const view = useRef<HTMLDivElement>(null)
  useRowKeys(view)
  const live = shownOf([...all.values()], now).sort(byBeginning)
  const atWork = live.filter((session) => !isQuiet(session, now))
  const quiet = live.filter((session) => isQuiet(session, now))
  return (
    <div class="now" ref={view}>
      <div class="view-head">
        <h1>Now</h1>
        <p class="soft" data-testid="live-count">
          {told(atWork.length, quiet.length)}
        </p>
      </div>
      <Notices />
      <Strip />
      {!loaded ? <Waiting /> : null}
      {loaded && live.length === 0 ? <Nobody /> : null}
      {atWork.length === 0 ? null : (
        <section class={`now-cards ${sizeFor(atWork.length)}`} aria-label="Sessions at work">
          {atWork.map((session) => (
            <SessionCard key={session.id} session={session} size={sizeFor(atWork.length)} />
          ))}
        </section>
      )}
      {quiet.length === 0 ? null : (
        <section aria-labelledby="now-quiet">
          <h2 id="now-quiet" class="now-title">
            Open, without a word for a while
          </h2>
          <ul class="session-rows">
            {quiet.map((session) => (
              <SessionRow key={session.id} line={lineOf(session)} />
            ))}
          </ul>
        </section>
      )}
      {loaded && atWork.length === 0 ? <Recent without={quiet} /> : null}
    </div>
  )
}

function Nobody() {
  return (
    <Empty icon="now" title="Nobody is at work">
      <p>
        Write a prompt in Claude Code, in any project: its session appears here by itself, and what it does is turned
        into memory before your eyes.
      </p>
      <p>
        Nothing comes? <code>claude-mem doctor</code> says whether the hooks are installed.
      </p>
    </Empty>
  )
}

function Recent({ without }: { without: readonly LiveSession[] }) {
  const recent = useLoaded('recent sessions', async () => {
    return (await ask('sessions', { type: 'sessions', filter: { limit: RECENT } })).sessions
  })
  const lines = (recent.data ?? []).filter(({ session }) => !without.some(({ id }) => id === session))
  if (lines.length === 0) return null
  return (
    <section aria-labelledby="now-recent">
      <h2 id="now-recent" class="now-title">
        Most recent sessions <a href={hrefOf('session')}>all of them</a>
      </h2>
      <ul class="session-rows">
        {lines.map((line) => (
          <SessionRow key={line.session} line={line} />
        ))}
      </ul>
    </section>
  )
}

/** `all`: the one that was last heard of first. */
function shownOf(all: readonly LiveSession[], now: number): LiveSession[] {
  const shown = all.filter((session) => isShown(session, now))
  const lingering = new Set(shown.filter(({ status }) => status !== 'active').slice(0, LINGERING))
  return shown.filter((session) => session.status === 'active' || lingering.has(session))
}

function isShown({ status, updatedAt, quarantine }: LiveSession, now: number): boolean {
  return status === 'active' || (quarantine === null && now - updatedAt < LINGERS_MS)
}

function isQuiet({ effect, pending, waiting, updatedAt }: LiveSession, now: number): boolean {
  return effect === null && pending === 0 && waiting === null && now - updatedAt > QUIET_MS
}

/** Cards stay where they are, whoever speaks. */
function byBeginning(a: LiveSession, b: LiveSession): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)
}

function sizeFor(count: number): CardSize {
  if (count === 1) return 'large'
  return count < MANY ? 'usual' : 'dense'
}

function told(atWork: number, quiet: number): string {
  const some = atWork === 1 ? '1 session at work' : `${atWork} sessions at work`
  return quiet === 0 ? some : `${some}, ${quiet} quiet`
}
