/** An observation that is open: what it says, what stands around it, and why it exists. */
import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../../../channel/protocol.ts'
import { MemError } from '../../../errors.ts'
import { useCell } from '../../cell.ts'
import { ask, onItems } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { Icon, KindMark } from '../../parts/icon.tsx'
import { Empty } from '../../parts/plain.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { count } from '../../times.ts'
import { Actions } from './actions.tsx'
import { ASKED_FOR_ALL, type Asked, memoryHref } from './asked.ts'
import { ScoreTable } from './explanation.tsx'
import { Neighbours } from './neighbours.tsx'
import { OriginPart } from './origin.tsx'
import { NotThere, Panel, Part } from './panel.tsx'
import { Files, Place, Prose } from './parts.tsx'
import type { MemoryRows } from './rows.ts'

export type Observation = Extract<Answer, { type: 'origin' }>['observation']

interface ObservationProps {
  id: number
  asked: Asked
  rows: MemoryRows
  onClose(): void
}

export function OpenedObservation({ id, asked, rows, onClose }: ObservationProps) {
  useCell(rows.version)
  const { data, error, loading, reload } = useLoaded(`origin ${id}`, () => originOf(id))
  const gone = useChanges(id, data?.found?.observation.session ?? null, reload)
  const label = `Observation ${id}`
  if (gone) {
    return (
      <Panel label={label} onClose={onClose}>
        <Empty icon="trash" title="It was forgotten">
          <p>Observation #{id} is gone from the memory, from searches and from what sessions start with.</p>
        </Empty>
      </Panel>
    )
  }
  const found = data?.found ?? null
  if (found === null) {
    return (
      <Panel label={label} onClose={onClose}>
        <NotThere what="observation" loading={loading && data === null} error={error} onRetry={reload} />
      </Panel>
    )
  }
  const { observation, origin } = found
  const isSearch = rows.answered !== null && rows.answered.mode !== 'filter'
  const hit = isSearch ? rows.kept.at(rows.kept.indexOf(`observation:${id}`)) : undefined
  return (
    <Panel label={label} onClose={onClose} actions={<Actions observation={observation} asked={asked} />}>
      <Said observation={observation} asked={asked} />
      {hit === undefined || hit.completes ? null : (
        <Part title="Why it was found">
          <ScoreTable explanation={hit.explanation} />
        </Part>
      )}
      <OriginPart observation={observation} origin={origin} />
      <Neighbours id={id} asked={asked} />
    </Panel>
  )
}

/** Null: there is none with this number, or not any more. */
async function originOf(id: number) {
  try {
    return { found: await ask('origin', { type: 'origin', observation: id }) }
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_found') return { found: null }
    throw error
  }
}

