/** The list itself: rows, the day they are of, what waits at the top, and why a hit stands where it does. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useCell } from '../../cell.ts'
import { Icon } from '../../parts/icon.tsx'
import { mostRows, type Range } from '../../parts/pages.ts'
import { Empty, Trouble, Waiting } from '../../parts/plain.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { count, dayOf } from '../../times.ts'
import { ASKED_FOR_ALL, type Asked, filterCount, hrefsOf, memoryHref } from './asked.ts'
import { ScoreTable } from './explanation.tsx'
import { placeOf, type Row, rowKey } from './news.ts'
import { MemoryRow, ROW_HEIGHT, RowToCome } from './row.tsx'
import type { MemoryRows } from './rows.ts'
import './list.css'

interface MemoryListProps {
  rows: MemoryRows
  asked: Asked
  /** As it stands in the address; null: nothing is open. */
  open: string | null
  chosen: string | null
  onChoose(key: string): void
}

export function MemoryList({ rows, asked, open, chosen, onChoose }: MemoryListProps) {
  useCell(rows.version)
  const [explained, setExplained] = useState<{ row: Row; x: number; y: number } | null>(null)
  const [toTop, setToTop] = useState(0)
  const { answered, kept, error } = rows
  const hrefTo = useMemo(() => hrefsOf(asked), [asked])
  const onRange = useCallback((range: Range) => rows.show(range), [rows])
  const onTop = useCallback(
    (atTop: boolean) => {
      if (atTop && !rows.atTop) rows.letIn()
      rows.atTop = atTop
    },
    [rows],
  )
  const onExplain = useCallback((row: Row, at: HTMLElement) => {
    const { left, bottom } = at.getBoundingClientRect()
    setExplained({ row, x: left, y: bottom })
  }, [])

  if (answered === null) return error === null ? <Waiting rows={7} /> : <Failed rows={rows} />
  const isSearch = answered.mode !== 'filter'
  const best = isSearch ? Math.max(0, ...[kept.at(0), kept.at(1)].map((row) => row?.explanation.score ?? 0)) : null
  const most = mostRows(ROW_HEIGHT)
  const question = memoryHref(answered.asked)
  if (kept.count === 0) return <Nothing asked={answered.asked} />
  return (
    <div class={rows.loading ? 'memory-list asking' : 'memory-list'}>
      {error === null ? null : <Failed rows={rows} />}
      {isSearch ? <h2 class="unseen">Found</h2> : null}
      {kept.waiting === 0 ? null : (
        <button
          type="button"
          class="memory-new"
          data-testid="memory-new"
          onClick={() => {
            rows.letIn()
            setToTop(toTop + 1)
          }}
        >
          <Icon name="spark" size={15} />
          {count(kept.waiting)} new
        </button>
      )}
      <VirtualList
        label={isSearch ? 'Found, best first' : 'Memories, newest first'}
        testId="memory-list"
        count={kept.count}
        rowHeight={ROW_HEIGHT}
        resetKey={`${question} ${toTop}`}
        chosen={chosen === null ? -1 : kept.indexOf(chosen)}
        onChoose={(index) => {
          const row = kept.at(index)
          if (row !== undefined) onChoose(rowKey(row))
        }}
        keyOf={(index) => {
          const row = kept.at(index)
          return row === undefined ? `${index}` : rowKey(row)
        }}
        onRange={onRange}
        onTop={onTop}
        {...(isSearch ? {} : { top: (first: number) => <DayBar row={kept.at(first)} first={first} of={kept.count} /> })}
        row={(index, tabIndex) => {
          const row = kept.at(index)
          if (row === undefined) return <RowToCome />
          return (
            <MemoryRow
              row={row}
              href={hrefTo(placeOf(row))}
              tabIndex={tabIndex}
              open={open === placeOf(row)}
              isNew={rows.isNew(row)}
              opensDay={!isSearch && index > 0 && opensDay(row, kept.at(index - 1))}
              best={best}
              onExplain={onExplain}
            />
          )
        }}
      />
      {kept.count > most ? (
        <p class="memory-end soft">Only the newest {count(most)} are listed; filters reach the rest.</p>
      ) : null}
      {explained === null ? null : <Explained {...explained} onClose={() => setExplained(null)} />}
    </div>
  )
}

function opensDay(row: Row, before: Row | undefined): boolean {
  return before !== undefined && new Date(row.createdAt).toDateString() !== new Date(before.createdAt).toDateString()
}

function DayBar({ row, first, of }: { row: Row | undefined; first: number; of: number }) {
  return (
    <h2 class="memory-day-bar">
      <span>{row === undefined ? '…' : dayOf(row.createdAt)}</span>
      <span class="figure soft">
        {count(first + 1)} of {count(of)}
      </span>
    </h2>
  )
}

function Failed({ rows }: { rows: MemoryRows }) {
  return <Trouble text={rows.error ?? ''} retry={() => rows.refresh()} />
}

function Nothing({ asked }: { asked: Asked }) {
  if (asked.text === '' && filterCount(asked) === 0) {
    return (
      <Empty icon="memory" title="Nothing is remembered yet">
        <p>
          Work with your agent as always. What it learns on the way appears here by itself, a moment after each turn.
        </p>
        <p>To bring in what was learned before:</p>
        <pre>
          <code>claude-mem backfill</code>
        </pre>
      </Empty>
    )
  }
  return (
    <Empty icon="search" title="Nothing matches">
      <p>
        {asked.text === ''
          ? 'No memory passes all of these filters.'
          : 'No memory is about this, in these words or others. Fewer filters, or other words, may find it.'}
      </p>
      <a href={memoryHref({ ...ASKED_FOR_ALL, text: filterCount(asked) > 0 ? asked.text : '' })}>
        {filterCount(asked) > 0 ? 'Without the filters' : 'Show everything'}
      </a>
    </Empty>
  )
}

/** Beside what was pointed at, above everything; a click elsewhere or Escape closes it. */
function Explained({ row, x, y, onClose }: { row: Row; x: number; y: number; onClose(): void }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const at = box.current
    if (at === null) return
    at.showPopover()
    const { width, height } = at.getBoundingClientRect()
    at.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`
    at.style.top = `${y + height + 8 > innerHeight ? Math.max(8, y - height - 34) : y + 4}px`
    const onToggle = (event: Event) => {
      if (event instanceof ToggleEvent && event.newState === 'closed') onClose()
    }
    at.addEventListener('toggle', onToggle)
    return () => at.removeEventListener('toggle', onToggle)
  }, [row])
  return (
    <div ref={box} popover="auto" class="memory-explained" role="dialog" aria-label={`Why #${row.id} stands here`}>
      <ScoreTable explanation={row.explanation} />
    </div>
  )
}
