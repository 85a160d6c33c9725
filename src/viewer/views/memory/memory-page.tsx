/** The memory view: a searchable list, and the opened memory beside it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import { PASSAGE_LABELS } from '../../../domain/passage.ts'
import type { SearchHit } from '../../../domain/search-query.ts'
import { ActionButton, Chip, EmptyState, Loaded } from '../../components/basics.tsx'
import { Icon, KindIcon } from '../../components/icon.tsx'
import { AuthorChip } from '../../components/memory-parts.tsx'
import { countOf, durationText, fullCount, longDay, shortDay, Time, timeOfDay } from '../../format.tsx'
import { useRowKeys, useShortcut } from '../../keyboard.ts'
import { useObservable } from '../../observable.ts'
import { isMemoryChange, useLast, useLive, useOperation } from '../../queries.ts'
import { currentRoute, navigate, viewHref } from '../../route.ts'
import { excerptAround, highlightPieces, safeLine, titleText } from '../../safe-text.ts'
import { RememberDialog } from './dialogs.tsx'
import {
  activeFilters,
  EMPTY_MEMORY_QUERY,
  type MemoryQuery,
  memoryHref,
  parseMemoryQuery,
  shownKinds,
} from './memory-query.ts'
import { ObservationPanel } from './observation.tsx'
import { PassagePanel } from './passage.tsx'
import { SearchBar } from './search-bar.tsx'

type SearchAnswer = OutputOf<'search'>['answer']

const PAGE_ROWS = 50
/** A search costs more than a list, in ms. */
const SEARCH_THROTTLE_MS = 2_000
/** The most that one request answers: older ones are found with filters. */
const MAX_ROWS = 500

export function MemoryPage() {
  const { id: openId, query: parameters } = useObservable(currentRoute)
  const href = memoryHref(parseMemoryQuery(parameters))
  const query = useMemo(() => parseMemoryQuery(parameters), [href])
  const [remembering, setRemembering] = useState(false)
  const [pages, setPages] = useState(1)
  useEffect(() => setPages(1), [href])
  const { text, filters } = query
  const limit = Math.min(MAX_ROWS, pages * PAGE_ROWS)
  const found = useLive(
    useOperation('search', { query: text, ...filters, kinds: [...shownKinds(query)], limit }),
    isMemoryChange,
    text === '' ? undefined : SEARCH_THROTTLE_MS,
  )
  const answer = useLast(found.data)?.answer ?? null
  const list = useRef<HTMLDivElement>(null)
  useRowKeys(list)
  useCloseByKey(openId, href, list)
  const opened = answer?.hits.find((hit) => hitId(hit) === openId)
  return (
    <div class={openId === null ? 'split' : 'split has-open'}>
      <div class="split-list stack" ref={list}>
        <header class="row wrap">
          <h1>Memory</h1>
          <p class="soft small grow" role="status" data-testid="memory-summary">
            {answer === null ? '' : summaryText(answer)}
          </p>
          <ActionButton icon="edit" name="Remember…" about="Write something down" onAct={() => setRemembering(true)} />
        </header>
        <SearchBar query={query} openId={openId} />
        {answer?.notes.map((note) => (
          <p key={note} class="warn small">
            {safeLine(note)}
          </p>
        ))}
        <Loaded query={found}>{({ answer: shown }) => <HitList answer={shown} query={query} openId={openId} />}</Loaded>
        {answer !== null && answer.total > limit && limit < MAX_ROWS ? (
          <button type="button" class="more" data-row onClick={() => setPages(pages + 1)}>
            Show more
          </button>
        ) : null}
      </div>
      {openId === null ? null : (
        <OpenMemory key={openId} id={openId} query={query} hit={opened} onClose={() => navigate(href)} />
      )}
      {remembering ? <RememberDialog project={filters.project} onClose={() => setRemembering(false)} /> : null}
    </div>
  )
}

interface OpenMemoryProps {
  /** As in the address: `12` or, of a passage, `p12`. */
  id: string
  query: MemoryQuery
  hit: SearchHit | undefined
  onClose(): void
}

function OpenMemory({ id, ...props }: OpenMemoryProps) {
  const isPassage = id.startsWith('p')
  const number = Number(isPassage ? id.slice(1) : id)
  return isPassage ? <PassagePanel id={number} {...props} /> : <ObservationPanel id={number} {...props} />
}

/** Escape closes the opened memory; then the focus returns to its row. */
function useCloseByKey(openId: string | null, href: string, list: { current: HTMLDivElement | null }): void {
  useShortcut((event) => {
    if (openId === null || event.key !== 'Escape') return
    event.preventDefault()
    navigate(href)
  })
  const lastOpen = useRef(openId)
  useEffect(() => {
    const closed = lastOpen.current
    lastOpen.current = openId
    if (openId !== null || closed === null) return
    list.current?.querySelector<HTMLElement>(`[data-address="${CSS.escape(closed)}"]`)?.focus({ preventScroll: true })
  }, [openId])
}

const MODES = { strict: 'by words', semantic: 'by meaning', hybrid: 'by words and meaning' } as const

function summaryText({ mode, total, hits, tookMs }: SearchAnswer): string {
  if (mode === 'filter') return `${hits.length} of ${fullCount(total)}`
  return `${countOf(total, 'hit')} ${MODES[mode]}, in ${durationText(tookMs)}`
}

