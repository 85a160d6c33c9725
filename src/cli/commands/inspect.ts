/** `claude-mem inspect`: sessions, one session, one event, one observation, or a state machine. */
import { CLIENT_NAMES } from '../../domain/clients.ts'
import type { MachineName } from '../../statechart/machine-charts.ts'
import { limitOption, numberOption, oneOf, parseObservationId, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { type ArgumentValues, defineCommand, stringOption } from '../command.ts'
import type { MachineFormat } from '../render/statechart.ts'

const MAX_ROWS = 10_000
/** Transitions in the view of a session. */
const DEFAULT_TRACE = 15
/** The default port of the Stately inspector's server. */
const STATELY_PORT = 8080
/** Copies of the names, because the machines are only loaded when they are printed. */
const MACHINES = ['session', 'supervisor'] as const satisfies readonly MachineName[]
const FORMATS = ['mermaid', 'json', 'xstate'] as const satisfies readonly MachineFormat[]

const options = {
  watch: { type: 'boolean', alias: 'w', describe: 'Print it again whenever it changes, until Ctrl-C' },
  trace: { type: 'string', describe: 'Only its transitions: all, or the last N', coerce: parseTraceLimit },
  message: stringOption('The outcome of an event: the start of its id'),
  observation: { ...stringOption('Where an observation comes from'), coerce: parseObservationId },
  sent: { type: 'boolean', describe: 'What the session sent to a model, and what came back' },
  full: { type: 'boolean', describe: '--sent, --message, --observation: whole texts' },
  limit: limitOption('Sessions shown, or messages or calls of a session', 20, MAX_ROWS - 1),
  client: stringOption(`Only sessions of this client: ${CLIENT_NAMES.join(', ')}`),
  machine: stringOption(`The definition of a machine: ${MACHINES.join(', ')}`),
  format: stringOption(`--machine: as ${FORMATS.join(', ')}`),
  stately: { type: 'boolean', describe: 'Serve the live actors to the Stately inspector, on this machine only' },
  port: numberOption('port', `--stately: the port it listens on (${STATELY_PORT})`, 0, 65_535),
} as const

export const inspectCommand = defineCommand({
  usage: 'inspect [session]',
  group: 'Inspect',
  summary: 'Sessions, or one of them: state, messages, transitions and reasons',
  about:
    'Without a session: the sessions, newest first. With one (the start of its id is enough): its statechart with the ' +
    'active state marked, what it waits for, its messages, its tokens and its last transitions. --message shows the ' +
    'outcome of a tool use, --observation where a memory comes from, --sent what was sent to a model. It only reads, and ' +
    'works without a daemon too.',
  examples: [
    ['claude-mem inspect', 'all sessions'],
    ['claude-mem inspect --client codex', 'those of one client'],
    ['claude-mem inspect 5f1c --watch', 'one session, live'],
    ['claude-mem inspect 5f1c --trace', 'all stored transitions'],
    ['claude-mem inspect 5f1c --trace 100', 'its last hundred transitions'],
    ['claude-mem inspect 5f1c --sent', 'what was sent to a model, and what came back'],
    ['claude-mem inspect --message toolu_01A', 'the outcome of this tool use'],
    ['claude-mem inspect --observation 12', 'where this memory comes from'],
    ['claude-mem inspect --machine session', 'the states of a session'],
    ['claude-mem inspect --machine session --format xstate', 'for the Stately editor'],
    ['claude-mem inspect --stately', 'the live actors for the Stately inspector'],
    ['claude-mem inspect --watch --json', 'one line for each change'],
  ],
  positionals: { session: { type: 'string', describe: 'The start of its id' } },
  options,
  run: async (args, cli) => {
    refuseCombinations(args)
    const { session, watch, trace, message, observation, sent, full, limit, machine, format, stately, port } = args
    if (machine !== undefined) return await printMachine(machine, format, cli)
    if (stately) {
      const { serveStatelyInspector } = await import('../stately-inspector.ts')
      return await serveStatelyInspector(cli, port ?? STATELY_PORT)
    }
    const views = await import('../inspect-views.ts')
    const print = watch ? views.watchView : views.printView
    if (message !== undefined) await print(views.eventView(message, session ?? null, full), cli)
    else if (observation !== undefined) await print(views.observationProvenanceView(observation, full), cli)
    else if (session === undefined) await print(views.sessionListView(limit, clientName(args.client)), cli)
    else if (sent) await print(views.sessionCallsView(session, limit, full), cli)
    else if (trace !== undefined) await print(views.sessionTraceView(session, trace), cli)
    else await print(views.sessionView(session, DEFAULT_TRACE, limit), cli)
  },
})

const clientName = (given: string | undefined): string | null =>
  given === undefined ? null : oneOf('client', given, CLIENT_NAMES)

type InspectArgs = ArgumentValues<typeof options> & { session?: string | undefined }

function refuseCombinations(args: InspectArgs): void {
  const { session, trace, message, observation, sent, full, machine, format, stately, port } = args
  const [first, second] = Object.entries({ trace, message, observation, sent, machine, stately })
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name]) => `--${name}`)
  refuseIf(second !== undefined, `${first} and ${second} cannot be combined`)
  const needsSession = sent ? '--sent' : trace === undefined ? null : '--trace'
  refuseIf(
    needsSession !== null && session === undefined,
    `${needsSession} needs a session; claude-mem inspect lists them`,
  )
  const hasTexts = sent || message !== undefined || observation !== undefined
  refuseIf(full && !hasTexts, '--full is an option of --sent, --message and --observation')
  const takesNoSession = observation !== undefined || machine !== undefined || stately
  refuseIf(session !== undefined && takesNoSession, `${first} takes no session`)
  refuseIf(format !== undefined && machine === undefined, '--format is an option of --machine')
  refuseIf(port !== undefined && !stately, '--port is an option of --stately')
}

async function printMachine(given: string, format: string | undefined, cli: Cli): Promise<void> {
  const name = oneOf('machine', given, MACHINES)
  const chosen = format === undefined ? null : oneOf('format', format, FORMATS)
  const { machineLines, machineOutput, machineText } = await import('../render/statechart.ts')
  printResult(cli, machineOutput(name), () =>
    chosen === null ? machineLines(name, cli.display()) : machineText(name, chosen),
  )
}

/** `--trace` without a number means all. */
function parseTraceLimit(given: string): number {
  if (given === '') return MAX_ROWS
  if (/^\d{1,5}$/.test(given) && Number(given) <= MAX_ROWS) return Number(given)
  throw new UsageError(
    `--trace takes a whole number from 0 to ${MAX_ROWS}, or none for all; a session comes before it: claude-mem inspect 5f1c --trace`,
  )
}
