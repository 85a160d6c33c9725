/**
 * A list of any length, of which only what can be seen is drawn. All rows are of one height: where a row stands is
 * known without the rows before it, so that a jump into the middle of a hundred thousand costs as much as one step.
 *
 * One row is the chosen one: `j` `k` and arrows move it, Home and End go to the ends, Enter opens it. A row's first link
 * takes the focus; only the chosen row's can be reached with Tab, so that Tab leads past the list.
 */
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Cell, useCell } from '../cell.ts'
import './virtual-list.css'
import { drawnRange, mostRows, type Range, scrollFor } from './pages.ts'

interface VirtualListProps {
  label: string
  count: number
  rowHeight: number
  /** The chosen row; -1: none yet. */
  chosen: number
  onChoose(index: number): void
  /** Tells rows apart however they move. */
  keyOf(index: number): string
  /** `tabIndex` is for the row's link, which is marked with `data-row-link`. */
  row(index: number, tabIndex: 0 | -1): ComponentChildren
  rowClass?(index: number): string
  /** What is drawn has changed. */
  onRange(range: Range): void
  onTop?(atTop: boolean): void
  /** Another one scrolls back to the top. */
  resetKey: string
  /** Above the rows while they scroll. `first`: the first row in sight. */
  top?(first: number): ComponentChildren
  testId?: string
}

/** Rows beyond either edge: what a fast wheel passes between two drawings. */
const BEYOND = 8
const STEP = 4
/** The bar above the rows, in px. */
const COVERED = 34

export function VirtualList(props: VirtualListProps) {
  const { label, rowHeight, chosen, onChoose, keyOf, row, rowClass, onRange, onTop, resetKey, top, testId } = props
  const count = Math.min(props.count, mostRows(rowHeight))
  const box = useRef<HTMLDivElement>(null)
  const rows = useRef<HTMLUListElement>(null)
  const toFocus = useRef<number | null>(null)
  const [place, setPlace] = useState({ scrollTop: 0, viewport: 800 })
  const range = drawnRange(place.scrollTop, place.viewport, rowHeight, count, BEYOND, STEP)
  // The first row in sight: most of the time nothing but the bar above changes with it.
  const [first] = useState(() => new Cell(0))

  const look = useCallback(() => {
    const at = box.current
    if (at === null) return
    const { scrollTop, clientHeight: viewport } = at
    onTop?.(scrollTop < rowHeight / 2)
    first.set(Math.floor(scrollTop / rowHeight))
    setPlace((before) => {
      const isNear = Math.floor(before.scrollTop / rowHeight / STEP) === Math.floor(scrollTop / rowHeight / STEP)
      return isNear && before.viewport === viewport ? before : { scrollTop, viewport }
    })
  }, [rowHeight, onTop, first])

  useLayoutEffect(() => {
    const at = box.current
    if (at === null) return
    let asked = 0
    const onScroll = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0
        look()
      })
    }
    at.addEventListener('scroll', onScroll, { passive: true })
    const sizes = new ResizeObserver(look)
    sizes.observe(at)
    look()
    return () => {
      cancelAnimationFrame(asked)
      at.removeEventListener('scroll', onScroll)
      sizes.disconnect()
    }
  }, [look])

  useLayoutEffect(() => {
    box.current?.scrollTo(0, 0)
    look()
  }, [resetKey])

  useEffect(() => onRange({ from: range.from, to: range.to }), [range.from, range.to, onRange])

  // The row that was moved to may only now be there.
  useLayoutEffect(() => {
    if (toFocus.current === null) return
    const link = rows.current?.querySelector<HTMLElement>(`[data-index="${toFocus.current}"] [data-row-link]`)
    if (link === null || link === undefined) return
    toFocus.current = null
    link.focus({ preventScroll: true })
  })

  const move = (to: number) => {
    const at = box.current
    const index = Math.max(0, Math.min(count - 1, to))
    if (at === null || count === 0) return
    const next = scrollFor(index, at.scrollTop, at.clientHeight, rowHeight, top === undefined ? 0 : COVERED)
    if (next !== null) at.scrollTo(0, next)
    toFocus.current = index
    onChoose(index)
    look()
    // The same row once more draws nothing, and takes the focus all the same.
    if (index === chosen) setPlace((before) => ({ ...before }))
  }

  const moveNow = useRef(move)
  moveNow.current = move
  const now = useRef({ chosen, count })
  now.current = { chosen, count }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isBusy(event)) return
      const inList = event.target instanceof Node && box.current?.contains(event.target) === true
      const { chosen: from, count: all } = now.current
      const to = nextOf(event.key, from === -1 ? first.value - (event.key === 'k' ? 0 : 1) : from, all, inList)
      if (to === null) return
      event.preventDefault()
      moveNow.current(to)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  const isDrawn = chosen >= range.from && chosen < range.to
  const reached = isDrawn ? chosen : Math.max(range.from, Math.min(range.to - 1, first.value))
  const drawn = Array.from({ length: range.to - range.from }, (_, i) => range.from + i)
  return (
    <div class="virtual" ref={box} data-testid={testId}>
      {top === undefined || count === 0 ? null : <Top first={first} count={count} top={top} />}
      <ul class="virtual-rows" ref={rows} aria-label={label} style={{ height: `${count * rowHeight}px` }}>
        {drawn.map((index) => (
          <li
            key={keyOf(index)}
            class={`virtual-row ${rowClass?.(index) ?? ''}`}
            data-index={index}
            aria-setsize={count}
            aria-posinset={index + 1}
            onFocusIn={() => onChoose(index)}
            style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
          >
            {row(index, index === reached ? 0 : -1)}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Top({ first, count, top }: { first: Cell<number>; count: number; top(first: number): ComponentChildren }) {
  return <>{top(Math.min(count - 1, useCell(first)))}</>
}

function nextOf(key: string, from: number, count: number, inList: boolean): number | null {
  if (key === 'j') return from + 1
  if (key === 'k') return from - 1
  if (!inList) return null
  if (key === 'ArrowDown') return from + 1
  if (key === 'ArrowUp') return from - 1
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : null
}

/** Somebody is typing, or a window is open above. */
function isBusy(event: KeyboardEvent): boolean {
  const field = event.target instanceof Element ? event.target.closest('input, textarea, select') : null
  return field !== null || document.querySelector('dialog[open]') !== null
}
