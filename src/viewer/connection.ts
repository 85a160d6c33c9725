/** Access of this tab to the daemon, and its WebSocket connection: requests, and the stream of changes in batches. */
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import { LiveConnection, type LiveState } from '../transport/live-connection.ts'
import type { StreamMessage } from '../transport/messages.ts'
import {
  computeProof,
  deriveProofKey,
  makeNonce,
  parseViewerToken,
  VIEWER_PROVE_PATH,
} from '../transport/viewer-proof.ts'
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
  return token === null || parseViewerToken(token) === null ? { token: null, reason: '' } : { token }
}

export const connectionState = new Observable<LiveState>('connecting')
/** Increases whenever stream messages were missed and everything on the page must be loaded again. */
export const loadGeneration = new Observable(0)
/** When the connection was lost; null while it is live. */
export const staleSince = new Observable<number | null>(null)
/** The daemon does not know the token: the user needs a new link. */
export const accessDenied = new Observable(false)
/** Something at this address answers that does not know the token, so it is not the daemon. It was sent nothing. */
export const otherProgramAnswers = new Observable(false)

type Listener = (items: readonly StreamMessage[]) => void
const listeners = new Set<Listener>()
/** Stream messages are delivered in batches, in ms: at 200 a second the page renders at most 16 times a second. */
const BATCH_MS = 60
/** A browser leaves it out of the address. */
const DEFAULT_HTTP_PORT = 80

let channel: LiveConnection | null = null
let batch: StreamMessage[] = []

export function connectToDaemon(token: string): void {
  channel = new LiveConnection({
    open: async () => {
      await requireProof(token)
      return new WebSocket(`ws://${location.host}/`, ['claude-mem.v1', `token.${token}`])
    },
    onLoad: () => loadGeneration.set(loadGeneration.value + 1),
    onItem: (item) => {
      if (batch.push(item) === 1) setTimeout(deliverBatch, BATCH_MS)
    },
    onState: (state) => {
      connectionState.set(state)
      staleSince.set(state === 'stale' ? Date.now() : null)
    },
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

/**
 * Rejects unless the program at this address proves that it knows the token. While no daemon runs, any program can take the
 * port, and would get the token with the next connection.
 */
async function requireProof(token: string): Promise<void> {
  const { id, secret } = parseViewerToken(token) ?? { id: '', secret: '' }
  const nonce = makeNonce()
  const response = await fetch(VIEWER_PROVE_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ viewer: id, nonce }),
  })
  const body: { proof?: unknown; error?: { code?: unknown } } | null = await response.json().catch(() => null)
  if (response.status === 401 && body?.error?.code === 'unauthorized') {
    denyAccess()
    throw new Error('the access of this page has ended')
  }
  const port = Number(location.port) || DEFAULT_HTTP_PORT
  const isDaemon = body?.proof === (await computeProof(await deriveProofKey(secret), port, nonce))
  otherProgramAnswers.set(!isDaemon)
  if (!isDaemon) throw new Error('another program answers at this address')
}

function denyAccess(): void {
  channel?.close()
  sessionStorage.removeItem(TOKEN_KEY)
  accessDenied.set(true)
}
