/** Passages: the panel of one with those around it in its turn, and the evidence in the panel of an observation. */
import { PASSAGE_LABELS, type Passage } from '../../../domain/passage.ts'
import { AuthorChip } from '../../author.tsx'
import { KindIcon } from '../../components/icon.tsx'
import { countOf } from '../../format.tsx'
import { isMemoryChange, useOperation, useReloadOnStream } from '../../queries.ts'
import { safeLine, safeText } from '../../safe-text.ts'
import { filterHref, type MemoryQuery, memoryHref } from './memory-query.ts'
import { DetailPanel, MemoryLink, MemoryMeta, MissingMemory, PanelSection } from './panel.tsx'

/** Passages before and after the opened one. */
const AROUND = 3
/** Evidence that is listed; the rest is counted. */
const MAX_EVIDENCE = 8
/** Changes within this time cause one request, in ms. */
const THROTTLE_MS = 300

interface PassagePanelProps {
  id: number
  query: MemoryQuery
  onClose(): void
}

export function PassagePanel({ id, query, onClose }: PassagePanelProps) {
  const answer = useOperation('passages', { ids: [id], around: AROUND })
  useReloadOnStream(isMemoryChange, THROTTLE_MS, answer.reload)
  const around = answer.data?.passages[0]?.around ?? []
  const passage = around.find((one) => one.id === id)
  if (passage === undefined) return <MissingMemory kind="passage" query={answer} onClose={onClose} />
  const { kind, subject, session, promptNumber, at, project, projectName, observationIds } = passage
  return (
    <DetailPanel label={`Passage p${id}`} onClose={onClose}>
      <p class="row wrap">
        <KindIcon kind="passage" />
        Passage <span class="figure soft">p{id}</span>
        <span class="chip">{kind}</span>
        <FailedChip passage={passage} />
        <AuthorChip memory={passage} at={at} />
      </p>
      <h2 class="memory-title" dir="auto">
        {subject === null ? PASSAGE_LABELS[kind] : safeLine(subject, 600)}
      </h2>
      <MemoryMeta session={session} turn={promptNumber} at={at}>
        <li>
          <a href={filterHref({ project })} title="All of this project">
            {safeLine(projectName)}
          </a>
        </li>
      </MemoryMeta>
      {observationIds.length === 0 ? null : (
        <p class="note">
          Evidence of{' '}
          {observationIds.map((observation) => (
            <a key={observation} class="figure" href={memoryHref(query, `${observation}`)}>
              #{observation}{' '}
            </a>
          ))}
        </p>
      )}
      <PanelSection title="In its turn" about="with what is before and after it">
        <ol class="memory-passages stack">
          {around.map((one) => (
            <li key={one.id} aria-current={one.id === id ? 'true' : undefined} data-testid="passage" data-id={one.id}>
              <PassageHead passage={one} href={one.id === id ? null : memoryHref(query, `p${one.id}`)} />
              <p class={SPOKEN.has(one.kind) ? 'memory-prose' : 'memory-quoted mono'} dir="auto">
                {safeText(one.text)}
              </p>
            </li>
          ))}
        </ol>
      </PanelSection>
    </DetailPanel>
  )
}

/** Prose; the others are output and code. */
const SPOKEN: ReadonlySet<Passage['kind']> = new Set(['prompt', 'answer', 'closing', 'words', 'report'])

/** `href`: null for the opened one. */
function PassageHead({ passage, href }: { passage: Passage; href: string | null }) {
  const { id, kind, subject } = passage
  return (
    <h4 class="row small soft">
      {href === null ? <span class="figure">p{id}</span> : <a href={href}>p{id}</a>}
      {kind}
      <FailedChip passage={passage} />
      {subject === null ? null : <span class="mono ellipsis">{safeLine(subject)}</span>}
    </h4>
  )
}

function FailedChip({ passage: { outcome } }: { passage: Pick<Passage, 'outcome'> }) {
  return outcome === 'failed' ? <span class="chip warn">failed</span> : null
}

/** The passages of the events that an observation was made of. */
export function EvidenceSection({ observation, query }: { observation: number; query: MemoryQuery }) {
  const { data, reload } = useOperation('observations', { ids: [observation] })
  useReloadOnStream(isMemoryChange, THROTTLE_MS, reload)
  const evidence = data?.passages ?? []
  if (evidence.length === 0) return null
  return (
    <PanelSection title="Evidence" about="in the words of its session">
      <ol class="memory-nearby" data-testid="evidence">
        {evidence.slice(0, MAX_EVIDENCE).map(({ id, kind, subject, text }) => (
          <MemoryLink
            key={id}
            href={memoryHref(query, `p${id}`)}
            kind="passage"
            title={subject === null ? text : `${subject}: ${text}`}
          >
            <span class="figure soft small">
              {kind} p{id}
            </span>
          </MemoryLink>
        ))}
      </ol>
      {evidence.length > MAX_EVIDENCE ? (
        <p class="soft">and {countOf(evidence.length - MAX_EVIDENCE, 'more passage')}</p>
      ) : null}
    </PanelSection>
  )
}
