/**
 * A list of any length that renders only the visible rows. All rows have the same height, so a jump into the middle of
 * 100,000 rows costs as much as one step.
 *
 * One row is selected: `j`, `k` and the arrow keys move the selection, Home and End jump to the ends. The first link of
 * the row gets the focus. Only the link of the selected row is in the tab order, so that Tab leaves the list.
 *
 * Own code, because @tanstack/virtual-core replaces only the range computation and adds 10 KB (gzip).
 */
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Observable, useObservable } from '../observable.ts'
import { isShortcut, useKeyDown } from '../shortcuts.ts'

export interface RowRange {
  /** The first row. */
  from: number
  /** The row after the last. */
  to: number
}

/** Browsers do not lay out elements higher than about 17 million px. */
const MAX_HEIGHT_PX = 16_000_000
/** Rows rendered beyond either edge, for fast scrolling. */
const OVERSCAN = 8
/** The rendered range starts at a multiple of this, so that most scroll events render nothing. */
const RANGE_STEP = 4
/** Height of the bar above the rows, in px. */
const BAR_PX = 34

export function maxRows(rowHeight: number): number {
  return Math.floor(MAX_HEIGHT_PX / rowHeight)
}

/** The visible rows plus the overscan. */
export function renderedRange(
  scrollTop: number,
  viewport: number,
  rowHeight: number,
  count: number,
  overscan: number,
  step = 1,
): RowRange {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight)
  const visible = Math.ceil(viewport / rowHeight) + 1
  const from = Math.floor(Math.max(0, Math.min(first, count - visible) - overscan) / step) * step
  return { from, to: Math.min(count, from + visible + 2 * overscan + step) }
}

/** Scroll position that makes a row visible; null if it is visible. `covered`: px at the top that a bar covers. */
export function scrollTopFor(
  index: number,
  scrollTop: number,
  viewport: number,
  rowHeight: number,
  covered = 0,
): number | null {
  const top = index * rowHeight
  if (top < scrollTop + covered) return Math.max(0, top - covered)
  const bottom = top + rowHeight
  return bottom > scrollTop + viewport ? bottom - viewport : null
}

interface VirtualListProps {
  label: string
  count: number
  rowHeight: number
  /** -1: none. */
  selected: number
  onSelect(index: number): void
  /** Identifies a row when it moves. */
  rowKey(index: number): string
  /** `tabIndex` is for the link of the row, which needs the attribute `data-row-link`. */
  row(index: number, tabIndex: 0 | -1): ComponentChildren
  onRange(range: RowRange): void
  onTop(atTop: boolean): void
  /** A different key scrolls back to the top. */
  resetKey: string
  /** A bar above the rows. `first`: the first visible row. */
  bar?(first: number): ComponentChildren
  testId: string
}

export function VirtualList(props: VirtualListProps) {
  const { rowHeight, selected, onSelect, onRange, resetKey, bar } = props
  const count = Math.min(props.count, maxRows(rowHeight))
  const list = useRef<HTMLDivElement>(null)
  const { range, first, update } = useRenderedRange(list, count, props)
  const focusRow = useFocusRow(list)
  useLayoutEffect(() => {
    list.current?.scrollTo(0, 0)
    update()
  }, [resetKey])
  useEffect(() => onRange(range), [range.from, range.to, onRange])

  const moveTo = (target: number) => {
    if (list.current === null || count === 0) return
    const index = Math.max(0, Math.min(count - 1, target))
    const { scrollTop, clientHeight } = list.current
    const next = scrollTopFor(index, scrollTop, clientHeight, rowHeight, bar === undefined ? 0 : BAR_PX)
    if (next !== null) list.current.scrollTo(0, next)
    focusRow(index)
    onSelect(index)
    update()
  }
  useKeyDown((event) => {
    if (!isShortcut(event)) return
    const inList = event.target instanceof Node && list.current?.contains(event.target) === true
    const from = selected === -1 ? first.value - (event.key === 'k' ? 0 : 1) : selected
    const target = keyTarget(event.key, from, count, inList)
    if (target === null) return
    moveTo(target)
    event.preventDefault()
  })

  const isRendered = selected >= range.from && selected < range.to
  const inTabOrder = isRendered ? selected : Math.max(range.from, Math.min(range.to - 1, first.value))
  const indices = Array.from({ length: range.to - range.from }, (_, i) => range.from + i)
  return (
    <div class="virtual" ref={list} data-testid={props.testId}>
      {bar === undefined || count === 0 ? null : <Bar first={first} count={count} bar={bar} />}
      <ul class="virtual-rows" aria-label={props.label} style={{ height: `${count * rowHeight}px` }}>
        {indices.map((index) => (
          <li
            key={props.rowKey(index)}
            class="virtual-row"
            data-index={index}
            aria-setsize={count}
            aria-posinset={index + 1}
            onFocusIn={() => onSelect(index)}
            style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
          >
            {props.row(index, index === inTabOrder ? 0 : -1)}
          </li>
        ))}
      </ul>
    </div>
  )
}

type ListRef = { current: HTMLDivElement | null }

/** Follows scrolling and resizing. `first` is separate from the range: usually only the bar changes with it. */
function useRenderedRange(list: ListRef, count: number, { rowHeight, onTop }: VirtualListProps) {
  const [position, setPosition] = useState({ scrollTop: 0, viewport: 800 })
  const [first] = useState(() => new Observable(0))
  const update = useCallback(() => {
    if (list.current === null) return
    const { scrollTop, clientHeight: viewport } = list.current
    onTop(scrollTop < rowHeight / 2)
    first.set(Math.floor(scrollTop / rowHeight))
    const step = (top: number) => Math.floor(top / rowHeight / RANGE_STEP)
    setPosition((before) =>
      step(before.scrollTop) === step(scrollTop) && before.viewport === viewport ? before : { scrollTop, viewport },
    )
  }, [rowHeight, onTop, first])
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    let frame = 0
    const onScroll = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        update()
      })
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    const resizes = new ResizeObserver(update)
    resizes.observe(element)
    update()
    return () => {
      cancelAnimationFrame(frame)
      element.removeEventListener('scroll', onScroll)
      resizes.disconnect()
    }
  }, [update])
  const range = renderedRange(position.scrollTop, position.viewport, rowHeight, count, OVERSCAN, RANGE_STEP)
  return { range, first, update }
}

/** Returns a function that focuses the link of a row as soon as the row is rendered. */
function useFocusRow(list: ListRef): (index: number) => void {
  const pending = useRef<number | null>(null)
  const focusPending = () => {
    if (pending.current === null) return
    const link = list.current?.querySelector<HTMLElement>(`[data-index="${pending.current}"] [data-row-link]`)
    if (link === null || link === undefined) return
    pending.current = null
    link.focus({ preventScroll: true })
  }
  useLayoutEffect(focusPending)
  return (index) => {
    pending.current = index
    focusPending()
  }
}

/** The arrow keys, Home and End belong to the list only while the focus is in it. */
function keyTarget(key: string, from: number, count: number, inList: boolean): number | null {
  if (key === 'j' || (inList && key === 'ArrowDown')) return from + 1
  if (key === 'k' || (inList && key === 'ArrowUp')) return from - 1
  if (!inList) return null
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : null
}

interface BarProps {
  first: Observable<number>
  count: number
  bar(first: number): ComponentChildren
}

function Bar({ first, count, bar }: BarProps) {
  return <>{bar(Math.min(count - 1, useObservable(first)))}</>
}
