/** What was learned: the list, and beside it what is open. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useCell } from '../../cell.ts'
import { ask, connectionState, generation, onItems } from '../../connection.ts'
import { go, route } from '../../route.ts'
import { type Asked, askedOf, memoryHref } from './asked.ts'
import { MemoryHead } from './head.tsx'
import { MemoryList } from './list.tsx'
import { Opened } from './opened.tsx'
import { RememberDialog } from './remember-dialog.tsx'
import { MemoryRows } from './rows.ts'
import './memory.css'

/** From here on the open one stands beside the list, as in memory.css. */
const BESIDE = '(min-width: 1100px)'

export function MemoryView() {
  const { id: open, query } = useCell(route)
  const round = useCell(generation)
  const live = useCell(connectionState) === 'live'
  const beside = useMedia(BESIDE)
  const question = memoryHref(askedOf(query))
  const asked = useMemo(() => askedOf(query), [question])
  const rows = useMemo(
    () => new MemoryRows(async (request) => (await ask('found', { type: 'search', request })).answer),
    [],
  )
  const [chosen, setChosen] = useState<string | null>(null)
  const [remembering, setRemembering] = useState(false)
  const list = useRef<HTMLDivElement>(null)

  // A connection that comes back without a gap changes nothing that is shown.
  const last = useRef<{ asked: Asked | null; round: number }>({ asked: null, round: 0 })
  useEffect(() => {
    const isShown = last.current.asked === asked && last.current.round === round && rows.error === null
    if (!live || round === 0 || isShown) return
    last.current = { asked, round }
    void rows.look(asked)
  }, [rows, asked, round, live])
  useEffect(() => onItems((items) => rows.hear(items)), [rows])
  useEffect(() => () => rows.stop(), [rows])

  const close = () => go(memoryHref(asked))
  useEscape(open !== null, close)
  // Whoever closes what was open goes on where it was opened.
  const opened = useRef(open)
  useEffect(() => {
    const before = opened.current
    opened.current = open
    if (open !== null || before === null) return
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])]
    const link = links.find((one) => one.getAttribute('href') === memoryHref(asked, before))
    const reachable = links.find((one) => one.tabIndex === 0)
    ;(link ?? reachable)?.focus({ preventScroll: true })
  }, [open])

  return (
    <div class={open === null ? 'memory' : 'memory has-open'}>
      <div class="memory-main" ref={list} inert={open !== null && !beside}>
        <MemoryHead asked={asked} open={open} rows={rows} onRemember={() => setRemembering(true)} />
        <MemoryList rows={rows} asked={asked} open={open} chosen={chosen} onChoose={setChosen} />
      </div>
      {open === null ? null : <Opened key={open} place={open} asked={asked} rows={rows} onClose={close} />}
      {remembering ? (
        <RememberDialog
          project={asked.project}
          onClose={() => setRemembering(false)}
          onRemembered={(id) => go(memoryHref(asked, `${id}`))}
        />
      ) : null}
    </div>
  )
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const onChange = () => setMatches(media.matches)
    media.addEventListener('change', onChange)
    return () => media.removeEventListener('change', onChange)
  }, [query])
  return matches
}

function useEscape(active: boolean, close: () => void): void {
  const now = useRef(close)
  now.current = close
  useEffect(() => {
    if (!active) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      const inField = event.target instanceof Element && event.target.closest('input, textarea, select') !== null
      if (inField || document.querySelector('dialog[open], [popover]:popover-open') !== null) return
      event.preventDefault()
      now.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [active])
}
