/** Dialogs that change memories: remember, correct, supersede, forget. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { MAX_REMEMBERED_CHARS, MAX_TITLE_CHARS } from '../../../api/schemas.ts'
import { OBSERVATION_TYPES, type ObservationType } from '../../../domain/observation.ts'
import type { SearchHit } from '../../../domain/search-query.ts'
import { ErrorNotice, LoadingRows, Select } from '../../components/basics.tsx'
import { ActionDialog, runWithToast } from '../../components/dialog.tsx'
import { KindIcon } from '../../components/icon.tsx'
import { callDaemon } from '../../connection.ts'
import { countOf, shortDay, timeOfDay } from '../../format.tsx'
import { useDebounced, useLast, useOperation, useProjects, useQuery } from '../../queries.ts'
import { safeLine } from '../../safe-text.ts'
import type { ObservationDetails } from './observation.tsx'

/** The daemon's limits: the types make sure that they are the same. Importing them would add zod to the page. */
const TEXT_CHARS: typeof MAX_REMEMBERED_CHARS = 20_000
const TITLE_CHARS: typeof MAX_TITLE_CHARS = 300

type RelatedMemories = OutputOf<'forget'>['report']['related']

interface ObservationDialogProps {
  observation: ObservationDetails
  onClose(): void
}

interface RememberProps {
  /** Key of the project that the list shows; null: all projects. */
  project: string | null
  onClose(): void
  onRemembered(id: number): void
}

const REMEMBER_FIELDS = [
  { name: 'text', label: 'Text', hint: 'what should be remembered', rows: 6, maxChars: TEXT_CHARS },
  { name: 'title', label: 'Title', hint: 'default: the first words of the text', maxChars: TITLE_CHARS },
  { name: 'concepts', label: 'Concepts', hint: 'separated by commas', maxChars: 2_000 },
  { name: 'files', label: 'Files', hint: 'one per line', rows: 2, maxChars: 10_000 },
] as const satisfies readonly TextFieldSpec[]

export function RememberDialog({ project, onClose, onRemembered }: RememberProps) {
  const { projects } = useProjects()
  const [key, setKey] = useState(project)
  const [type, setType] = useState<ObservationType>('decision')
  const [draft, setDraft] = useState({ title: '', text: '', concepts: '', files: '' })
  const selected = projects?.find((one) => one.key === key) ?? projects?.[0]
  const remember = async () => {
    if (selected === undefined) return false
    return await runWithToast(async () => {
      const { observation } = await callDaemon('remember', {
        project: { key: selected.key, name: selected.name },
        cwd: selected.place ?? '',
        title: draft.title.trim() === '' ? null : draft.title,
        text: draft.text,
        kind: type,
        concepts: splitItems(draft.concepts, ','),
        files: splitItems(draft.files, '\n'),
        by: 'person',
        client: 'viewer',
      })
      onRemembered(observation)
      return `Remembered as #${observation}.`
    })
  }
  return (
    <ActionDialog
      title="Remember something"
      confirm="Remember it"
      disabled={draft.text.trim() === '' || selected === undefined}
      onConfirm={remember}
      onClose={onClose}
    >
      {projects?.length === 0 ? (
        <p class="soft memory-intro">
          There is no project yet: a project appears with its first session. In a terminal,{' '}
          <code>claude-mem remember</code> uses the project of the current folder.
        </p>
      ) : null}
      <div class="stack">
        <Field label="Project">
          <Select
            label="Project"
            value={selected?.key ?? ''}
            options={projects?.map((one) => ({ value: one.key, text: safeLine(one.name, 60) })) ?? []}
            onSelect={setKey}
          />
        </Field>
        <TypeField value={type} onValue={setType} />
        <TextFields specs={REMEMBER_FIELDS} draft={draft} onDraft={setDraft} />
      </div>
    </ActionDialog>
  )
}

const CORRECT_FIELDS = [
  { name: 'title', label: 'Title', maxChars: TITLE_CHARS },
  { name: 'text', label: 'Text', rows: 7, maxChars: TEXT_CHARS },
  { name: 'facts', label: 'Facts', hint: 'one per line', rows: 4, maxChars: TEXT_CHARS },
  { name: 'concepts', label: 'Concepts', hint: 'separated by commas', maxChars: TEXT_CHARS },
] as const satisfies readonly TextFieldSpec[]

interface CorrectProps extends ObservationDialogProps {
  onCorrected(id: number): void
}

