/** Why an observation exists: the prompt, the source events, and the model calls that made it. */
import type { OutputOf } from '../../../api/index.ts'
import { agentTitle } from '../../../domain/clients.ts'
import type { MemoryEvent } from '../../../domain/event.ts'
import { Details, Loaded, Section, Table } from '../../components/basics.tsx'
import { ProseText, receivedNote } from '../../components/memory-parts.tsx'
import { countOf, durationText, fullCount, Time, timeOfDay, usdText } from '../../format.tsx'
import { useOperation } from '../../queries.ts'
import { safeLine, safeText } from '../../safe-text.ts'
import type { ObservationDetails } from './observation.tsx'

type Provenance = OutputOf<'origin'>['origin']

/** Source events shown; a batch has a few dozen. */
const MAX_EVENTS = 100
/** Displayed part of a payload, in characters. */
const MAX_PAYLOAD_CHARS = 12_000

export function ProvenanceSection({ observation }: { observation: ObservationDetails }) {
  const origin = useOperation('origin', { observation: observation.id })
  return (
    <Section title="Why it exists">
      <Loaded query={origin}>{(answer) => <Provenance observation={observation} origin={answer.origin} />}</Loaded>
    </Section>
  )
}

function Provenance({ observation, origin }: { observation: ObservationDetails; origin: Provenance }) {
  const { client, prompt, events, calls } = origin
  const { model, promptVersion, saidBy, saidIn } = observation
  return (
    <ol class="bullets stack">
      {prompt === null ? null : (
        <li>
          <h3>Your prompt</h3>
          {prompt.private ? <p class="soft">Private: its text was not stored.</p> : <ProseText text={prompt.text} />}
        </li>
      )}
      <li>
        <h3>What {agentTitle(client) ?? 'the agent'} did</h3>
        {events.length === 0 ? (
          <p class="soft">{noEventsText(observation)}</p>
        ) : (
          events.slice(0, MAX_EVENTS).map((event) => <SourceEvent key={event.eventId} event={event} />)
        )}
      </li>
      <li>
        <h3>How the observer made it</h3>
        <p class="small">
          {model === null ? 'Without a model' : `Model ${safeLine(model)}`}
          {promptVersion === null ? '' : `, prompt ${safeLine(promptVersion)}`}
          {saidBy === null || saidBy === undefined ? '' : `, from what was said by ${saidBy}`}
          {saidIn === null || saidIn === undefined ? '' : ` (${safeLine(saidIn)})`}.
        </p>
        {calls.length === 0 ? null : <CallTable calls={calls} />}
      </li>
    </ol>
  )
}

function noEventsText(observation: ObservationDetails): string {
  const received = receivedNote(observation)
  if (received !== '') return `It was ${received}: its prompt and its source events are there.`
  if (observation.model === null && observation.promptVersion === null) {
    return 'It was written by hand or imported, so it has no source events.'
  }
  return 'Its source events are no longer stored.'
}

function SourceEvent({ event }: { event: Provenance['events'][number] }) {
  const { payload, tool, kind, at, attempts, outcome, reason } = event
  return (
    <Details
      summary={
        <>
          <b>{safeLine(tool ?? kind.replaceAll('_', ' '), 60)}</b>{' '}
          <span class="mono">{payload === null ? 'no longer stored' : toolSummary(payload)}</span>{' '}
          <Time at={at} class="figure">
            {timeOfDay(at)}
          </Time>
        </>
      }
    >
      <p class="soft">
        <span class="mono">{safeLine(event.eventId)}</span>: {outcome ?? 'waiting'}
        {reason === null ? '' : `, ${safeLine(reason)}`}
        {attempts === 0 ? '' : `, after ${countOf(attempts, 'failed attempt')}`}
      </p>
      {payload === null ? (
        <p class="soft">
          Payloads are deleted after some days, when they take too much space, and with forgotten memories.
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        <section class="scroll-box" tabIndex={0} aria-label="Payload">
          <pre>{safeText(JSON.stringify(payloadFields(payload), null, 2), MAX_PAYLOAD_CHARS)}</pre>
        </section>
      )}
    </Details>
  )
}

/** The first text of a tool's input: a command or a path. */
function toolSummary(event: MemoryEvent): string {
  if (event.kind !== 'tool_use' && event.kind !== 'tool_failure') return ''
  const { input } = event
  if (typeof input !== 'object' || input === null) return safeLine(String(input ?? ''), 120)
  const text = Object.values(input).find((value) => typeof value === 'string' && value !== '')
  return safeLine(typeof text === 'string' ? text : JSON.stringify(input), 120)
}

/** Without fields that the panel shows elsewhere. */
function payloadFields(event: MemoryEvent): unknown {
  const { id: _id, session: _session, project: _project, transcriptPath: _transcript, ...fields } = event
  return fields
}

type Call = Pick<Provenance['calls'][number], 'model' | 'durationMs' | 'usage' | 'cost' | 'error'>

export function CallTable({ calls }: { calls: readonly Call[] }) {
  const rows = calls.map(({ model, durationMs, usage, cost, error }) => [
    <>
      {safeLine(model)} {error === null ? null : <span class="bad">{safeLine(error, 600)}</span>}
    </>,
    durationText(durationMs),
    fullCount(usage.input + usage.cacheRead + usage.cacheWrite),
    fullCount(usage.output),
    cost === null ? 'no price' : usdText(cost),
  ])
  const columns = ['Model', 'Duration', 'Tokens sent', 'received', 'Cost']
  return <Table caption="Calls to the model" columns={columns} rows={rows} numbers />
}
