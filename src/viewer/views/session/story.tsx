/** One session from its first prompt to its last summary. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useCell } from '../../cell.ts'
import { CHARTS } from '../../charts.ts'
import { ask, onItems } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { sessions } from '../../model/sessions.ts'
import { ContextSize } from '../../parts/context-size.tsx'
import { Flight } from '../../parts/flight.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Trouble, Waiting } from '../../parts/plain.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { Statechart } from '../../parts/statechart.tsx'
import { hrefOf } from '../../route.ts'
import { count, counted } from '../../times.ts'
import { FailedMessages } from './failed.tsx'
import { StoryHead } from './head.tsx'
import { countShown, filtered, SHOWN, type Shown, type Story, type Told, turnsOf } from './timeline.ts'
import { TurnSection } from './turn.tsx'
import './session.css'

/** Transitions at first: a long working day. All that are kept when somebody asks. */
const TRACE = 600
const ALL_TRACE = 10_000
const ROWS = 1_000
/** Changes in a row are one question, in ms. */
const SETTLE_MS = 350
/** Open from the start: the last turns are what people come for. */
const OPEN_TURNS = 3

export function StoryView({ session, turn }: { session: string; turn: number }) {
  const [trace, setTrace] = useState(TRACE)
  const loaded = useLoaded(`story ${session} ${trace}`, async () => {
    return (await ask('story', { type: 'story', session, trace, rows: ROWS })).story
  })
  const place = useRef<HTMLDivElement>(null)
  useRowKeys(place)
  useReloaded(loaded.data?.row.session ?? session, loaded.reload)
  // While more of the trace is on its way, what is there stays.
  const last = useRef<Story | null>(null)
  if (loaded.data !== null) last.current = loaded.data
  const story = loaded.data ?? last.current
  return (
    <div class="story" ref={place}>
      <p class="story-back">
        <a href={hrefOf('session')}>
          <Icon name="back" /> Sessions
        </a>
      </p>
      {loaded.error === null ? null : <Trouble text={loaded.error} retry={loaded.reload} />}
      {story === null && loaded.error === null ? <Waiting rows={5} /> : null}
      {story === null ? null : (
        <>
          <StoryHead story={story} reload={loaded.reload} />
          <Machine story={story} />
          <FailedMessages story={story} reload={loaded.reload} />
          <Timeline story={story} turn={turn} all={() => setTrace(ALL_TRACE)} isAll={trace === ALL_TRACE} />
        </>
      )}
    </div>
  )
}

/** A commit of this session, or something of it forgotten: asked for anew, soon. */
function useReloaded(session: string, reload: () => void): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onItems((items) => {
      const concerned = items.some((item) => item.type === 'change' || item.session === session)
      if (!concerned || timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        reload()
      }, SETTLE_MS)
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [session, reload])
}

function Machine({ story: { row } }: { story: Story }) {
  const live = useCell(sessions).get(row.session)
  const { waiting, quarantine, status, contextTokens, generation } = live ?? row
  const tone = quarantine !== null ? 'bad' : status !== 'active' ? 'rest' : waiting !== null ? 'warn' : 'live'
  const effect = live === undefined ? row.effect : live.effect
  return (
    <section class="card story-machine" aria-label="State machine">
      <Statechart
        chart={CHARTS.session}
        of={safeLine(row.project.name)}
        size="large"
        tone={tone}
        state={live?.state ?? row.state}
        transitions={live?.transitions ?? []}
        heard={live?.heard ?? 0}
      >
        {quarantine === null ? null : <p class="story-note bad">Cannot be restored: {safe(quarantine, 600)}</p>}
        {waiting === null ? null : <p class="story-note warn">Waiting: {safe(waiting, 600)}</p>}
        {effect === null ? null : <Flight effect={effect} />}
        <ContextSize tokens={contextTokens} generation={generation} />
      </Statechart>
    </section>
  )
}

interface TimelineProps {
  story: Story
  turn: number
  isAll: boolean
  all(): void
}

function Timeline({ story, turn, isAll, all }: TimelineProps) {
  const [shown, setShown] = useState<Shown>('all')
  const isNew = useNewest(story)
  const turns = turnsOf(story)
  const left = turns.flatMap((one) => filtered(one, shown) ?? [])
  const firstOpen = left.length - OPEN_TURNS
  return (
    <section class="story-line" data-testid="story" aria-labelledby="story-title">
      <div class="story-line-head">
        <h2 id="story-title">What happened</h2>
        <fieldset class="story-filter">
          <legend class="unseen">Show</legend>
          {SHOWN.map((name) => (
            <label key={name} class={name === shown ? 'chosen' : ''}>
              <input type="radio" name="story-shown" checked={name === shown} onChange={() => setShown(name)} />
              {name} <span class="figure">{count(countShown(turns, name))}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <Missing story={story} isAll={isAll} all={all} />
      {left.length === 0 ? <p class="soft story-none">Nothing of that kind happened.</p> : null}
      <ol class="story-turns">
        {left.map((one, i) => (
          <TurnSection
            key={`${shown} ${one.number}`}
            turn={one}
            open={one.number === turn || (Number.isNaN(turn) && i >= firstOpen) || shown !== 'all'}
            isTarget={one.number === turn}
            isNew={isNew}
          />
        ))}
      </ol>
    </section>
  )
}

/** Whatever came after the page was opened is new; what is older is not, however late it is asked for. */
function useNewest({ trace, observationRows, summaryRows, calls }: Story): (kind: Told, id: number) => boolean {
  const first = useRef<Record<Told, number> | null>(null)
  first.current ??= {
    trace: newestOf(trace),
    observation: newestOf(observationRows),
    summary: newestOf(summaryRows),
    call: newestOf(calls),
  }
  const known = first.current
  return (kind, id) => id > known[kind]
}

function newestOf(rows: readonly { id: number }[]): number {
  return rows.reduce((newest, { id }) => Math.max(newest, id), 0)
}

/** Nothing is left out in silence. */
function Missing({
  story: { trace, traceDropped, observations, observationRows },
  isAll,
  all,
}: Omit<TimelineProps, 'turn'>) {
  const cut = !isAll && trace.length >= TRACE
  return (
    <>
      {traceDropped === 0 ? null : (
        <p class="story-missing">
          {count(traceDropped)} older {traceDropped === 1 ? 'transition was' : 'transitions were'} removed.
        </p>
      )}
      {cut ? (
        <p class="story-missing">
          The last {count(trace.length)} transitions are shown.{' '}
          <button type="button" class="plain" onClick={all}>
            Show all that are kept
          </button>
        </p>
      ) : null}
      {observations > observationRows.length ? (
        <p class="story-missing">
          The last {count(observationRows.length)} of {counted(observations, 'observation')} are shown.
        </p>
      ) : null}
    </>
  )
}
