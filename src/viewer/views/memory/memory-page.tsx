/** The memory view: a searchable list, and the opened memory beside it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { callDaemon, connectionState, loadGeneration, onStreamMessages } from '../../connection.ts'
import { useObservable } from '../../observable.ts'
import { currentRoute, navigate } from '../../route.ts'
import { isTyping, useKeyDown } from '../../shortcuts.ts'
import { RememberDialog } from './dialogs.tsx'
import { MemoryList } from './memory-list.tsx'
import { type MemoryQuery, memoryHref, parseMemoryQuery } from './memory-query.ts'
import { MemoryRows } from './memory-rows.ts'
import { OpenMemory } from './open-memory.tsx'
import { SearchBar } from './search-bar.tsx'
import './memory.css'

/** From this width on the opened memory is beside the list, as in memory.css. */
const WIDE = '(min-width: 1100px)'

export function MemoryPage() {
  const { id: openId, query: parameters } = useObservable(currentRoute)
  const isWide = useMediaQuery(WIDE)
  // The same address must give the same object, because the rows compare queries by identity.
  const href = memoryHref(parseMemoryQuery(parameters))
  const query = useMemo(() => parseMemoryQuery(parameters), [href])
  const rows = useMemoryRows(query)
  const [selected, setSelected] = useState<string | null>(null)
  const [remembering, setRemembering] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const close = () => navigate(href)
  useKeyDown((event) => {
    if (openId === null || event.key !== 'Escape' || event.defaultPrevented || isTyping(event)) return
    if (document.querySelector('dialog[open], [popover]:popover-open') !== null) return
    event.preventDefault()
    close()
  })
  // After closing, the focus returns to the row that was opened.
  const lastOpen = useRef(openId)
  useEffect(() => {
    const closed = lastOpen.current
    lastOpen.current = openId
    if (openId !== null || closed === null) return
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])]
    const link = links.find((one) => one.getAttribute('href') === memoryHref(query, closed))
    const inTabOrder = links.find((one) => one.tabIndex === 0)
    ;(link ?? inTabOrder)?.focus({ preventScroll: true })
  }, [openId])

  return (
    <div class={openId === null ? 'memory' : 'memory has-open'}>
      <div class="memory-main column" ref={list} inert={openId !== null && !isWide}>
        <SearchBar query={query} openId={openId} rows={rows} onRemember={() => setRemembering(true)} />
        <MemoryList rows={rows} query={query} openId={openId} selected={selected} onSelect={setSelected} />
      </div>
      {openId === null ? null : <OpenMemory key={openId} id={openId} query={query} rows={rows} onClose={close} />}
      {remembering ? (
        <RememberDialog
          project={query.filters.project}
          onClose={() => setRemembering(false)}
          onRemembered={(id) => navigate(memoryHref(query, `${id}`))}
        />
      ) : null}
    </div>
  )
}

function useMemoryRows(query: MemoryQuery): MemoryRows {
  const generation = useObservable(loadGeneration)
  const live = useObservable(connectionState) === 'live'
  const rows = useMemo(
    () => new MemoryRows(async ({ filters, ...rest }) => (await callDaemon('search', { ...rest, ...filters })).answer),
    [],
  )
  // A connection that was restored without missed messages needs no new search.
  const last = useRef<{ query: MemoryQuery | null; generation: number }>({ query: null, generation: 0 })
  useEffect(() => {
    const isCurrent = last.current.query === query && last.current.generation === generation && rows.error === null
    if (!live || generation === 0 || isCurrent) return
    last.current = { query, generation }
    void rows.search(query)
  }, [rows, query, generation, live])
  useEffect(() => onStreamMessages((messages) => rows.onStreamMessages(messages)), [rows])
  useEffect(() => () => rows.stop(), [rows])
  return rows
}

function useMediaQuery(media: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(media).matches)
  useEffect(() => {
    const list = matchMedia(media)
    const onChange = () => setMatches(list.matches)
    list.addEventListener('change', onChange)
    return () => list.removeEventListener('change', onChange)
  }, [media])
  return matches
}
