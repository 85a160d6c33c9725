import type { MachineName } from '../../chart/charts.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError, wholeNumber } from '../failure.ts'
import { idOf } from '../ids.ts'
import type { Format } from '../inspect/machine.ts'

const MOST = 10_000
/** Transitions in the view of a session. */
const USUAL_TRACE = 15
/** The port that the Stately inspector's own server has. */
const STATELY_PORT = 8080
/** Here, because the machines themselves are loaded only where they are shown. */
const MACHINES = ['session', 'supervisor'] as const satisfies readonly MachineName[]
const FORMATS = ['mermaid', 'json', 'xstate'] as const satisfies readonly Format[]

export const inspect = command({
  usage: 'inspect [session]',
  group: 'See what it does',
  summary: 'Sessions, or the life of one: state, messages, transitions and why',
  about:
    'Without a session: the sessions, newest first. With one (the first characters of its id are enough): its ' +
    'statechart with the active state marked, what it waits for, its messages, its tokens and its last transitions. ' +
    '--message says what became of a tool use, --observation where a memory comes from, --sent which words left this ' +
    'machine. Everything is only read, and works without a daemon too.',
  examples: [
    ['claude-mem inspect', 'all sessions'],
    ['claude-mem inspect 5f1c --watch', 'one session, live'],
    ['claude-mem inspect 5f1c --trace', 'every transition that is kept'],
    ['claude-mem inspect 5f1c --trace 100', 'its last hundred transitions'],
    ['claude-mem inspect 5f1c --sent', 'what was sent to a model, and what came back'],
    ['claude-mem inspect --message toolu_01A', 'what became of this tool use?'],
    ['claude-mem inspect --observation 12', 'where does this memory come from?'],
    ['claude-mem inspect --machine session', 'the states that a session can be in'],
    ['claude-mem inspect --machine session --format xstate', 'for the Stately editor'],
    ['claude-mem inspect --stately', 'the live actors for the Stately inspector'],
    ['claude-mem inspect --watch --json', 'one line for each change'],
  ],
  positionals: { session: { type: 'string', describe: 'The first characters of its id' } },
  options: {
    watch: { type: 'boolean', alias: 'w', describe: 'Show it again whenever it changes, until Ctrl-C' },
    trace: { type: 'string', describe: 'Its transitions alone: all, or the last N', coerce: traceLimit },
    message: { type: 'string', requiresArg: true, describe: 'What became of an event: the first characters of its id' },
    observation: { type: 'string', requiresArg: true, describe: 'Where an observation comes from', coerce: idOf },
    sent: { type: 'boolean', describe: 'What the session sent to a model, and what came back' },
    full: { type: 'boolean', describe: '--sent, --message, --observation: whole texts' },
    limit: {
      type: 'number',
      requiresArg: true,
      alias: 'n',
      describe: 'Sessions shown, or messages or calls of a session',
      default: 20,
      coerce: wholeNumber('--limit', 1, MOST - 1),
    },
    machine: { type: 'string', requiresArg: true, describe: `The definition of a machine: ${MACHINES.join(', ')}` },
    format: { type: 'string', requiresArg: true, describe: `--machine: as ${FORMATS.join(', ')}` },
    stately: { type: 'boolean', describe: 'Serve the live actors to the Stately inspector, on this machine only' },
    port: {
      type: 'number',
      requiresArg: true,
      describe: `--stately: where it listens (${STATELY_PORT})`,
      coerce: wholeNumber('--port', 0, 65_535),
    },
    json: jsonOption,
  },
  run: async (args, cli) => {
    refuseMixtures(args)
    const { session, watch, trace, message, observation, sent, full, limit, machine, format, stately, port } = args
    const json = args.json === true
    if (machine !== undefined) return await showMachine(machine, format, json, cli)
    if (stately === true) {
      const { serveStately } = await import('../stately/serve.ts')
      return await serveStately(cli, port ?? STATELY_PORT, json)
    }
    const [{ showOnce, watchSubject }, subjects] = await Promise.all([
      import('../inspect/subject.ts'),
      import('../inspect/subjects.ts'),
    ])
    const show = watch === true ? watchSubject : showOnce
    if (message !== undefined) await show(subjects.eventOf(message, session ?? null, full === true), cli, json)
    else if (observation !== undefined) await show(subjects.originOf(observation, full === true), cli, json)
    else if (session === undefined) await show(subjects.listOf(limit), cli, json)
    else if (sent === true) await show(subjects.sentBy(session, limit, full === true), cli, json)
    else if (trace !== undefined) await show(subjects.traceOf(session, trace), cli, json)
    else await show(subjects.lifeOf(session, USUAL_TRACE, limit), cli, json)
    return 0
  },
})

interface Chosen {
  session?: string | undefined
  trace?: number | undefined
  message?: string | undefined
  observation?: number | undefined
  sent?: boolean | undefined
  full?: boolean | undefined
  machine?: string | undefined
  format?: string | undefined
  stately?: boolean | undefined
  port?: number | undefined
}

function refuseMixtures(args: Chosen): void {
  const { session, trace, message, observation, sent, full, machine, format, stately, port } = args
  const subjects = Object.entries({ trace, message, observation, sent, machine, stately }).filter(
    ([, value]) => value !== undefined && value !== false,
  )
  const [first, second] = subjects.map(([name]) => `--${name}`)
  if (second !== undefined) throw new UsageError(`${first} and ${second} do not go together`)
  const ofSession = sent === true ? '--sent' : trace === undefined ? null : '--trace'
  if (ofSession !== null && session === undefined)
    throw new UsageError(`${ofSession} needs a session; claude-mem inspect lists them`)
  if (full === true && sent !== true && message === undefined && observation === undefined)
    throw new UsageError('--full goes with --sent, --message or --observation')
  if (session !== undefined && (observation !== undefined || machine !== undefined || stately === true))
    throw new UsageError(`${first} takes no session`)
  if (format !== undefined && machine === undefined) throw new UsageError('--format goes with --machine')
  if (port !== undefined && stately !== true) throw new UsageError('--port goes with --stately')
}

async function showMachine(given: string, format: string | undefined, json: boolean, cli: Cli): Promise<number> {
  const name = oneOf('machine', given, MACHINES)
  const chosen = format === undefined ? null : oneOf('format', format, FORMATS)
  const { chartJson, machineLines, machineText } = await import('../inspect/machine.ts')
  if (json) cli.printJson(chartJson(name))
  else if (chosen === null) cli.print(...machineLines(name, cli.look()))
  else cli.print(machineText(name, chosen))
  return 0
}

/** `--trace` alone means all of them. */
function traceLimit(given: string): number {
  if (given === '') return MOST
  if (/^\d{1,5}$/.test(given) && Number(given) <= MOST) return Number(given)
  throw new UsageError(
    `--trace takes a whole number from 0 to ${MOST}, or none for all; a session goes before it: claude-mem inspect 5f1c --trace`,
  )
}
