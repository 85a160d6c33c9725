/** Access of this tab to the daemon, and its WebSocket connection: requests, and the stream of changes in batches. */
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import { LiveConnection, type LiveState } from '../transport/live-connection.ts'
import type { StreamMessage } from '../transport/messages.ts'
import { Observable } from './observable.ts'

/** Key in `sessionStorage`: the token belongs to this tab and is gone when the tab is closed. */
const TOKEN_KEY = 'claude-mem-token'
/** The one-time code in the link that `claude-mem viewer` opens. */
const ACCESS_CODE = /^#open=([\w-]+)$/

type ViewerAccess = { token: string } | { token: null; reason: string }

/** Exchanges the code of the address for a token, or takes the stored token. */
export async function openAccess(): Promise<ViewerAccess> {
  const code = ACCESS_CODE.exec(location.hash)?.[1]
  if (code === undefined) return storedAccess()
  // The code must not stay in the address bar or the history, even if it is refused.
  history.replaceState(null, '', location.pathname)
  const response = await fetch('/api/viewer/open', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const body: { token?: string; error?: { message?: string } } = await response.json()
  if (!response.ok || body.token === undefined) {
    const earlier = storedAccess()
    return earlier.token === null
      ? { token: null, reason: body.error?.message ?? 'The link was not accepted.' }
      : earlier
  }
  sessionStorage.setItem(TOKEN_KEY, body.token)
  return { token: body.token }
}

/** A new link pasted into an open tab only changes the hash, which does not load the page again. */
export function reloadOnNewLink(): void {
  addEventListener('hashchange', () => {
    if (ACCESS_CODE.test(location.hash)) location.reload()
  })
}

function storedAccess(): ViewerAccess {
  const token = sessionStorage.getItem(TOKEN_KEY)
  return token === null ? { token: null, reason: '' } : { token }
}

export const connectionState = new Observable<LiveState>('connecting')
/** Increases whenever stream messages were missed and everything on the page must be loaded again. */
export const loadGeneration = new Observable(0)
/** When the connection was lost; null while it is live. */
export const staleSince = new Observable<number | null>(null)
/** The daemon refused the token: the user needs a new link. */
export const accessDenied = new Observable(false)

type Listener = (items: readonly StreamMessage[]) => void
const listeners = new Set<Listener>()
/** Stream messages are delivered in batches, in ms: at 200 a second the page renders at most 16 times a second. */
const BATCH_MS = 60

let channel: LiveConnection | null = null
let batch: StreamMessage[] = []

export function connectToDaemon(token: string): void {
  channel = new LiveConnection({
    open: () => new WebSocket(`ws://${location.host}/`, ['claude-mem.v1', `token.${token}`]),
    onLoad: () => loadGeneration.set(loadGeneration.value + 1),
    onItem: (item) => {
      if (batch.push(item) === 1) setTimeout(deliverBatch, BATCH_MS)
    },
    onState: (state) => {
      connectionState.set(state)
      staleSince.set(state === 'stale' ? Date.now() : null)
    },
    onBroken: () => void checkAccess(token),
  })
  channel.start()
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') channel?.reconnectNow()
  })
}

/** Rejects while there is no connection. `useQuery` repeats its request when there is one again. */
export async function callDaemon<N extends OperationName>(name: N, ...args: CallArguments<N>): Promise<OutputOf<N>> {
  if (channel === null) throw new Error('The page is not connected to the daemon yet. Try again in a moment.')
  return await channel.call(name, ...args)
}

/** Messages in order of their `seq`, in batches. Returns the function that unsubscribes. */
export function onStreamMessages(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function deliverBatch(): void {
  const items = batch
  batch = []
  for (const listener of [...listeners]) listener(items)
}

async function checkAccess(token: string): Promise<void> {
  try {
    const response = await fetch('/api/health', { headers: { authorization: `Bearer ${token}` } })
    if (response.status !== 401) return
  } catch {
    // The daemon does not answer: the token may still be valid.
    return
  }
  channel?.close()
  sessionStorage.removeItem(TOKEN_KEY)
  accessDenied.set(true)
}
