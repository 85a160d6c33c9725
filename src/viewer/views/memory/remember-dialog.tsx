/** Something that people know and no tool use will ever say. */
import { useState } from 'preact/hooks'
import { MAX_REMEMBERED_CHARS, MAX_TITLE_CHARS } from '../../../channel/memory-limits.ts'
import type { ObservationType } from '../../../memory/observation.ts'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { attempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { linesOf, TextField, TypeField, wordsOf } from './fields.tsx'

interface RememberProps {
  /** The one that the list shows; empty: all of them. */
  project: string
  onClose(): void
  onRemembered(id: number): void
}

export function RememberDialog({ project, onClose, onRemembered }: RememberProps) {
  const { data } = useLoaded('projects', async () => (await ask('projects', { type: 'projects' })).projects)
  const projects = data ?? []
  const [key, setKey] = useState(project)
  const chosen = projects.find((one) => one.key === key) ?? projects[0]
  const [kind, setKind] = useState<ObservationType>('decision')
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const [concepts, setConcepts] = useState('')
  const [files, setFiles] = useState('')
  const [busy, setBusy] = useState(false)
  const remember = async () => {
    if (chosen === undefined) return
    setBusy(true)
    let made = 0
    const done = await attempt(async () => {
      const { observation } = await ask('remembered', {
        type: 'remember',
        project: { key: chosen.key, name: chosen.name },
        cwd: chosen.place ?? '',
        title: title.trim() === '' ? null : title,
        text,
        kind,
        concepts: wordsOf(concepts),
        files: linesOf(files),
      })
      made = observation
      return `Remembered as #${observation}.`
    })
    setBusy(false)
    if (!done) return
    onClose()
    onRemembered(made)
  }
  return (
    <Dialog
      title="Remember something"
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            class="primary"
            disabled={busy || text.trim() === '' || chosen === undefined}
            onClick={() => void remember()}
          >
            {busy ? 'Writing…' : 'Remember it'}
          </button>
        </>
      }
    >
      {data !== null && projects.length === 0 ? (
        <p class="soft memory-lead">
          There is no project yet: one appears with its first session. In a terminal, <code>claude-mem remember</code>{' '}
          takes the one it stands in.
        </p>
      ) : null}
      <div class="memory-fields">
        <label class="memory-field">
          <span>Project</span>
          <select value={chosen?.key ?? ''} onChange={(event) => setKey(event.currentTarget.value)}>
            {projects.map((one) => (
              <option key={one.key} value={one.key}>
                {safeLine(one.name, 60)}
              </option>
            ))}
          </select>
        </label>
        <TypeField value={kind} onValue={setKind} />
        <TextField
          label="Text"
          hint="what should be known"
          rows={6}
          value={text}
          max={MAX_REMEMBERED_CHARS}
          onValue={setText}
        />
        <TextField label="Title" hint="else its first words" value={title} max={MAX_TITLE_CHARS} onValue={setTitle} />
        <TextField label="Concepts" hint="between commas" value={concepts} max={2_000} onValue={setConcepts} />
        <TextField label="Files" hint="one a line" rows={2} value={files} max={10_000} onValue={setFiles} />
      </div>
    </Dialog>
  )
}
