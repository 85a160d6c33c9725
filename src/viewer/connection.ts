/** The page's one connection: questions, and the stream in handfuls. */
import { LiveChannel, type LiveState } from '../channel/live.ts'
import type { Answer, StreamMessage } from '../channel/protocol.ts'
import type { AnswerOf, RequestBody } from '../channel/questions.ts'
import { isWelcome, leave } from './access.ts'
import { Cell } from './cell.ts'

export const connectionState = new Cell<LiveState>('connecting')
/** Grows whenever everything that is shown has to be asked for anew. */
export const generation = new Cell(0)
/** Since when nothing is heard any more; null while the connection is live. */
export const staleSince = new Cell<number | null>(null)
/** The daemon does not know this page any more: only a new link helps. */
export const locked = new Cell(false)

type Listener = (items: readonly StreamMessage[]) => void
const listeners = new Set<Listener>()
/** Draws at most so often while changes pour in, in ms. */
const HANDFUL_MS = 60

let channel: LiveChannel | null = null
let handful: StreamMessage[] = []

export function connect(token: string): void {
  channel = new LiveChannel({
    open: () => new WebSocket(`ws://${location.host}/`, ['claude-mem.v1', `token.${token}`]),
    onLoad: () => generation.set(generation.value + 1),
    onItem: (item) => {
      if (handful.push(item) === 1) setTimeout(hand, HANDFUL_MS)
    },
    onState: (state) => {
      connectionState.set(state)
      staleSince.set(state === 'stale' ? Date.now() : null)
    },
    onBroken: () => void checkWelcome(token),
  })
  channel.start()
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') channel?.hurry()
  })
}

/** Rejects while there is no connection; what is shown is asked for again when there is one. */
export async function ask<T extends Answer['type']>(expected: T, body: RequestBody): Promise<AnswerOf<T>> {
  if (channel === null) throw new Error('there is no connection yet')
  return await channel.request(expected, body)
}

/** Changes in their order, some at a time. Returns how to stop. */
export function onItems(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function hand(): void {
  const items = handful
  handful = []
  for (const listener of [...listeners]) listener(items)
}

async function checkWelcome(token: string): Promise<void> {
  if ((await isWelcome(token)) !== false) return
  channel?.close()
  leave()
  locked.set(true)
}
