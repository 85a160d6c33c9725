/** What a view asks the daemon for: again after a gap in the stream, and whenever what it depends on changes. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { messageOf } from '../errors.ts'
import { useCell } from './cell.ts'
import { connectionState, generation } from './connection.ts'

export interface Loaded<T> {
  /** The newest answer; of an earlier question while the next one is on its way. */
  data: T | null
  error: string | null
  loading: boolean
  reload(): void
}

/** `key` names the question: another key is another question. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const round = useCell(generation)
  const live = useCell(connectionState) === 'live'
  const [again, setAgain] = useState(0)
  const [state, setState] = useState<{ key: string; data: T | null; error: string | null }>({
    key,
    data: null,
    error: null,
  })
  const [loading, setLoading] = useState(true)
  // `key` stands for `load`; `round` and `again` ask once more.
  useEffect(() => {
    if (!live || round === 0) return
    let current = true
    setLoading(true)
    load().then(
      (data) => {
        if (!current) return
        setState({ key, data, error: null })
        setLoading(false)
      },
      (error: unknown) => {
        if (!current) return
        setState((before) => ({ key, data: before.key === key ? before.data : null, error: messageOf(error) }))
        setLoading(false)
      },
    )
    return () => {
      current = false
    }
  }, [key, round, live, again])
  const reload = useCallback(() => setAgain((n) => n + 1), [])
  return { data: state.key === key ? state.data : null, error: state.error, loading, reload }
}
