/** Dialogs that change memories: remember, correct, forget. */
import { useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { MAX_REMEMBERED_CHARS, MAX_TITLE_CHARS } from '../../../api/schemas.ts'
import { OBSERVATION_TYPES, type ObservationType } from '../../../domain/observation.ts'
import { FormField, Loaded, Select } from '../../components/basics.tsx'
import { ActionDialog, runWithToast } from '../../components/dialog.tsx'
import { callDaemon } from '../../connection.ts'
import { countOf } from '../../format.tsx'
import { useOperation, useProjects } from '../../queries.ts'
import { safeLine, titleText } from '../../safe-text.ts'

/** The daemon's limits: the types make sure that they are the same. Importing them would add zod to the page. */
const TEXT_CHARS: typeof MAX_REMEMBERED_CHARS = 20_000
const TITLE_CHARS: typeof MAX_TITLE_CHARS = 300

type ObservationDetails = OutputOf<'observations'>['observations'][number]

interface DialogProps {
  id: number
  onClose(): void
}

interface RememberProps {
  /** Key of the project that the page shows; null: all projects. */
  project: string | null
  onClose(): void
}

const REMEMBER_FIELDS = [
  { name: 'text', label: 'Text', hint: 'what should be remembered', rows: 6, maxChars: TEXT_CHARS },
  { name: 'title', label: 'Title', hint: 'default: the first words of the text', maxChars: TITLE_CHARS },
  { name: 'concepts', label: 'Concepts', hint: 'separated by commas', maxChars: 2_000 },
  { name: 'files', label: 'Files', hint: 'one per line', rows: 2, maxChars: 10_000 },
] as const satisfies readonly TextFieldSpec[]

export function RememberDialog({ project, onClose }: RememberProps) {
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
        <p class="soft">
          There is no project yet: a project appears with its first session. In a terminal,{' '}
          <code>claude-mem remember</code> uses the project of the current folder.
        </p>
      ) : null}
      <FormField label="Project">
        <Select
          label="Project"
          value={selected?.key ?? ''}
          options={projects?.map((one) => ({ value: one.key, text: safeLine(one.name, 60) })) ?? []}
          onSelect={setKey}
        />
      </FormField>
      <TypeField value={type} onValue={setType} />
      <TextFields specs={REMEMBER_FIELDS} draft={draft} onDraft={setDraft} />
    </ActionDialog>
  )
}

interface CorrectProps extends DialogProps {
  onCorrected?: ((id: number) => void) | undefined
}

/** The form is made when the observation is there. */
export function CorrectDialog(props: CorrectProps) {
  const { data } = useOperation('observations', { ids: [props.id] })
  const [observation] = data?.observations ?? []
  return observation === undefined ? null : <CorrectForm {...props} observation={observation} />
}

const CORRECT_FIELDS = [
  { name: 'title', label: 'Title', maxChars: TITLE_CHARS },
  { name: 'text', label: 'Text', rows: 7, maxChars: TEXT_CHARS },
  { name: 'facts', label: 'Facts', hint: 'one per line', rows: 4, maxChars: TEXT_CHARS },
  { name: 'concepts', label: 'Concepts', hint: 'separated by commas', maxChars: TEXT_CHARS },
] as const satisfies readonly TextFieldSpec[]

function CorrectForm({ id, observation, onClose, onCorrected }: CorrectProps & { observation: ObservationDetails }) {
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
      onCorrected?.(corrected)
      return `#${corrected} now supersedes #${id}.`
    })
  return (
    <ActionDialog title={`Correct #${id}`} confirm="Correct it" disabled={isSame} onConfirm={correct} onClose={onClose}>
      <p class="soft small">
        Your text becomes a new observation that supersedes this one. The old one stays and is struck out.
      </p>
      <TypeField value={type} onValue={setType} />
      <TextFields specs={CORRECT_FIELDS} draft={draft} onDraft={setDraft} />
    </ActionDialog>
  )
}

type ForgetReport = OutputOf<'forget'>['report']

export function ForgetDialog({ id, onClose }: DialogProps) {
  const [related, setRelated] = useState(false)
  const preview = useOperation('forget', { ids: [id], confirm: false })
  const forget = () =>
    runWithToast(async () => {
      const { report } = await callDaemon('forget', { ids: [id], related, confirm: true })
      if (report.observations === 0) return `#${id} was already forgotten.`
      return `#${id} is forgotten. ${copiesText(report)}`
    })
  return (
    <ActionDialog
      title="Forget this?"
      cancel="Keep it"
      confirm="Forget permanently"
      confirmClass="danger"
      disabled={preview.data === null}
      onConfirm={forget}
      onClose={onClose}
    >
      <Quote id={id} />
      <Loaded query={preview}>
        {({ report }) => (
          <>
            <ul class="bullets stack">
              <li>The observation is deleted with its facts, links and source events. This cannot be undone.</li>
              <li>It is removed from the search index and from what future sessions are told.</li>
              {report.passages === 0 ? null : (
                <li>{countOf(report.passages, 'passage')} of its turn are deleted with it.</li>
              )}
              {report.others === undefined ? null : (
                <li>
                  It is by another person: it is erased on this machine and not received again. On other machines it
                  stays, unless your role may erase the records of others.
                </li>
              )}
              {report.copies.length === 0 ? null : <li>{copiesText(report)}</li>}
            </ul>
            <RelatedChoice report={report} checked={related} onChange={setRelated} />
          </>
        )}
      </Loaded>
    </ActionDialog>
  )
}

function copiesText({ copies }: ForgetReport): string {
  if (copies.length === 0) return ''
  return `${countOf(copies.length, 'backup')} may still contain it: claude-mem forget --everywhere removes it there.`
}

interface RelatedChoiceProps {
  report: ForgetReport
  checked: boolean
  onChange(checked: boolean): void
}

function RelatedChoice({ report: { related }, checked, onChange }: RelatedChoiceProps) {
  const { observations, summaries, prompts } = related
  const others = [
    ...(summaries.length === 0 ? [] : [countOf(summaries.length, 'summary', 'summaries')]),
    ...(prompts.length === 0 ? [] : [countOf(prompts.length, 'prompt')]),
    ...(observations.length === 0 ? [] : [countOf(observations.length, 'linked observation')]),
  ]
  if (others.length === 0) return null
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={() => onChange(!checked)} />
      Also forget what may say the same: {others.join(', ')}
    </label>
  )
}

function Quote({ id }: { id: number }) {
  const { data } = useOperation('observations', { ids: [id] })
  const title = data?.observations[0]?.title ?? null
  return (
    <p class="quote" dir="auto">
      #{id} {title === null ? '' : titleText(title)}
    </p>
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
          <FormField key={name} label={label} hint={hint}>
            {rows === undefined ? (
              <input {...props} onInput={(event) => onValue(event.currentTarget.value)} />
            ) : (
              <textarea {...props} rows={rows} onInput={(event) => onValue(event.currentTarget.value)} />
            )}
          </FormField>
        )
      })}
    </>
  )
}

function TypeField({ value, onValue }: { value: ObservationType; onValue(value: ObservationType): void }) {
  const options = OBSERVATION_TYPES.map((type) => ({ value: type, text: type }))
  return (
    <FormField label="Type">
      <Select label="Type" value={value} options={options} onSelect={onValue} />
    </FormField>
  )
}

function splitItems(text: string, separator: ',' | '\n'): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
