/** The list of memories: rows of equal height, the day of the first visible row, and the button for new memories. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { PASSAGE_LABELS } from '../../../domain/passage.ts'
import type { HitPassage, SearchHit } from '../../../domain/search-query.ts'
import { AuthorChip } from '../../author.tsx'
import { EmptyState, ErrorNotice, LoadingRows } from '../../components/basics.tsx'
import { Icon, KindIcon } from '../../components/icon.tsx'
import { maxRows, type RowRange, VirtualList } from '../../components/virtual-list.tsx'
import { compactCount, fullCount, longDay, shortDay, Time, timeOfDay } from '../../format.tsx'
import { useObservable } from '../../observable.ts'
import { viewHref } from '../../route.ts'
import { excerptAround, highlightPieces, safeLine } from '../../safe-text.ts'
import { activeFilters, EMPTY_MEMORY_QUERY, type MemoryQuery, memoryHref } from './memory-query.ts'
import { type MemoryRows, memoryAddressId, memoryKey } from './memory-rows.ts'
import { ScoreBar, ScoreTable } from './score.tsx'

/** In px, as in memory.css. */
const ROW_HEIGHT = 88
/** File names in a row. */
const MAX_ROW_FILES = 2

interface MemoryListProps {
  rows: MemoryRows
  query: MemoryQuery
  /** Id of the opened memory, as in the address. */
  openId: string | null
  /** Key of the selected row. */
  selected: string | null
  onSelect(key: string): void
}

export function MemoryList({ rows, query, openId, selected, onSelect }: MemoryListProps) {
  useObservable(rows.version)
  const [explained, setExplained] = useState<{ row: SearchHit; x: number; y: number } | null>(null)
  const [scrollsToTop, setScrollsToTop] = useState(0)
  const onRange = useCallback((range: RowRange) => rows.show(range), [rows])
  const onTop = useCallback((atTop: boolean) => rows.setAtTop(atTop), [rows])
  const onExplain = useCallback((row: SearchHit, button: HTMLElement) => {
    const { left, bottom } = button.getBoundingClientRect()
    setExplained({ row, x: left, y: bottom })
  }, [])

  const { answered, error, isRanked, count } = rows
  const errorNotice = <ErrorNotice text={error} retry={() => void rows.refresh()} />
  if (answered === null) return error === null ? <LoadingRows rows={7} /> : errorNotice
  if (count === 0) return <NoMemories query={answered.query} />
  const bestScore = isRanked ? Math.max(0, ...[rows.at(0), rows.at(1)].map((row) => row?.explanation.score ?? 0)) : null
  const renderRow = (index: number, tabIndex: 0 | -1) => {
    const row = rows.at(index)
    if (row === undefined) return <RowPlaceholder />
    return (
      <MemoryRow
        row={row}
        href={memoryHref(query, memoryAddressId(row))}
        tabIndex={tabIndex}
        open={openId === memoryAddressId(row)}
        isNew={rows.isNew(row)}
        startsDay={!isRanked && startsDay(row, rows.at(index - 1))}
        bestScore={bestScore}
        onExplain={onExplain}
      />
    )
  }
  const rowKeyAt = (index: number) => {
    const row = rows.at(index)
    return row === undefined ? null : memoryKey(row)
  }
  return (
    <div class={rows.loading ? 'memory-list column loading-search' : 'memory-list column'}>
      {errorNotice}
      {isRanked ? <h2 class="unseen">Search results</h2> : null}
      <NewMemories waiting={rows.waiting} onShow={() => setScrollsToTop(scrollsToTop + 1)} />
      <VirtualList
        label={isRanked ? 'Search results, best first' : 'Memories, newest first'}
        testId="memory-list"
        count={count}
        rowHeight={ROW_HEIGHT}
        resetKey={`${memoryHref(answered.query)} ${scrollsToTop}`}
        selected={selected === null ? -1 : rows.indexOf(selected)}
        onSelect={(index) => {
          const key = rowKeyAt(index)
          if (key !== null) onSelect(key)
        }}
        rowKey={(index) => rowKeyAt(index) ?? `${index}`}
        onRange={onRange}
        onTop={onTop}
        {...(isRanked ? {} : { bar: (first: number) => <DayBar row={rows.at(first)} first={first} of={count} /> })}
        row={renderRow}
      />
      {count > maxRows(ROW_HEIGHT) ? (
        <p class="memory-end soft">
          Only the newest {fullCount(maxRows(ROW_HEIGHT))} are listed. Use filters to find older ones.
        </p>
      ) : null}
      {explained === null ? null : <ScorePopover {...explained} onClose={() => setExplained(null)} />}
    </div>
  )
}

