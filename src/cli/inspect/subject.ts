/** Something to look at, once or again and again. */
import type { StreamMessage } from '../../channel/protocol.ts'
import type { Cli } from '../cli.ts'
import type { MemoryReader } from '../memory-reader.ts'

export interface Subject<T> {
  load(reader: MemoryReader): Promise<T>
  json(data: T): object
  lines(data: T, cli: Cli): Promise<string[]>
  /** Whether this may change what `load` gives. */
  concerns(message: StreamMessage): boolean
}

/** As loaded, and whether by a daemon. */
type Loaded<T> = { data: T; live: boolean }

export async function showOnce<T>(subject: Subject<T>, cli: Cli, json: boolean): Promise<void> {
  const { withReader } = await import('../reader.ts')
  const loaded = await withReader(cli.paths, (reader) => loadFrom(subject, reader))
  if (json) cli.printJson(jsonOf(subject, loaded))
  else cli.print(...(await linesOf(subject, loaded, cli)))
}

export async function watchSubject<T>(subject: Subject<T>, cli: Cli, json: boolean): Promise<void> {
  const { Screen, untilInterrupted, watch } = await import('../watch.ts')
  const screen = json ? null : new Screen(cli)
  let last = ''
  try {
    await watch(cli.paths, untilInterrupted(), {
      load: (reader) => loadFrom(subject, reader),
      concerns: (message) => subject.concerns(message),
      show: async (loaded) => {
        const value = jsonOf(subject, loaded)
        const text = JSON.stringify(value)
        // On a terminal it is drawn again all the same: ages and deadlines move on.
        if (text === last && (json || cli.rows() === null)) return
        last = text
        if (json) cli.printJson(value)
        else screen?.draw(await linesOf(subject, loaded, cli))
      },
    })
  } finally {
    screen?.close()
  }
}

async function loadFrom<T>(subject: Subject<T>, reader: MemoryReader): Promise<Loaded<T>> {
  return { data: await subject.load(reader), live: reader.daemon !== null }
}

function jsonOf<T>(subject: Subject<T>, { data, live }: Loaded<T>): object {
  return { running: live, ...subject.json(data) }
}

async function linesOf<T>(subject: Subject<T>, { data, live }: Loaded<T>, cli: Cli): Promise<string[]> {
  const lines = await subject.lines(data, cli)
  const note = 'No daemon answers: this is what the database file says.'
  return live ? lines : [cli.look().style.dim(note), '', ...lines]
}
