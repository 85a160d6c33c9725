/** Forgetting, after it was said what goes. */
import { useState } from 'preact/hooks'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { attempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Trouble, Waiting } from '../../parts/plain.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { exactTime } from '../../times.ts'
import type { Observation } from './observation.tsx'

export function ForgetDialog({ observation, onClose }: { observation: Observation; onClose(): void }) {
  const [busy, setBusy] = useState(false)
  const { id, title } = observation
  const { data, error, reload } = useLoaded(
    `forget ${id}`,
    async () => (await ask('forgotten', { type: 'forget', ids: [id], confirm: false })).report,
  )
  const forget = async () => {
    setBusy(true)
    const done = await attempt(async () => {
      const { report } = await ask('forgotten', { type: 'forget', ids: [id], confirm: true })
      if (report.observations === 0) return `#${id} was gone already.`
      return report.backupsUntil === null
        ? `#${id} is forgotten.`
        : `#${id} is forgotten. Backups hold it until ${exactTime(report.backupsUntil)}.`
    })
    setBusy(false)
    if (done) onClose()
  }
  return (
    <Dialog
      title="Forget this?"
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="button" class="danger" disabled={busy || data === null} onClick={() => void forget()}>
            {busy ? 'Forgetting…' : 'Forget for good'}
          </button>
        </>
      }
    >
      <p class="memory-quote" dir="auto">
        #{id} {safeLine(title ?? '(no title)')}
      </p>
      {error === null ? null : <Trouble text={error} retry={reload} />}
      {data === null && error === null ? <Waiting rows={1} /> : null}
      {data === null ? null : (
        <ul class="memory-goes">
          <li>The observation, with its facts, its links and what it was made from, cannot be brought back.</li>
          <li>Its words and vectors leave the index; sessions no longer start with it.</li>
          {data.summaries + data.prompts === 0 ? null : (
            <li>
              {data.summaries} summaries and {data.prompts} prompts go with it.
            </li>
          )}
          <li>
            {data.backupsUntil === null
              ? 'No backup holds it.'
              : `Backups that were made before hold it until ${exactTime(data.backupsUntil)}.`}
          </li>
        </ul>
      )}
    </Dialog>
  )
}
