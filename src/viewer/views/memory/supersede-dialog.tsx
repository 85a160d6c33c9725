/** Which newer observation replaces this one: found by a text or by its number. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { NO_FILTERS } from '../../../search/query.ts'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { attempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { KindMark } from '../../parts/icon.tsx'
import { Trouble } from '../../parts/plain.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { clockTime, shortDayOf } from '../../times.ts'
import type { Observation } from './observation.tsx'

/** As in the search field, in ms. */
const TYPING_MS = 120
const OFFERED = 8

interface Offered {
  id: number
  type: Observation['type'] | null
  title: string
  createdAt: number
}

export function SupersedeDialog({ observation, onClose }: { observation: Observation; onClose(): void }) {
  const { id, title, project } = observation
  const [typed, setTyped] = useState('')
  const text = useSettled(typed, TYPING_MS)
  const [chosen, setChosen] = useState<number | null>(null)
  const [busy, setBusy] = useState(false)
  const { data, error, reload } = useLoaded(`supersede ${project} ${text}`, () => offeredFor(text.trim(), project))
  // What was found for the text before stays until the next answer.
  const shown = useRef<readonly Offered[]>([])
  if (data !== null) shown.current = data.filter((one) => one.id !== id)
  const mark = async () => {
    if (chosen === null) return
    setBusy(true)
    const done = await attempt(async () => {
      await ask('linked', { type: 'link', from: chosen, to: id, kind: 'supersedes', on: true })
      return `#${id} is superseded by #${chosen}.`
    })
    setBusy(false)
    if (done) onClose()
  }
  return (
    <Dialog
      title={`What supersedes #${id}?`}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={busy || chosen === null} onClick={() => void mark()}>
            {chosen === null ? 'Choose one' : `#${chosen} supersedes it`}
          </button>
        </>
      }
    >
      <p class="memory-quote" dir="auto">
        #{id} {safeLine(title ?? '(no title)')}
      </p>
      <label class="memory-field">
        <span>
          The newer one <span class="soft">of the same project, by words or number</span>
        </span>
        <input
          type="search"
          value={typed}
          placeholder="words, or #12"
          maxLength={500}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      {error === null ? null : <Trouble text={error} retry={reload} />}
      <fieldset class="memory-offered">
        <legend class="unseen">Observations</legend>
        {shown.current.map((one) => (
          <label key={one.id} class={one.id === chosen ? 'chosen' : ''}>
            <input type="radio" name="newer" checked={one.id === chosen} onChange={() => setChosen(one.id)} />
            {one.type === null ? null : <KindMark kind={one.type} />}
            <span dir="auto">
              {safeLine(one.title)} <span class="figure soft">#{one.id}</span>
            </span>
            <span class="figure soft">
              {shortDayOf(one.createdAt)} {clockTime(one.createdAt)}
            </span>
          </label>
        ))}
        {data !== null && shown.current.length === 0 ? (
          <p class="soft">No other observation is found by that.</p>
        ) : null}
      </fieldset>
    </Dialog>
  )
}

async function offeredFor(text: string, project: string): Promise<Offered[]> {
  const number = /^#?(\d{1,15})$/.exec(text)?.[1]
  if (number !== undefined && Number(number) > 0) {
    const { observations } = await ask('observations', { type: 'observations', ids: [Number(number)] })
    return observations
      .filter((one) => one.project === project)
      .map(({ id, type, title, createdAt }) => ({ id, type, title: title ?? '(no title)', createdAt }))
  }
  const filters = { ...NO_FILTERS, project }
  const request = { query: text, mode: 'auto', filters, limit: OFFERED, offset: 0 } as const
  return (await ask('found', { type: 'search', request })).answer.hits
}

function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