export function CorrectDialog({ observation, onClose, onCorrected }: CorrectProps) {
  const { id } = observation
  const original = {
    title: observation.title ?? '',
    text: observation.narrative ?? '',
    facts: observation.facts.join('\n'),
    concepts: observation.concepts.join(', '),
  }
  const [draft, setDraft] = useState(original)
  const [type, setType] = useState(observation.type)
  const isSame = type === observation.type && JSON.stringify(draft) === JSON.stringify(original)
  const correct = () =>
    runWithToast(async () => {
      // Unchanged fields are not sent, so that the daemon copies them exactly.
      const { observation: corrected } = await callDaemon('correct', {
        observation: id,
        ...(type === observation.type ? {} : { kind: type }),
        ...(draft.title === original.title ? {} : { title: draft.title }),
        ...(draft.text === original.text ? {} : { text: draft.text }),
        ...(draft.facts === original.facts ? {} : { facts: splitItems(draft.facts, '\n') }),
        ...(draft.concepts === original.concepts ? {} : { concepts: splitItems(draft.concepts, ',') }),
      })
      onCorrected(corrected)
      return `#${corrected} now supersedes #${id}.`
    })
  return (
    <ActionDialog title={`Correct #${id}`} confirm="Correct it" disabled={isSame} onConfirm={correct} onClose={onClose}>
      <p class="soft memory-intro">
        Your text becomes a new observation that supersedes this one. The old one stays and is struck out.
      </p>
      <div class="stack">
        <TypeField value={type} onValue={setType} />
        <TextFields specs={CORRECT_FIELDS} draft={draft} onDraft={setDraft} />
      </div>
    </ActionDialog>
  )
}

/** Pause after a key before the search starts, in ms. */
const TYPING_MS = 120
const MAX_CANDIDATES = 8

export function SupersedeDialog({ observation, onClose }: ObservationDialogProps) {
  const { id, project } = observation
  const [typed, setTyped] = useState('')
  const text = useDebounced(typed.trim(), TYPING_MS)
  const [selected, setSelected] = useState<number | null>(null)
  const { data, error, reload } = useQuery(`supersede ${project} ${text}`, () => findCandidates(text, project))
  const candidates = useLast(data)?.filter((one) => one.id !== id) ?? []
  const supersede = async () => {
    if (selected === null) return false
    return await runWithToast(async () => {
      await callDaemon('link', { from: selected, to: id, kind: 'supersedes', on: true })
      return `#${id} is superseded by #${selected}.`
    })
  }
  return (
    <ActionDialog
      title={`What supersedes #${id}?`}
      confirm={selected === null ? 'Select one' : `#${selected} supersedes it`}
      disabled={selected === null}
      onConfirm={supersede}
      onClose={onClose}
    >
      <Quote observation={observation} />
      <Field label="The newer observation" hint="of the same project, by words or number">
        <input
          type="search"
          value={typed}
          placeholder="words, or #12"
          maxLength={500}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </Field>
      <ErrorNotice text={error} retry={reload} />
      <fieldset class="memory-candidates stack">
        <legend class="unseen">Observations</legend>
        {candidates.map((one) => (
          <label key={one.id} class={one.id === selected ? 'chosen' : ''}>
            <input type="radio" name="newer" checked={one.id === selected} onChange={() => setSelected(one.id)} />
            {one.type === null ? null : <KindIcon kind={one.type} />}
            <span dir="auto">
              {safeLine(one.title)} <span class="figure soft">#{one.id}</span>
            </span>
            <span class="figure soft">
              {shortDay(one.createdAt)} {timeOfDay(one.createdAt)}
            </span>
          </label>
        ))}
        {data !== null && candidates.length === 0 ? <p class="soft">No other observation matches.</p> : null}
      </fieldset>
    </ActionDialog>
  )
}

type Candidate = Pick<SearchHit, 'id' | 'type' | 'title' | 'createdAt'>

