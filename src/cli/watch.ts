/**
 * Shows data again whenever it changes: after each commit while a daemon is running, every second from the database file
 * otherwise. It continues when the daemon stops or starts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../api/index.ts'
import type { StreamMessage } from '../transport/messages.ts'
import type { Cli } from './cli.ts'
import { isNotRunning } from './daemon-connection.ts'
import { type MemoryConnection, openMemory } from './memory-client.ts'

/** Minimum time between two updates: more than five a second cannot be read. */
const MIN_INTERVAL_MS = 200
/** Maximum time between two updates: ages and deadlines change, and a daemon may start, without a commit. */
const MAX_INTERVAL_MS = 1_000

interface WatchOptions<T> {
  load(call: Call, running: boolean): Promise<T>
  /** Whether a commit may change what `load` returns. */
  isAffectedBy(message: StreamMessage): boolean
  show(data: T): Promise<void>
}

export async function watch<T>(cli: Cli, signal: AbortSignal, options: WatchOptions<T>): Promise<void> {
  while (!signal.aborted) {
    const memory = await openMemory(cli)
    try {
      await watchConnection(memory, signal, options)
    } catch (error) {
      // The daemon stopped during a call: the next round connects again.
      if (!isNotRunning(error)) throw error
    } finally {
      await memory.close()
    }
  }
}

async function watchConnection<T>(
  memory: MemoryConnection,
  signal: AbortSignal,
  options: WatchOptions<T>,
): Promise<void> {
  const { call, daemon } = memory
  let isClosed = false
  let wake: () => void = () => undefined
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  try {
    if (daemon !== null) {
      daemon.onStream = (message) => {
        if (options.isAffectedBy(message)) wake()
      }
      daemon.onClose = () => {
        isClosed = true
        wake()
      }
      await daemon.call('subscribe', { since: null })
    }
    do {
      // Set before loading, so that a commit during the load is not missed.
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      await options.show(await options.load(call, daemon !== null))
      await sleep(MIN_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
      const timeout = sleep(MAX_INTERVAL_MS - MIN_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
      await Promise.race([changed, timeout])
      // Without a daemon the file is opened again each time, because a daemon may have started.
    } while (!isClosed && !signal.aborted && daemon !== null)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

const CURSOR_HOME = '\x1b[H'
const ERASE_LINE = '\x1b[K'
const ERASE_BELOW = '\x1b[J'
const ERASE_ALL = '\x1b[2J'
/** Without wrapping, a line that is too long does not push the others down. */
const WRAP_OFF = '\x1b[?7l'
const WRAP_ON = '\x1b[?7h'

/** Draws each frame over the last one. If the output is not a terminal, frames follow each other. */
export class Screen {
  readonly #cli: Cli
  #hasDrawn = false

  constructor(cli: Cli) {
    this.#cli = cli
    if (cli.rows() !== null) cli.write(WRAP_OFF + ERASE_ALL)
  }

  draw(lines: readonly string[]): void {
    const rows = this.#cli.rows()
    if (rows === null) {
      this.#cli.print(...(this.#hasDrawn ? ['---'] : []), ...lines)
    } else {
      const shown = lines.slice(0, rows - 1).map((line) => `${line}${ERASE_LINE}`)
      this.#cli.write(`${CURSOR_HOME}${shown.join('\n')}\n${ERASE_BELOW}`)
    }
    this.#hasDrawn = true
  }

  close(): void {
    if (this.#cli.rows() !== null) this.#cli.write(WRAP_ON)
  }
}
