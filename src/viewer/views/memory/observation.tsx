/** The panel of an observation: its content, actions, evidence, provenance and neighbours. */
import { useRef, useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { ObservationStatus } from '../../../domain/observation.ts'
import { MemError } from '../../../lib/errors.ts'
import type { StreamMessage } from '../../../transport/messages.ts'
import { AuthorChip } from '../../author.tsx'
import { EmptyState, type Figure, FigureList } from '../../components/basics.tsx'
import { runWithToast } from '../../components/dialog.tsx'
import { Icon, type IconName, KindIcon } from '../../components/icon.tsx'
import { callDaemon } from '../../connection.ts'
import { fullCount, shortDay, Time, timeOfDay } from '../../format.tsx'
import { useObservable } from '../../observable.ts'
import { isMemoryChange, useOperation, useQuery, useReloadOnStream } from '../../queries.ts'
import { navigate } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { CorrectDialog, ForgetDialog, SupersedeDialog } from './dialogs.tsx'
import { filterHref, type MemoryQuery, memoryHref } from './memory-query.ts'
import { type MemoryRows, memoryAddressId } from './memory-rows.ts'
import { DetailPanel, FileList, MemoryLink, MemoryMeta, MissingMemory, PanelSection, ProseText } from './panel.tsx'
import { EvidenceSection } from './passage.tsx'
import { ProvenanceSection } from './provenance.tsx'
import { ScoreTable } from './score.tsx'

export type ObservationDetails = OutputOf<'origin'>['observation']

/** Changes within this time cause one request, in ms. */
const CHANGE_THROTTLE_MS = 100

interface ObservationPanelProps {
  id: number
  query: MemoryQuery
  rows: MemoryRows
  onClose(): void
}

interface ContentProps {
  observation: ObservationDetails
  query: MemoryQuery
}

export function ObservationPanel({ id, query, rows, onClose }: ObservationPanelProps) {
  useObservable(rows.version)
  const provenance = useQuery(`origin ${id}`, () => loadProvenance(id))
  useReloadOnStream((message) => mayConcern(message, id), CHANGE_THROTTLE_MS, provenance.reload)
  const found = provenance.data?.found ?? null
  const wasFound = useRef(false)
  wasFound.current ||= found !== null
  if (found === null) {
    if (!wasFound.current) return <MissingMemory kind="observation" query={provenance} onClose={onClose} />
    return (
      <DetailPanel label={`Observation ${id}`} onClose={onClose}>
        <EmptyState icon="trash" title="This observation was forgotten">
          <p>Observation #{id} is no longer in the memory, in searches or in the context of sessions.</p>
        </EmptyState>
      </DetailPanel>
    )
  }
  const { observation, origin } = found
  const hit = rows.isRanked ? rows.at(rows.indexOf(`observation:${id}`)) : undefined
  return (
    <DetailPanel
      label={`Observation ${id}`}
      onClose={onClose}
      actions={<ObservationActions observation={observation} query={query} />}
    >
      <ObservationContent observation={observation} query={query} />
      {hit === undefined ? null : (
        <PanelSection title="Why it was found">
          <ScoreTable hit={hit} />
        </PanelSection>
      )}
      <EvidenceSection observation={id} query={query} />
      <ProvenanceSection observation={observation} origin={origin} />
      <NearbyMemories id={id} query={query} />
    </DetailPanel>
  )
}

/** Null: there is no observation with this number. */
async function loadProvenance(id: number) {
  try {
    return { found: await callDaemon('origin', { observation: id }) }
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_found') return { found: null }
    throw error
  }
}

/** Also when another observation changes: this one may be linked to it. */
function mayConcern(message: StreamMessage, id: number): boolean {
  return message.type === 'commit'
    ? message.observations.some(({ supersedes }) => supersedes?.includes(id) === true)
    : message.change !== 'quarantined' && message.change !== 'imported'
}

function ObservationActions({ observation, query }: ContentProps) {
  const [dialog, setDialog] = useState<'forget' | 'correct' | 'supersede' | null>(null)
  const { id, pinned, supersededBy } = observation
  const close = () => setDialog(null)
  const pin = () =>
    runWithToast(async () => {
      await callDaemon('pin', { ids: [id], on: !pinned })
      return pinned ? `#${id} is no longer pinned.` : `#${id} is pinned: sessions of its project start with it.`
    })
  const removeLink = (from: number) =>
    runWithToast(async () => {
      await callDaemon('link', { from, to: id, kind: 'supersedes', on: false })
      return `#${id} is valid again: #${from} no longer supersedes it.`
    })
  return (
    <>
      <ActionButton
        icon="pin"
        name={pinned ? 'Unpin' : 'Pin'}
        about="Pinned observations are always part of the context of their project"
        onAct={() => void pin()}
        pressed={pinned}
      />
      <ActionButton
        icon="edit"
        name="Correct"
        about="Replace it with a corrected observation"
        onAct={() => setDialog('correct')}
      />
      {supersededBy === null ? (
        <ActionButton
          icon="link"
          name="Supersede"
          about="Mark another observation as its replacement"
          onAct={() => setDialog('supersede')}
        />
      ) : (
        <ActionButton
          icon="link"
          name="Restore"
          about={`#${supersededBy} does not supersede it`}
          onAct={() => void removeLink(supersededBy)}
        />
      )}
      <ActionButton icon="trash" name="Forget" about="Delete it permanently" onAct={() => setDialog('forget')} />
      {dialog === 'forget' ? <ForgetDialog observation={observation} onClose={close} /> : null}
      {dialog === 'correct' ? (
        <CorrectDialog
          observation={observation}
          onClose={close}
          onCorrected={(corrected) => navigate(memoryHref(query, `${corrected}`))}
        />
      ) : null}
      {dialog === 'supersede' ? <SupersedeDialog observation={observation} onClose={close} /> : null}
    </>
  )
}

interface ActionButtonProps {
  icon: IconName
  name: string
  about: string
  onAct(): void
  pressed?: boolean
}

function ActionButton({ icon, name, about, onAct, pressed }: ActionButtonProps) {
  return (
    <button type="button" class="plain" aria-pressed={pressed} onClick={onAct} title={about}>
      <Icon name={icon} size={16} />
      <span>{name}</span>
    </button>
  )
}

function ObservationContent({ observation, query }: ContentProps) {
  const { id, type, title, subtitle, narrative, facts, concepts, agent } = observation
  return (
    <>
      <p class="row wrap">
        <KindIcon kind={type} />
        {type} <span class="figure soft">#{id}</span>
        {observation.pinned ? (
          <span class="chip accent">
            <Icon name="pin" size={13} />
            pinned
          </span>
        ) : null}
        {agent === null ? null : <span class="chip">by {safeLine(agent)}</span>}
        <AuthorChip memory={observation} at={observation.createdAt} />
      </p>
      <h2 class={observation.supersededBy === null ? 'memory-title' : 'memory-title superseded'} dir="auto">
        {safeLine(title ?? '(no title)', 600)}
      </h2>
      {subtitle === null ? null : (
        <p class="memory-subtitle soft" dir="auto">
          {safeLine(subtitle, 1_000)}
        </p>
      )}
      <MemoryMeta session={observation.session} turn={observation.promptNumber} at={observation.createdAt}>
        <li>
          <Icon name="memory" size={14} />
          <a href={filterHref({ project: observation.project })} title="All of this project">
            {safeLine(observation.projectName)}
          </a>
        </li>
      </MemoryMeta>
      {observation.status === null || observation.status === undefined ? null : (
        <p class={observation.status === 'resolved' ? 'note' : 'note warn'}>{STATUS_NOTES[observation.status]}</p>
      )}
      <Links observation={observation} query={query} />
      {narrative === null ? null : <ProseText text={narrative} />}
      {facts.length === 0 ? null : (
        <PanelSection title="Facts">
          <ul class="memory-facts stack">
            {facts.map((fact, i) => (
              <li key={i} dir="auto">
                {safeLine(fact, 2_000)}
              </li>
            ))}
          </ul>
        </PanelSection>
      )}
      {concepts.length === 0 ? null : (
        <ul class="row wrap memory-concepts" aria-label="Concepts">
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
      <FigureList class="memory-tokens" figures={tokenFigures(observation)} />
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

function Links({ observation: { supersededBy, supersedes, amendedBy, amends, repeats }, query }: ContentProps) {
  const linkTo = (id: number) => (
    <a key={id} class="figure" href={memoryHref(query, `${id}`)}>
      #{id}
    </a>
  )
  const lists = [
    ['Amended by', amendedBy],
    ['Supersedes', supersedes],
    ['Amends', amends],
    ['Nearly the same as', repeats],
  ] as const
  if (supersededBy === null && lists.every(([, ids]) => ids.length === 0)) return null
  return (
    <ul class="memory-links stack">
      {supersededBy === null ? null : (
        <li class="note warn">Superseded by {linkTo(supersededBy)}: it is no longer valid.</li>
      )}
      {lists.map(([label, ids]) =>
        ids.length === 0 ? null : (
          <li key={label} class="note">
            {label} {ids.slice(0, MAX_LINKS).map(linkTo)}
          </li>
        ),
      )}
    </ul>
  )
}

const MAX_FUNCTIONS = 100

function Files({ observation: { filesRead, filesModified, functionsChanged } }: { observation: ObservationDetails }) {
  if (filesModified.length + filesRead.length + functionsChanged.length === 0) return null
  return (
    <PanelSection title="Files">
      <FileList label="Modified" files={filesModified} />
      {functionsChanged.length === 0 ? null : (
        <div class="memory-files">
          <h4 class="row small soft">Functions</h4>
          <table class="table">
            <caption class="unseen">Changed functions</caption>
            <tbody>
              {functionsChanged.slice(0, MAX_FUNCTIONS).map(({ name, file, action }, i) => (
                <tr key={i}>
                  <th scope="row" class="mono">
                    {safeLine(name, 200)}
                  </th>
                  <td>{action}</td>
                  <td class="mono soft">{safeLine(file, 300)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <FileList label="Read" files={filesRead} />
    </PanelSection>
  )
}

/** The tokens that the observation took to find out, against those it takes to read. */
function tokenFigures({ discoveryTokens, discoveryEstimated, tokens }: ObservationDetails): Figure[] {
  const ratio = tokens > 0 ? discoveryTokens / tokens : 0
  return [
    {
      name: 'tokens to find out',
      value: `${discoveryEstimated ? '~' : ''}${fullCount(discoveryTokens)}`,
      about: discoveryEstimated ? 'Estimated from the length of what the agent read' : 'From the transcript',
    },
    { name: 'tokens to read', value: `~${fullCount(tokens)}`, about: 'Estimated: four characters are a token' },
    ...(ratio < 2 ? [] : [{ name: 'times cheaper', value: fullCount(Math.round(ratio)), about: 'The ratio of both' }]),
  ]
}

/** Memories before and after the observation. */
const NEARBY = 4
/** Changes within this time cause one request, in ms. */
const NEARBY_THROTTLE_MS = 400

function NearbyMemories({ id, query }: { id: number; query: MemoryQuery }) {
  const { data, reload } = useOperation('timeline', { anchor: id, before: NEARBY, after: NEARBY })
  useReloadOnStream(isMemoryChange, NEARBY_THROTTLE_MS, reload)
  if (data === null || data.items.length < 2) return null
  return (
    <PanelSection title="Before and after" about="in its project, oldest first">
      <ol class="memory-nearby">
        {data.items.map((item) => (
          <MemoryLink
            key={`${item.kind} ${item.id}`}
            href={memoryHref(query, memoryAddressId(item))}
            kind={item.type ?? (item.kind === 'prompt' ? 'prompt' : 'summary')}
            title={item.title}
            current={item.kind === 'observation' && item.id === id}
          >
            <Time at={item.createdAt} class="figure soft small">
              {shortDay(item.createdAt)} {timeOfDay(item.createdAt)}
            </Time>
          </MemoryLink>
        ))}
      </ol>
    </PanelSection>
  )
}
