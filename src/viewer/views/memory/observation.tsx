/** The panel of an observation: its content, what can be done about it, its evidence and why it exists. */
import { useRef } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { ObservationStatus } from '../../../domain/observation.ts'
import type { SearchHit } from '../../../domain/search-query.ts'
import { Chip, Details, EmptyState, Loaded, Note, Section } from '../../components/basics.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { runWithToast } from '../../components/dialog.tsx'
import { KindIcon } from '../../components/icon.tsx'
import { AuthorChip, ProseText } from '../../components/memory-parts.tsx'
import { callDaemon } from '../../connection.ts'
import { fullCount } from '../../format.tsx'
import { useLive, useOperation } from '../../queries.ts'
import { navigate } from '../../route.ts'
import { safeLine, titleText } from '../../safe-text.ts'
import { MemoryActions } from './actions.tsx'
import { filterHref, type MemoryQuery, memoryHref } from './memory-query.ts'
import { MemoryPlace, MissingMemory, Panel } from './panel.tsx'
import { EvidenceSection } from './passage.tsx'
import { ProvenanceSection } from './provenance.tsx'
import { ScoreDetails } from './score.tsx'

export type ObservationDetails = OutputOf<'observations'>['observations'][number]

interface ObservationPanelProps {
  id: number
  query: MemoryQuery
  hit: SearchHit | undefined
  onClose(): void
}

interface ContentProps {
  observation: ObservationDetails
  query: MemoryQuery
}

export function ObservationPanel({ id, query, hit, onClose }: ObservationPanelProps) {
  const answer = useLive(useOperation('observations', { ids: [id] }))
  const wasFound = useRef(false)
  return (
    <Panel label={`Observation ${id}`} onClose={onClose}>
      <Loaded query={answer}>
        {({ observations: [observation], passages }) => {
          if (observation === undefined)
            return wasFound.current ? <Forgotten id={id} /> : <MissingMemory what="observation" />
          wasFound.current = true
          return (
            <>
              <Content observation={observation} query={query} />
              <EvidenceSection passages={passages} query={query} />
              <ProvenanceSection observation={observation} />
              <ScoreDetails hit={hit} />
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function Forgotten({ id }: { id: number }) {
  return (
    <EmptyState icon="trash" title="This observation was forgotten">
      <p>Observation #{id} is no longer in the memory, in searches or in what sessions are told.</p>
    </EmptyState>
  )
}

function Content({ observation, query }: ContentProps) {
  const { id, type, title, subtitle, narrative, facts, concepts, agent, status } = observation
  return (
    <>
      <p class="row wrap">
        <KindIcon kind={type} /> {type} <span class="figure soft">#{id}</span>
        {agent === null ? null : <Chip>by {safeLine(agent)}</Chip>}
        <AuthorChip memory={observation} at={observation.createdAt} />
      </p>
      <MemoryActions
        id={id}
        pinned={observation.pinned}
        onCorrected={(corrected) => navigate(memoryHref(query, `${corrected}`))}
      />
      <h1 class={observation.supersededBy === null ? 'title' : 'title superseded'} dir="auto">
        {titleText(title, 600)}
      </h1>
      {subtitle === null ? null : (
        <p class="soft" dir="auto">
          {safeLine(subtitle, 1_000)}
        </p>
      )}
      <MemoryPlace {...observation} turn={observation.promptNumber} at={observation.createdAt} />
      {status === null || status === undefined ? null : (
        <Note tone={status === 'resolved' ? undefined : 'warn'}>{STATUS_NOTES[status]}</Note>
      )}
      <Links observation={observation} query={query} />
      {narrative === null ? null : <ProseText text={narrative} />}
      {facts.length === 0 ? null : (
        <ul class="bullets stack">
          {facts.map((fact, i) => (
            <li key={i} dir="auto">
              {safeLine(fact, 2_000)}
            </li>
          ))}
        </ul>
      )}
      {concepts.length === 0 ? null : (
        <ul class="row wrap" aria-label="Concepts">
          {concepts.map((concept) => (
            <li key={concept}>
              <a class="chip" href={filterHref({ concepts: [concept] })}>
                {safeLine(concept, 80)}
              </a>
            </li>
          ))}
        </ul>
      )}
      <Files observation={observation} />
    </>
  )
}

const STATUS_NOTES: Record<ObservationStatus, string> = {
  open: 'Open problem: not solved yet.',
  untested: 'Untested: this change was never run.',
  resolved: 'Solved or tested since.',
}

/** Linked observations in one line. */
const MAX_LINKS = 50

function Links({ observation, query }: ContentProps) {
  const { id, supersededBy, supersedes, amendedBy, amends, repeats } = observation
  const lists = [
    ['Amended by', amendedBy],
    ['Supersedes', supersedes],
    ['Amends', amends],
    ['Nearly the same as', repeats],
  ] as const
  const linkTo = (linked: number) => (
    <a key={linked} href={memoryHref(query, `${linked}`)}>
      #{linked}
    </a>
  )
  const restore = (from: number) =>
    runWithToast(async () => {
      await callDaemon('link', { from, to: id, kind: 'supersedes', on: false })
      return `#${id} is valid again: #${from} no longer supersedes it.`
    })
  return (
    <>
      {supersededBy === null ? null : (
        <Note tone="warn">
          Superseded by {linkTo(supersededBy)}: it is no longer valid.
          <button type="button" class="plain small" onClick={() => void restore(supersededBy)}>
            It is still valid
          </button>
        </Note>
      )}
      {lists.map(([label, ids]) =>
        ids.length === 0 ? null : (
          <Note key={label}>
            {label} {ids.slice(0, MAX_LINKS).map(linkTo)}
          </Note>
        ),
      )}
    </>
  )
}

/** Files and functions in a list; the rest is counted. */
const MAX_FILES = 60

function Files({ observation: { filesRead, filesModified, functionsChanged } }: { observation: ObservationDetails }) {
  const functions = functionsChanged.map(({ name, file, action }) => `${name} ${action} in ${file}`)
  const lists = [
    ['Modified', filesModified],
    ['Read', filesRead],
  ] as const
  const count = new Set([...filesModified, ...filesRead]).size
  if (count + functions.length === 0) return null
  return (
    <Section title="Files">
      {lists.map(([label, files]) =>
        files.length === 0 ? null : (
          <ul key={label} class="small">
            {files.slice(0, MAX_FILES).map((file) => (
              <li key={file} class="row spread">
                <a class="mono plain-link" href={filterHref({ files: [file] })} title="Observations about this file">
                  {safeLine(file, 400)}
                </a>
                <span class="row soft">
                  {label.toLowerCase()} <CopyButton text={file} what="path" />
                </span>
              </li>
            ))}
            {files.length > MAX_FILES ? <li class="soft">and {fullCount(files.length - MAX_FILES)} more</li> : null}
          </ul>
        ),
      )}
      {functions.length === 0 ? null : (
        <Details summary={`${functions.length} functions`}>
          <ul class="small mono">
            {functions.slice(0, MAX_FILES).map((text, i) => (
              <li key={i}>{safeLine(text, 400)}</li>
            ))}
          </ul>
        </Details>
      )}
    </Section>
  )
}