async function findCandidates(text: string, project: string): Promise<Candidate[]> {
  const number = Number(/^#?(\d{1,15})$/.exec(text)?.[1] ?? 0)
  if (number > 0) {
    const { observations } = await callDaemon('observations', { ids: [number] })
    return observations
      .filter((one) => one.project === project)
      .map(({ id, type, title, createdAt }) => ({ id, type, title: title ?? '(no title)', createdAt }))
  }
  const request = { query: text, project, kinds: ['observation'], limit: MAX_CANDIDATES } as const
  return (await callDaemon('search', request)).answer.hits
}

export function ForgetDialog({ observation, onClose }: ObservationDialogProps) {
  const { id } = observation
  const [related, setRelated] = useState(false)
  const { data, error, reload } = useOperation('forget', { ids: [id], confirm: false })
  const preview = data?.report ?? null
  const others = preview === null ? '' : relatedText(preview.related)
  const forget = () =>
    runWithToast(async () => {
      const { report } = await callDaemon('forget', { ids: [id], related, confirm: true })
      if (report.observations === 0) return `#${id} was already forgotten.`
      return report.copies.length === 0
        ? `#${id} is forgotten.`
        : `#${id} is forgotten. ${copiesText(report.copies.length)}`
    })
  return (
    <ActionDialog
      title="Forget this?"
      cancel="Keep it"
      confirm="Forget permanently"
      confirmClass="danger"
      disabled={preview === null}
      onConfirm={forget}
      onClose={onClose}
    >
      <Quote observation={observation} />
      <ErrorNotice text={error} retry={reload} />
      {preview === null && error === null ? <LoadingRows rows={1} /> : null}
      {preview === null ? null : (
        <ul class="memory-facts stack">
          <li>The observation is deleted with its facts, links and source events. This cannot be undone.</li>
          <li>It is removed from the search index and from the context of future sessions.</li>
          {preview.passages === 0 ? null : (
            <li>{countOf(preview.passages, 'passage')} of its turn are deleted with it.</li>
          )}
          {preview.summaries + preview.prompts === 0 ? null : (
            <li>
              {preview.summaries} summaries and {preview.prompts} prompts are deleted with it.
            </li>
          )}
          {preview.others === undefined ? null : (
            <li>
              It is by another person: it is erased on this machine and not received again. On other machines it stays,
              unless your role may erase the records of others.
            </li>
          )}
          <li>{preview.copies.length === 0 ? 'No backup contains it.' : copiesText(preview.copies.length)}</li>
          {others === '' ? null : (
            <li>
              <label class="check">
                <input type="checkbox" checked={related} onChange={() => setRelated(!related)} /> Also forget what may
                say the same: {others}.
              </label>
            </li>
          )}
        </ul>
      )}
    </ActionDialog>
  )
}

function copiesText(count: number): string {
  return `${count} ${count === 1 ? 'backup' : 'backups'} may still contain it: claude-mem forget --everywhere removes it there.`
}

function relatedText({ observations, summaries, prompts }: RelatedMemories): string {
  return [
    ...(summaries.length === 0 ? [] : [`${summaries.length} summaries of the turn`]),
    ...(prompts.length === 0 ? [] : [`${prompts.length} prompts of the turn`]),
    ...(observations.length === 0 ? [] : [`${observations.length} linked observations`]),
  ].join(', ')
}

function Quote({ observation: { id, title } }: { observation: ObservationDetails }) {
  return (
    <p class="memory-quote" dir="auto">
      #{id} {safeLine(title ?? '(no title)')}
    </p>
  )
}

interface FieldProps {
  label: string
  hint?: string | undefined
  /** The input. */
  children: ComponentChildren
}

function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the input is in `children`.
    <label class="memory-field stack">
      <span>
        {label}
        {hint === undefined ? null : <span class="soft"> {hint}</span>}
      </span>
      {children}
    </label>
  )
}

interface TextFieldSpec<K extends string = string> {
  name: K
  label: string
  hint?: string
  /** Given: a field of several lines. */
  rows?: number
  maxChars: number
}

interface TextFieldsProps<K extends string> {
  specs: readonly TextFieldSpec<K>[]
  draft: Record<K, string>
  onDraft(draft: Record<K, string>): void
}

function TextFields<K extends string>({ specs, draft, onDraft }: TextFieldsProps<K>) {
  return (
    <>
      {specs.map(({ name, label, hint, rows, maxChars }) => {
        const props = { value: draft[name], maxLength: maxChars, dir: 'auto' } as const
        const onValue = (value: string) => onDraft({ ...draft, [name]: value })
        return (
          <Field key={name} label={label} hint={hint}>
            {rows === undefined ? (
              <input {...props} onInput={(event) => onValue(event.currentTarget.value)} />
            ) : (
              <textarea {...props} rows={rows} onInput={(event) => onValue(event.currentTarget.value)} />
            )}
          </Field>
        )
      })}
    </>
  )
}

function TypeField({ value, onValue }: { value: ObservationType; onValue(value: ObservationType): void }) {
  return (
    <Field label="Type">
      <Select
        label="Type"
        value={value}
        options={OBSERVATION_TYPES.map((type) => ({ value: type, text: type }))}
        onSelect={onValue}
      />
    </Field>
  )
}

function splitItems(text: string, separator: ',' | '\n'): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