function NewMemories({ waiting, onShow }: { waiting: number; onShow(): void }) {
  if (waiting === 0) return null
  return (
    <button type="button" class="memory-new primary" data-testid="memory-new" onClick={onShow}>
      <Icon name="spark" size={15} />
      {fullCount(waiting)} new
    </button>
  )
}

function startsDay(row: SearchHit, before: SearchHit | undefined): boolean {
  return before !== undefined && new Date(row.createdAt).toDateString() !== new Date(before.createdAt).toDateString()
}

function DayBar({ row, first, of }: { row: SearchHit | undefined; first: number; of: number }) {
  return (
    <h2 class="memory-day-bar row spread smaller">
      <span>{row === undefined ? '…' : longDay(row.createdAt)}</span>
      <span class="figure soft">
        {fullCount(first + 1)} of {fullCount(of)}
      </span>
    </h2>
  )
}

function NoMemories({ query }: { query: MemoryQuery }) {
  const isFiltered = activeFilters(query.filters).length > 0
  if (query.text === '' && !isFiltered) {
    return (
      <EmptyState icon="memory" title="No memories yet">
        <p>Work with your agent as usual. Observations appear here automatically, shortly after each turn.</p>
        <p>To import your earlier sessions, run:</p>
        <pre>
          <code>claude-mem backfill</code>
        </pre>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon="search" title="Nothing matches">
      <p>
        {query.text === ''
          ? 'No memory matches all of these filters.'
          : 'No memory matches this search. Try other words or fewer filters.'}
      </p>
      <a href={memoryHref({ ...EMPTY_MEMORY_QUERY, text: isFiltered ? query.text : '' })}>
        {isFiltered ? 'Search without filters' : 'Show all memories'}
      </a>
    </EmptyState>
  )
}

/** Why a hit has its rank, next to the button that was clicked. A click elsewhere or Escape closes it. */
function ScorePopover({ row, x, y, onClose }: { row: SearchHit; x: number; y: number; onClose(): void }) {
  const popover = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = popover.current
    if (element === null) return
    element.showPopover()
    const { width, height } = element.getBoundingClientRect()
    element.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`
    element.style.top = `${y + height + 8 > innerHeight ? Math.max(8, y - height - 34) : y + 4}px`
    const onToggle = (event: Event) => {
      if (event instanceof ToggleEvent && event.newState === 'closed') onClose()
    }
    element.addEventListener('toggle', onToggle)
    return () => element.removeEventListener('toggle', onToggle)
  }, [row])
  return (
    <div
      ref={popover}
      popover="auto"
      class="memory-explained popup"
      role="dialog"
      aria-label={`Why ${shownNumber(row)} has this rank`}
    >
      <ScoreTable hit={row} />
    </div>
  )
}

interface MemoryRowProps {
  row: SearchHit
  href: string
  tabIndex: 0 | -1
  open: boolean
  isNew: boolean
  /** The first of its day in a list that is ordered by time. */
  startsDay: boolean
  /** Score of the best hit; null without a search text. */
  bestScore: number | null
  onExplain(row: SearchHit, button: HTMLElement): void
}

function MemoryRow(props: MemoryRowProps) {
  const { row, href, tabIndex, open, isNew, bestScore, onExplain } = props
  const { kind, createdAt, matched } = row
  const marks = [open ? 'open' : '', isNew ? 'arrived' : '']
  const superseded = row.supersededBy === null ? '' : 'superseded'
  // A prompt has no title, and what was said has no subject: the text takes two lines.
  const isText = kind === 'prompt' || (kind === 'passage' && (row.passage?.subject ?? null) === null)
  // Memoized, because most renderings only move rows.
  return useMemo(
    () => (
      <article
        class={`memory-row ${isText ? 'row-text' : ''} ${marks.join(' ')}`}
        data-testid="memory-row"
        data-kind={kind}
        data-id={row.id}
      >
        {props.startsDay ? <h2 class="memory-day">{longDay(createdAt)}</h2> : null}
        <KindIcon kind={kind === 'observation' ? (row.type ?? 'change') : kind} />
        <div>
          <h3 class={`memory-row-title ${isText ? 'clamp' : 'ellipsis'} ${superseded}`} dir="auto">
            <a href={href} tabIndex={tabIndex} data-row-link aria-current={open ? 'true' : undefined}>
              <Highlighted
                text={(isText ? excerptAround(row.snippet, matched) : row.title) || '(no title)'}
                words={matched}
              />
            </a>
          </h3>
          {isText ? null : (
            <p class="memory-row-snippet soft ellipsis" dir="auto">
              <Highlighted text={excerptAround(row.snippet, matched)} words={matched} />
            </p>
          )}
          <RowDetails row={row} bestScore={bestScore} onExplain={onExplain} />
        </div>
        <div class="memory-row-side smaller soft figure">
          <Time at={createdAt}>{bestScore === null ? timeOfDay(createdAt) : hitDate(createdAt)}</Time>
          {row.pinned ? (
            <span class="accent" title="Pinned: always part of the context">
              <Icon name="pin" size={15} />
              <span class="unseen">pinned</span>
            </span>
          ) : null}
        </div>
      </article>
    ),
    [row, href, tabIndex, open, isNew, props.startsDay, bestScore, onExplain],
  )
}

function RowDetails({ row, bestScore, onExplain }: Pick<MemoryRowProps, 'row' | 'bestScore' | 'onExplain'>) {
  const { supersededBy, amendedBy, similar, further, files, kind, passage } = row
  return (
    <p class="memory-row-foot smaller soft row">
      <span class="memory-row-project ellipsis" title="Project">
        {safeLine(row.projectName)}
      </span>
      <span class="figure" title={`Number of the ${kind}`}>
        {shownNumber(row)}
      </span>
      <AuthorChip memory={row} at={row.createdAt} />
      {passage === null ? null : <PassageLabel row={row} passage={passage} />}
      {supersededBy === null ? null : <span class="chip warn">superseded by #{supersededBy}</span>}
      {amendedBy.length === 0 ? null : <span class="chip warn">amended by #{amendedBy.join(', #')}</span>}
      {similar.length === 0 ? null : (
        <span class="chip" title={`Says the same: ${similar.map((one) => `#${one}`).join(', ')}`}>
          +{fullCount(similar.length)} similar
        </span>
      )}
      {further.length === 0 ? null : (
        <span title="The next best of the same turn">also {further.map(shownNumber).join(', ')}</span>
      )}
      {files.slice(0, MAX_ROW_FILES).map((file) => (
        <span key={file} class="mono memory-row-file ellipsis" title={safeLine(file, 500)}>
          {safeLine(baseName(file))}
        </span>
      ))}
      {files.length > MAX_ROW_FILES ? (
        <span class="memory-row-file">+{fullCount(files.length - MAX_ROW_FILES)} files</span>
      ) : null}
      <span class="figure memory-row-tokens" title={`About ${fullCount(row.tokens)} tokens to read it whole`}>
        ~{compactCount(row.tokens)} tokens
      </span>
      {bestScore === null ? null : (
        <button
          type="button"
          class="plain score-button smaller"
          aria-label={`Why ${shownNumber(row)} has this rank: score ${row.explanation.score.toFixed(2)}`}
          title="Why it has this rank"
          onClick={(event) => onExplain(row, event.currentTarget)}
        >
          <ScoreBar explanation={row.explanation} best={bestScore} />
          <span class="figure">{row.explanation.score.toFixed(2)}</span>
        </button>
      )}
    </p>
  )
}

/** `p12` of a passage, `#12` of others. */
function shownNumber({ kind, id }: Pick<SearchHit, 'kind' | 'id'>): string {
  return kind === 'passage' ? `p${id}` : `#${id}`
}

/** What the passage is, with a link to its turn. */
function PassageLabel({ row: { session, promptNumber }, passage }: { row: SearchHit; passage: HitPassage }) {
  const name = PASSAGE_LABELS[passage.kind]
  const label = passage.outcome === 'failed' ? `${name}, failed` : name
  const turn = promptNumber > 0 ? `${promptNumber}` : ''
  return (
    <>
      <span title="Kind of the passage">{label}</span>
      <a class="memory-row-turn" href={viewHref('session', session, { turn })} title={`Session ${safeLine(session)}`}>
        {turn === '' ? 'session' : `turn ${turn}`}
      </a>
    </>
  )
}

function hitDate(at: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear()
  return isThisYear ? shortDay(at) : new Date(at).toLocaleDateString(undefined, { month: 'short', year: 'numeric' })
}

function baseName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path
}

function Highlighted({ text, words }: { text: string; words: readonly string[] }) {
  return (
    <>
      {highlightPieces(safeLine(text), words).map((piece, i) =>
        piece.marked ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>,
      )}
    </>
  )
}

function RowPlaceholder() {
  return (
    <div class="memory-row placeholder" aria-hidden="true">
      <span />
      <span />
      <span />
    </div>
  )
}
