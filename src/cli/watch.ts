/**
 * Shows something again whenever it changes: after each commit while a daemon runs, every second from the file while
 * none does. It outlives the daemon that it watches.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamMessage } from '../channel/protocol.ts'
import { MemError } from '../errors.ts'
import type { Paths } from '../paths.ts'
import type { Cli } from './cli.ts'
import type { MemoryReader } from './memory-reader.ts'
import { openReader } from './reader.ts'

/** Five times a second is as fast as anyone reads. */
const LEAST_MS = 200
/** Ages and deadlines move on, and a daemon may come up, even when nothing is committed. */
const POLL_MS = 1_000

export interface Watched<T> {
  load(reader: MemoryReader): Promise<T>
  /** Whether a commit may change what `load` gives. */
  concerns(message: StreamMessage): boolean
  show(data: T): Promise<void>
}

export async function watch<T>(paths: Paths, signal: AbortSignal, watched: Watched<T>): Promise<void> {
  while (!signal.aborted) {
    const reader = await openReader(paths)
    try {
      await watchOne(reader, signal, watched)
    } catch (error) {
      // The daemon went away in the middle of a question.
      if (!(error instanceof MemError && error.code === 'not_running')) throw error
    } finally {
      await reader.close()
    }
  }
}

async function watchOne<T>(reader: MemoryReader, signal: AbortSignal, watched: Watched<T>): Promise<void> {
  const { daemon } = reader
  let gone = false
  let changed: () => void = () => undefined
  const stop = () => changed()
  signal.addEventListener('abort', stop)
  try {
    if (daemon !== null) {
      daemon.onStream = (message) => {
        if (watched.concerns(message)) changed()
      }
      daemon.onClose = () => {
        gone = true
        changed()
      }
      await daemon.request('subscribed', { type: 'subscribe', since: null })
    }
    do {
      const next = new Promise<void>((resolve) => {
        changed = resolve
      })
      await watched.show(await watched.load(reader))
      await sleep(LEAST_MS, undefined, { signal }).catch(() => undefined)
      await Promise.race([next, sleep(POLL_MS - LEAST_MS, undefined, { signal }).catch(() => undefined)])
      // A file reader is opened again each time: a daemon may be up by then.
    } while (!gone && !signal.aborted && daemon !== null)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const HOME = '\x1b[H'
const ERASE_LINE = '\x1b[K'
const ERASE_BELOW = '\x1b[J'
const ERASE_ALL = '\x1b[2J'
/** A line that is too long is cut by the terminal instead of pushing the rest down. */
const WRAP_OFF = '\x1b[?7l'
const WRAP_ON = '\x1b[?7h'

/** Draws over the last frame; where there is no terminal, one frame follows the other. */
export class Screen {
  readonly #cli: Cli
  #drawn = false

  constructor(cli: Cli) {
    this.#cli = cli
    if (cli.rows() !== null) cli.write(WRAP_OFF + ERASE_ALL)
  }

  draw(lines: readonly string[]): void {
    const rows = this.#cli.rows()
    if (rows === null) {
      this.#cli.print(...(this.#drawn ? ['---'] : []), ...lines)
    } else {
      const shown = lines.slice(0, rows - 1).map((line) => `${line}${ERASE_LINE}`)
      this.#cli.write(`${HOME}${shown.join('\n')}\n${ERASE_BELOW}`)
    }
    this.#drawn = true
  }

  close(): void {
    if (this.#cli.rows() !== null) this.#cli.write(WRAP_ON)
  }
}

/** Aborted by Ctrl-C, so that what was set up is taken down again. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())
  return controller.signal
}