function hitId({ kind, id }: Pick<SearchHit, 'kind' | 'id'>): string {
  return kind === 'passage' ? `p${id}` : `${id}`
}

interface HitListProps {
  answer: SearchAnswer
  query: MemoryQuery
  openId: string | null
}

function HitList({ answer: { hits, mode }, query, openId }: HitListProps) {
  // Rows that arrived since the list was opened are highlighted.
  const [openedAt] = useState(() => Date.now())
  if (hits.length === 0) return <NoMemories query={query} />
  const isRanked = mode !== 'filter'
  return (
    <ul class="rows" data-testid="memory-list" aria-label={isRanked ? 'Search results, best first' : 'Newest first'}>
      {hits.map((hit, i) => {
        const day = new Date(hit.createdAt).toDateString()
        const before = hits[i - 1]
        const startsDay = !isRanked && (before === undefined || day !== new Date(before.createdAt).toDateString())
        return (
          <>
            {startsDay ? (
              <li key={day} class="day small">
                {longDay(hit.createdAt)}
              </li>
            ) : null}
            <HitRow
              key={`${hit.kind} ${hit.id}`}
              hit={hit}
              query={query}
              open={openId === hitId(hit)}
              isNew={hit.createdAt > openedAt}
              isRanked={isRanked}
            />
          </>
        )
      })}
    </ul>
  )
}

interface HitRowProps {
  hit: SearchHit
  query: MemoryQuery
  open: boolean
  isNew: boolean
  isRanked: boolean
}

function HitRow({ hit, query, open, isNew, isRanked }: HitRowProps) {
  const { kind, type, id, session, promptNumber, passage, matched, createdAt } = hit
  const turn = viewHref('session', session, { turn: `${promptNumber}` })
  // What was said has no subject of its own: its words are the title.
  const isText = kind === 'prompt' || (kind === 'passage' && (passage?.subject ?? null) === null)
  const isTurn = kind === 'prompt' || kind === 'summary'
  return (
    <li
      class={`hit ${open ? 'open' : ''} ${isNew ? 'arrived' : ''}`}
      data-testid="memory-row"
      data-kind={kind}
      data-id={id}
    >
      <KindIcon kind={kind === 'observation' ? (type ?? 'change') : kind} />
      <div class="grow">
        <h2 class={hit.supersededBy === null ? 'clamp' : 'clamp superseded'} dir="auto">
          <a
            href={isTurn ? turn : memoryHref(query, hitId(hit))}
            data-row
            data-address={hitId(hit)}
            aria-current={open ? 'true' : undefined}
          >
            <Marked text={titleText(isText ? excerptAround(hit.snippet, matched) : hit.title)} words={matched} />
          </a>
        </h2>
        {isText ? null : (
          <p class="soft small ellipsis" dir="auto">
            <Marked text={excerptAround(hit.snippet, matched)} words={matched} />
          </p>
        )}
        <HitFacts hit={hit} turn={turn} />
      </div>
      <div class="hit-side small soft figure">
        <Time at={createdAt}>{isRanked ? shortDay(createdAt) : timeOfDay(createdAt)}</Time>
        {hit.pinned ? (
          <span class="accent" title="Pinned: always part of what a session is told">
            <Icon name="pin" size={15} />
            <span class="unseen">pinned</span>
          </span>
        ) : null}
      </div>
    </li>
  )
}

function HitFacts({ hit, turn }: { hit: SearchHit; turn: string }) {
  const { supersededBy, amendedBy, similar, kind, passage } = hit
  return (
    <p class="row wrap small soft">
      <span>{safeLine(hit.projectName)}</span>
      {passage === null ? null : (
        <>
          <span>
            {PASSAGE_LABELS[passage.kind]}
            {passage.outcome === 'failed' ? ', failed' : ''}
          </span>
          <a href={turn}>turn {hit.promptNumber}</a>
        </>
      )}
      <span class="figure">{kind === 'passage' ? `p${hit.id}` : kind === 'observation' ? `#${hit.id}` : kind}</span>
      <AuthorChip memory={hit} at={hit.createdAt} />
      {supersededBy === null ? null : <Chip tone="warn">superseded by #{supersededBy}</Chip>}
      {amendedBy.length === 0 ? null : <Chip tone="warn">amended by #{amendedBy.join(', #')}</Chip>}
      {similar.length === 0 ? null : <Chip>+{similar.length} similar</Chip>}
    </p>
  )
}

function Marked({ text, words }: { text: string; words: readonly string[] }) {
  return (
    <>
      {highlightPieces(text, words).map((piece, i) =>
        piece.marked ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>,
      )}
    </>
  )
}

function NoMemories({ query }: { query: MemoryQuery }) {
  const isFiltered = activeFilters(query.filters).length > 0
  if (query.text === '' && !isFiltered) {
    return (
      <EmptyState icon="memory" title="No observations yet">
        <p>Work with your agent as usual. Observations appear here automatically, shortly after each turn.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon="search" title="Nothing matches">
      <p>Try other words or fewer filters.</p>
      <a href={memoryHref({ ...EMPTY_MEMORY_QUERY, text: isFiltered ? query.text : '' })}>
        {isFiltered ? 'Search without filters' : 'Show all observations'}
      </a>
    </EmptyState>
  )
}
