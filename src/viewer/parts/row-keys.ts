/** `j` and `k` go through the rows of a list: whatever in it is marked with `data-row`. */
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const follow = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key !== 'j' && event.key !== 'k') return
      const typing = event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null
      if (typing || list.current === null) return
      const rows = [...list.current.querySelectorAll<HTMLElement>('[data-row]')]
      const at = rows.findIndex((row) => row.matches(':focus'))
      const next = rows[at === -1 ? 0 : at + (event.key === 'j' ? 1 : -1)]
      if (next === undefined) return
      next.focus()
      next.scrollIntoView({ block: 'nearest' })
      event.preventDefault()
    }
    addEventListener('keydown', follow)
    return () => removeEventListener('keydown', follow)
  }, [list])
}
