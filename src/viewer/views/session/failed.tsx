/** Messages that were set aside: why, and what to do with them. */
import { useState } from 'preact/hooks'
import { ask } from '../../connection.ts'
import { attempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { Ago } from '../../parts/time.tsx'
import { counted } from '../../times.ts'
import type { Story } from './timeline.ts'

/** The rest is told as a number. */
const SHOWN = 20
/** In characters. */
const LONGEST_ERROR = 500

export function FailedMessages({ story: { row, messages }, reload }: { story: Story; reload(): void }) {
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const failed = messages.filter(({ status }) => status === 'failed')
  const revives = row.quarantine !== null
  if (failed.length === 0 && !revives) return null
  const send = async (what: 'retry' | 'drop') => {
    setBusy(true)
    await attempt(async () => {
      const { affected } = await ask(
        'done',
        what === 'retry'
          ? { type: 'queue_retry', session: row.session }
          : { type: 'queue_clear', session: row.session, pending: false },
      )
      reload()
      if (revives && what === 'retry') return 'The session is at work again.'
      return `${counted(affected, 'message')} ${what === 'retry' ? 'tried again' : 'dropped'}.`
    })
    setBusy(false)
    setAsking(false)
  }
  return (
    <section class="card story-failed" aria-labelledby="story-failed">
      <div class="story-failed-head">
        <h2 id="story-failed">
          {revives ? 'This session cannot be restored' : `${counted(failed.length, 'message')} set aside`}
        </h2>
        <button type="button" class="primary" disabled={busy} onClick={() => void send('retry')}>
          {revives ? 'Revive it' : 'Retry'}
        </button>
        {failed.length === 0 ? null : (
          <button type="button" class="danger" disabled={busy} onClick={() => setAsking(true)}>
            Drop
          </button>
        )}
      </div>
      {revives ? (
        <p class="soft">
          What it wrote down of its own state cannot be read. Revived, it goes on with what it has kept.
        </p>
      ) : null}
      <ul>
        {failed.slice(0, SHOWN).map((message) => (
          <li key={message.id}>
            <p>
              <b>{safeLine(message.tool ?? message.kind.replaceAll('_', ' '))}</b>{' '}
              <span class="soft">
                of turn {message.prompt}, {counted(message.attempts, 'attempt')}, <Ago at={message.createdAt} />
              </span>
            </p>
            <p class="story-error">{safe(message.error ?? 'no reason is known', LONGEST_ERROR)}</p>
          </li>
        ))}
      </ul>
      {failed.length > SHOWN ? <p class="soft">and {failed.length - SHOWN} more</p> : null}
      {asking ? (
        <Dialog
          title={`Drop ${counted(failed.length, 'message')}?`}
          onClose={() => setAsking(false)}
          actions={
            <>
              <button type="button" onClick={() => setAsking(false)}>
                Keep
              </button>
              <button type="button" class="danger" disabled={busy} onClick={() => void send('drop')}>
                Drop
              </button>
            </>
          }
        >
          <p>They are never observed: what they tell does not get into the memory. This cannot be taken back.</p>
        </Dialog>
      ) : null}
    </section>
  )
}
