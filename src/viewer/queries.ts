/** Hooks that load data from the daemon and load it again when it may have changed. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import { errorMessage } from '../lib/errors.ts'
import type { StreamMessage } from '../transport/messages.ts'
import { callDaemon, connectionState, loadGeneration, onStreamMessages } from './connection.ts'
import { useObservable } from './observable.ts'

export interface Query<T> {
  /** The newest answer for this key. It stays while a reload is in progress. */
  data: T | null
  error: string | null
  loading: boolean
  reload(): void
}

/** `key` identifies the request: another key is another request. Loads again after a gap in the stream. */
export function useQuery<T>(key: string, load: () => Promise<T>): Query<T> {
  const generation = useObservable(loadGeneration)
  const live = useObservable(connectionState) === 'live'
  const [reloads, setReloads] = useState(0)
  const [state, setState] = useState<{ key: string; data: T | null; error: string | null }>({
    key,
    data: null,
    error: null,
  })
  const [loading, setLoading] = useState(true)
  useEffect(() => {
    if (!live || generation === 0) return
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
        setState((before) => ({ key, data: before.key === key ? before.data : null, error: errorMessage(error) }))
        setLoading(false)
      },
    )
    return () => {
      current = false
    }
  }, [key, generation, live, reloads])
  const reload = useCallback(() => setReloads((n) => n + 1), [])
  return { data: state.key === key ? state.data : null, error: state.error, loading, reload }
}

/** The output of an operation. Another input is another request. */
export function useOperation<N extends OperationName>(name: N, ...args: CallArguments<N>): Query<OutputOf<N>> {
  return useQuery(`${name} ${JSON.stringify(args)}`, () => callDaemon(name, ...args))
}

/** Changes within this time cause one request, in ms. */
const THROTTLE_MS = 350

/** Reloads the query at most once per `throttleMs` while matching stream messages arrive. */
export function useLive<T>(
  query: Query<T>,
  matches: (message: StreamMessage) => boolean = isMemoryChange,
  throttleMs = THROTTLE_MS,
): Query<T> {
  const { reload } = query
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = onStreamMessages((messages) => {
      if (!messages.some(matches)) return
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, throttleMs)
    })
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [reload, throttleMs])
  return query
}

/** True for stream messages after which lists of memories may be different. */
export function isMemoryChange(message: StreamMessage): boolean {
  if (message.type === 'change') return true
  return message.observations.length + message.summaries.length + message.newPrompts.length > 0
}

export function useProjects() {
  const { data, error, reload } = useLive(useOperation('projects'), (message) => message.type === 'change')
  return { projects: data?.projects ?? null, error, reload }
}

/** The last value that was not null: keeps the previous answer on the page while the next one loads. */
export function useLast<T>(value: T | null): T | null {
  const [last, setLast] = useState(value)
  if (value !== null && value !== last) setLast(value)
  return value ?? last
}