function Said({ observation, asked }: { observation: Observation; asked: Asked }) {
  const { id, type, title, subtitle, narrative, facts, concepts, filesRead, filesModified, functionsChanged } =
    observation
  return (
    <>
      <p class="memory-kind">
        <KindMark kind={type} />
        {type} <span class="figure soft">#{id}</span>
        {observation.pinned ? (
          <span class="chip accent">
            <Icon name="pin" size={13} />
            pinned
          </span>
        ) : null}
        {observation.agent === null ? null : <span class="chip">by {safeLine(observation.agent)}</span>}
      </p>
      <h2 class={observation.supersededBy === null ? 'memory-title' : 'memory-title superseded'} dir="auto">
        {safeLine(title ?? '(no title)', 600)}
      </h2>
      {subtitle === null ? null : (
        <p class="memory-subtitle" dir="auto">
          {safeLine(subtitle, 1_000)}
        </p>
      )}
      <Place session={observation.session} turn={observation.promptNumber} at={observation.createdAt}>
        <li>
          <Icon name="memory" size={14} />
          <a href={memoryHref({ ...ASKED_FOR_ALL, project: observation.project })} title="All of this project">
            {safeLine(observation.projectName)}
          </a>
        </li>
      </Place>
      <Links observation={observation} asked={asked} />
      {narrative === null ? null : <Prose text={narrative} />}
      {facts.length === 0 ? null : (
        <Part title="Facts">
          <ul class="memory-facts">
            {facts.map((fact, i) => (
              <li key={i} dir="auto">
                {safeLine(fact, 2_000)}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {concepts.length === 0 ? null : (
        <ul class="memory-concepts" aria-label="Concepts">
          {concepts.map((concept) => (
            <li key={concept}>
              <a class="chip" href={memoryHref({ ...ASKED_FOR_ALL, concepts: [concept.slice(0, 200)] })}>
                {safeLine(concept, 80)}
              </a>
            </li>
          ))}
        </ul>
      )}
      {filesModified.length + filesRead.length + functionsChanged.length === 0 ? null : (
        <Part title="Files">
          <Files label="Modified" files={filesModified} />
          <Functions changes={functionsChanged} />
          <Files label="Read" files={filesRead} />
        </Part>
      )}
      <Worth observation={observation} />
    </>
  )
}

function Links({ observation, asked }: { observation: Observation; asked: Asked }) {
  const { supersededBy, supersedes, repeats } = observation
  const to = (id: number) => (
    <a key={id} class="figure" href={memoryHref(asked, `${id}`)}>
      #{id}
    </a>
  )
  if (supersededBy === null && supersedes.length === 0 && repeats.length === 0) return null
  return (
    <ul class="memory-links">
      {supersededBy === null ? null : <li class="warn">Superseded by {to(supersededBy)}: it no longer holds.</li>}
      {supersedes.length === 0 ? null : <li>Supersedes {supersedes.slice(0, 50).map(to)}</li>}
      {repeats.length === 0 ? null : <li>Says nearly the same as {repeats.slice(0, 50).map(to)}</li>}
    </ul>
  )
}

function Functions({ changes }: { changes: Observation['functionsChanged'] }) {
  if (changes.length === 0) return null
  return (
    <div class="memory-files">
      <h4>Functions</h4>
      <table class="memory-functions">
        <caption class="unseen">Functions changed</caption>
        <tbody>
          {changes.slice(0, 100).map(({ name, file, action }, i) => (
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
  )
}

/** What it cost to learn against what it costs to read. */
function Worth({ observation: { discoveryTokens, discoveryEstimated, tokens } }: { observation: Observation }) {
  const saved = tokens > 0 ? discoveryTokens / tokens : 0
  return (
    <dl class="memory-worth figure">
      <div title={discoveryEstimated ? 'Estimated from the length of what was read' : 'As the transcript says'}>
        <dt>Learning it took</dt>
        <dd>
          {discoveryEstimated ? '~' : ''}
          {count(discoveryTokens)} tokens
        </dd>
      </div>
      <div title="Estimated: four characters are a token">
        <dt>Reading it takes</dt>
        <dd>~{count(tokens)} tokens</dd>
      </div>
      {saved < 2 ? null : (
        <div>
          <dt>Cheaper by</dt>
          <dd>{count(Math.round(saved))} times</dd>
        </div>
      )}
    </dl>
  )
}

/** Asks again when the observation was changed. True: it was forgotten. */
function useChanges(id: number, session: string | null, reload: () => void): boolean {
  const [gone, setGone] = useState(false)
  useEffect(
    () =>
      onItems((items) => {
        for (const item of items) {
          if (item.type === 'commit') {
            if (item.observations.some((one) => one.supersedes?.includes(id) === true)) reload()
          } else if (item.change === 'forgotten' && item.ids.includes(id)) {
            setGone(true)
          } else if (item.change === 'erased' && item.session === session) {
            setGone(true)
          } else if (item.change === 'pinned' && item.ids.includes(id)) {
            reload()
          } else if (item.change === 'linked' && (item.from === id || item.to === id)) {
            reload()
          } else if (item.change === 'forgotten' || item.change === 'projects') {
            // A link to it may have gone, or the project has another name.
            reload()
          }
        }
      }),
    [id, session, reload],
  )
  return gone
}
