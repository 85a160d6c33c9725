/** What an observation should have said: a new one that supersedes it. */
import { useState } from 'preact/hooks'
import { MAX_REMEMBERED_CHARS, MAX_TITLE_CHARS } from '../../../channel/memory-limits.ts'
import { ask } from '../../connection.ts'
import { attempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { linesOf, TextField, TypeField, wordsOf } from './fields.tsx'
import type { Observation } from './observation.tsx'

interface CorrectProps {
  observation: Observation
  onClose(): void
  /** The new one. */
  onCorrected(id: number): void
}

export function CorrectDialog({ observation, onClose, onCorrected }: CorrectProps) {
  const { id } = observation
  const old = {
    kind: observation.type,
    title: observation.title ?? '',
    text: observation.narrative ?? '',
    facts: observation.facts.join('\n'),
    concepts: observation.concepts.join(', '),
  }
  const [said, setSaid] = useState(old)
  const [busy, setBusy] = useState(false)
  const set = (change: Partial<typeof old>) => setSaid({ ...said, ...change })
  const isSame = JSON.stringify(said) === JSON.stringify(old)
  const correct = async () => {
    setBusy(true)
    let newer = id
    const done = await attempt(async () => {
      // What was not touched stays as it is, to the letter.
      const { observation: made } = await ask('remembered', {
        type: 'correct',
        observation: id,
        ...(said.kind === old.kind ? {} : { kind: said.kind }),
        ...(said.title === old.title ? {} : { title: said.title }),
        ...(said.text === old.text ? {} : { text: said.text }),
        ...(said.facts === old.facts ? {} : { facts: linesOf(said.facts) }),
        ...(said.concepts === old.concepts ? {} : { concepts: wordsOf(said.concepts) }),
      })
      newer = made
      return `#${made} supersedes #${id} from now on.`
    })
    setBusy(false)
    if (!done) return
    onClose()
    onCorrected(newer)
  }
  return (
    <Dialog
      title={`Correct #${id}`}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={busy || isSame} onClick={() => void correct()}>
            {busy ? 'Writing…' : 'Correct it'}
          </button>
        </>
      }
    >
      <p class="soft memory-lead">
        What you write becomes a new observation that supersedes this one. The old one stays, struck out.
      </p>
      <div class="memory-fields">
        <TypeField value={said.kind} onValue={(kind) => set({ kind })} />
        <TextField label="Title" value={said.title} max={MAX_TITLE_CHARS} onValue={(title) => set({ title })} />
        <TextField
          label="Text"
          rows={7}
          value={said.text}
          max={MAX_REMEMBERED_CHARS}
          onValue={(text) => set({ text })}
        />
        <TextField
          label="Facts"
          hint="one a line"
          rows={4}
          value={said.facts}
          max={MAX_REMEMBERED_CHARS}
          onValue={(facts) => set({ facts })}
        />
        <TextField
          label="Concepts"
          hint="between commas"
          value={said.concepts}
          max={MAX_REMEMBERED_CHARS}
          onValue={(concepts) => set({ concepts })}
        />
      </div>
    </Dialog>
  )
}
