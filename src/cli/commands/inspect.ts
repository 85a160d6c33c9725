import type { SessionListItem, SessionView } from '../../store/port.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { UsageError, wholeNumber } from '../failure.ts'
import type { MemoryReader } from '../reader.ts'
import type { SessionCalls } from '../render/calls.ts'

const MOST = 10_000

export const inspect = command({
  usage: 'inspect [session]',
  group: 'See what it does',
  summary: 'Sessions, or the life of one: state, messages, transitions and why',
  about:
    'Without a session: the sessions, newest first. With one (the first characters of its id are enough): its state, ' +
    'what it waits for, its messages, its tokens and its last transitions. With --sent: every call it made to a model, and ' +
    'the words that left this machine. Works without a daemon too.',
  examples: [
    ['claude-mem inspect', 'all sessions'],
    ['claude-mem inspect 5f1c --watch', 'one session, live'],
    ['claude-mem inspect 5f1c --trace 100', 'with its last hundred transitions'],
    ['claude-mem inspect 5f1c --sent', 'what was sent to a model, and what came back'],
    ['claude-mem inspect --watch --json', 'one line for each change'],
  ],
  positionals: { session: { type: 'string', describe: 'The first characters of its id' } },
  options: {
    watch: { type: 'boolean', alias: 'w', describe: 'Show it again whenever it changes, until Ctrl-C' },
    trace: {
      type: 'number',
      requiresArg: true,
      describe: 'Transitions shown',
      default: 15,
      coerce: wholeNumber('--trace', 0, MOST),
    },
    limit: {
      type: 'number',
      requiresArg: true,
      alias: 'n',
      describe: 'Sessions shown, or messages or calls of a session',
      default: 20,
      coerce: wholeNumber('--limit', 1, MOST - 1),
    },
    sent: { type: 'boolean', describe: 'What the session sent to a model, and what came back' },
    full: { type: 'boolean', describe: '--sent: whole texts' },
    json: jsonOption,
  },
  run: async ({ session, watch, trace, limit, sent, full, json }, cli) => {
    if (full === true && sent !== true) throw new UsageError('--full goes with --sent')
    if (sent === true && session === undefined)
      throw new UsageError('--sent needs a session; claude-mem inspect lists them')
    const show = watch === true ? watchSubject : showOnce
    if (session === undefined) await show(listOf(limit), cli, json === true)
    else if (sent === true) await show(sentBy(session, limit, full === true), cli, json === true)
    else await show(lifeOf(session, trace, limit), cli, json === true)
    return 0
  },
})

/** Something to look at, once or again and again. */
interface Subject<T> {
  load(reader: MemoryReader): Promise<T>
  json(data: T): object
  lines(data: T, cli: Cli): Promise<string[]>
  concerns(session: string): boolean
}

/** As loaded, and whether by a daemon. */
type Loaded<T> = { data: T; live: boolean }

function listOf(limit: number): Subject<SessionListItem[]> {
  return {
    // One more than is shown tells whether there are more.
    load: (reader) => reader.sessions({ limit: limit + 1 }),
    json: (sessions) => ({ sessions: sessions.slice(0, limit) }),
    lines: async (sessions, cli) => {
      const { sessionLines } = await import('../render/sessions.ts')
      return sessionLines(sessions.slice(0, limit), sessions.length > limit, cli.look())
    },
    concerns: () => true,
  }
}

function lifeOf(prefix: string, trace: number, limit: number): Subject<SessionView> {
  return {
    load: (reader) => reader.session(prefix, trace),
    json: ({ row, ...view }) => ({ row: { ...row, snapshot: parsed(row.snapshot) }, ...view }),
    lines: async (view, cli) => {
      const { sessionViewLines } = await import('../render/session.ts')
      return sessionViewLines(view, limit, cli.look())
    },
    concerns: (session) => session.startsWith(prefix),
  }
}

function sentBy(prefix: string, limit: number, full: boolean): Subject<SessionCalls> {
  return {
    // One more than is shown tells whether there are more.
    load: async (reader) => {
      const { session, calls } = await reader.calls(prefix, limit + 1)
      return { session, calls: calls.slice(-limit), more: calls.length > limit }
    },
    json: (calls) => calls,
    lines: async (calls, cli) => {
      const { sentLines } = await import('../render/calls.ts')
      return sentLines(calls, full, cli.look())
    },
    concerns: (session) => session.startsWith(prefix),
  }
}

async function showOnce<T>(subject: Subject<T>, cli: Cli, json: boolean): Promise<void> {
  const { withReader } = await import('../reader.ts')
  const loaded = await withReader(cli.paths, (reader) => loadFrom(subject, reader))
  if (json) cli.printJson(jsonOf(subject, loaded))
  else cli.print(...(await linesOf(subject, loaded, cli)))
}

async function watchSubject<T>(subject: Subject<T>, cli: Cli, json: boolean): Promise<void> {
  const { Screen, untilInterrupted, watch } = await import('../watch.ts')
  const screen = json ? null : new Screen(cli)
  let last = ''
  try {
    await watch(cli.paths, untilInterrupted(), {
      load: (reader) => loadFrom(subject, reader),
      concerns: ({ session }) => subject.concerns(session),
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

/** A snapshot that is broken is shown as the text that it is. */
function parsed(snapshot: string): unknown {
  try {
    return JSON.parse(snapshot)
  } catch {
    return snapshot
  }
}
