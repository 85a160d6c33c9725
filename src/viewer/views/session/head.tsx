/** Who and where a session is, what it cost, and how it is ended or taken up again. */
import { useState } from 'preact/hooks'
import { ask } from '../../connection.ts'
import { attempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { Ago } from '../../parts/time.tsx'
import { count, counted, duration, money, short } from '../../times.ts'
import { StatusChip } from './row.tsx'
import type { Story } from './timeline.ts'

interface HeadProps {
  story: Story
  reload(): void
}

export function StoryHead({ story, reload }: HeadProps) {
  const { row } = story
  return (
    <header class="story-head">
      <div class="story-name">
        <h1>{safeLine(row.project.name)}</h1>
        <StatusChip line={row} />
        <Ending story={story} reload={reload} />
      </div>
      <p class="soft story-where">
        <span class="mono">{safeLine(row.session)}</span>
        <span>
          {safeLine(row.client)} in <span class="mono">{safeLine(row.cwd)}</span>
        </span>
        <span>
          began <Ago at={row.createdAt} />, last heard of <Ago at={row.heardAt} />
        </span>
      </p>
      <Totals story={story} />
    </header>
  )
}

function Totals({ story: { row, observations, summaries, calls, outcomes } }: { story: Story }) {
  const { input, output, cacheRead, cacheWrite } = row.usage
  const tokens = input + output + cacheRead + cacheWrite
  const priced = calls.flatMap(({ cost }) => cost ?? [])
  const reported = outcomes.reduce((sum, { count: some }) => sum + some, 0)
  return (
    <dl class="story-totals">
      <Total name={row.prompts === 1 ? 'prompt' : 'prompts'} value={count(row.prompts)} about="What its user wrote" />
      <Total
        name={reported === 1 ? 'event' : 'events'}
        value={count(reported)}
        about={outcomes.map(toldOutcome).join('\n')}
      />
      <Total
        name={observations === 1 ? 'observation' : 'observations'}
        value={count(observations)}
        about="What was learned"
      />
      <Total
        name={summaries === 1 ? 'summary' : 'summaries'}
        value={count(summaries)}
        about="One for each turn that was worth it"
      />
      <Total
        name={calls.length === 1 ? 'call' : 'calls'}
        value={count(calls.length)}
        about={`Calls to a model, ${duration(calls.reduce((sum, call) => sum + call.durationMs, 0))} together`}
      />
      <Total
        name="tokens"
        value={short(tokens)}
        about={`${count(input)} in, ${count(output)} out, ${count(cacheRead)} read from the cache, ${count(cacheWrite)} written to it`}
      />
      <Total
        name="cost"
        value={priced.length === 0 && calls.length > 0 ? 'unknown' : money(priced.reduce((sum, cost) => sum + cost, 0))}
        about={`US dollars, of ${counted(priced.length, 'call')} whose price is known`}
      />
    </dl>
  )
}

function toldOutcome({ kind, outcome, count: some }: Story['outcomes'][number]): string {
  return `${count(some)} ${kind.replaceAll('_', ' ')}: ${outcome ?? 'waits'}`
}

function Total({ name, value, about }: { name: string; value: string; about: string }) {
  return (
    <div title={about}>
      <dd class="figure">{value}</dd>
      <dt>{name}</dt>
    </div>
  )
}

/** Closing asks first: the last turn is flushed and summarised at once. */
function Ending({ story: { row }, reload }: HeadProps) {
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const send = async (type: 'close_session' | 'reopen_session') => {
    setBusy(true)
    await attempt(async () => {
      const { view } = await ask('session', { type, session: row.session })
      reload()
      return type === 'reopen_session' ? 'The session is open again.' : toldClosed(view.row.status)
    })
    setBusy(false)
    setAsking(false)
  }
  if (row.quarantine !== null) return null
  if (row.status !== 'active') {
    return (
      <button type="button" disabled={busy} onClick={() => void send('reopen_session')}>
        Reopen
      </button>
    )
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => setAsking(true)}>
        Close session
      </button>
      {asking ? (
        <Dialog
          title="Close this session?"
          onClose={() => setAsking(false)}
          actions={
            <>
              <button type="button" onClick={() => setAsking(false)}>
                Keep it open
              </button>
              <button type="button" class="primary" disabled={busy} onClick={() => void send('close_session')}>
                Close session
              </button>
            </>
          }
        >
          <p>
            What waits is observed and summarised, then the session is over. Everything is kept, and its next prompt, or
            Reopen, takes it up again.
          </p>
        </Dialog>
      ) : null}
    </>
  )
}

/** The daemon waits for what is under way, but not for long. */
function toldClosed(status: Story['row']['status']): string {
  return status === 'active' ? 'It is closed as soon as what waits is done.' : 'The session is closed.'
}
