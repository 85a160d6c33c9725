/** A passage: a piece of what was said or done in a turn, in its own words, with what is around it. */
import type { OutputOf } from '../../../api/index.ts'
import { PASSAGE_LABELS } from '../../../domain/passage.ts'
import type { SearchHit } from '../../../domain/search-query.ts'
import { Chip, Loaded, Section } from '../../components/basics.tsx'
import { KindIcon } from '../../components/icon.tsx'
import { AuthorChip, MemoryLink } from '../../components/memory-parts.tsx'
import { countOf } from '../../format.tsx'
import { useLive, useOperation } from '../../queries.ts'
import { safeLine, safeText } from '../../safe-text.ts'
import { type MemoryQuery, memoryHref } from './memory-query.ts'
import { MemoryPlace, MissingMemory, Panel } from './panel.tsx'
import { ScoreDetails } from './score.tsx'

type Passage = OutputOf<'passages'>['passages'][number]['around'][number]
type Evidence = OutputOf<'observations'>['passages'][number]

/** Passages shown before and after the opened one. */
const AROUND = 3
const MAX_EVIDENCE = 20

interface PassagePanelProps {
  id: number
  query: MemoryQuery
  hit: SearchHit | undefined
  onClose(): void
}

export function PassagePanel({ id, query, hit, onClose }: PassagePanelProps) {
  const answer = useLive(useOperation('passages', { ids: [id], around: AROUND }))
  return (
    <Panel label={`Passage p${id}`} onClose={onClose}>
      <Loaded query={answer}>
        {({ passages }) => {
          const around = passages[0]?.around ?? []
          const passage = around.find((one) => one.id === id)
          if (passage === undefined) return <MissingMemory what="passage" />
          return <PassageContent passage={passage} around={around} query={query} hit={hit} />
        }}
      </Loaded>
    </Panel>
  )
}

interface PassageContentProps {
  passage: Passage
  around: readonly Passage[]
  query: MemoryQuery
  hit: SearchHit | undefined
}

function PassageContent({ passage, around, query, hit }: PassageContentProps) {
  const { id, kind, subject, observationIds } = passage
  return (
    <>
      <p class="row wrap">
        <KindIcon kind="passage" /> Passage <span class="figure soft">p{id}</span>
        <AuthorChip memory={passage} at={passage.at} />
      </p>
      <h1 class="title" dir="auto">
        {subject === null ? PASSAGE_LABELS[kind] : safeLine(subject, 600)}
      </h1>
      <MemoryPlace {...passage} turn={passage.promptNumber} />
      {observationIds.length === 0 ? null : (
        <p class="note">
          Evidence of
          {observationIds.map((observation) => (
            <a key={observation} href={memoryHref(query, `${observation}`)}>
              #{observation}
            </a>
          ))}
        </p>
      )}
      <Section title="In its turn" about="with what is before and after it">
        <ol class="rows">
          {around.map((one) => (
            <li key={one.id} aria-current={one.id === id ? 'true' : undefined} data-testid="passage" data-id={one.id}>
              <p class="row wrap small soft">
                {one.id === id ? <span>p{id}</span> : <a href={memoryHref(query, `p${one.id}`)}>p{one.id}</a>}
                {PASSAGE_LABELS[one.kind]}
                {one.outcome === 'failed' ? <Chip tone="warn">failed</Chip> : null}
                {one.subject === null ? null : <span class="mono ellipsis">{safeLine(one.subject)}</span>}
              </p>
              <p class={SPOKEN.has(one.kind) ? 'prose' : 'prose mono'} dir="auto">
                {safeText(one.text)}
              </p>
            </li>
          ))}
        </ol>
      </Section>
      <ScoreDetails hit={hit} />
    </>
  )
}

/** Prose; the others are output and code. */
const SPOKEN: ReadonlySet<Passage['kind']> = new Set(['prompt', 'answer', 'closing', 'words', 'report'])

/** The passages of the events that an observation was made of. */
export function EvidenceSection({ passages, query }: { passages: readonly Evidence[]; query: MemoryQuery }) {
  if (passages.length === 0) return null
  return (
    <Section title="Evidence" about="in the words of its session">
      <ol class="rows small" data-testid="evidence">
        {passages.slice(0, MAX_EVIDENCE).map(({ id, kind, subject, text }) => (
          <MemoryLink
            key={id}
            href={memoryHref(query, `p${id}`)}
            kind="passage"
            title={subject === null ? text : `${subject}: ${text}`}
          >
            <span class="soft">{PASSAGE_LABELS[kind]}</span>
          </MemoryLink>
        ))}
      </ol>
      {passages.length > MAX_EVIDENCE ? (
        <p class="soft">and {countOf(passages.length - MAX_EVIDENCE, 'more passage')}</p>
      ) : null}
    </Section>
  )
}
