/** Why an observation exists: the prompt, the source events, and the model calls that made it. */
import { useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import { agentTitle } from '../../../domain/clients.ts'
import type { MemoryEvent } from '../../../domain/event.ts'
import { receivedNote } from '../../author.tsx'
import { Table } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { countOf, durationText, exactTime, fullCount, Time, timeOfDay, usdText } from '../../format.tsx'
import { viewHref } from '../../route.ts'
import { safeLine, safeText, stateLabel } from '../../safe-text.ts'
import type { ObservationDetails } from './observation.tsx'
import { PanelSection, ProseText } from './panel.tsx'

type Provenance = OutputOf<'origin'>['origin']

/** Source events shown; a batch has a few dozen. */
const MAX_EVENTS = 100
/** Displayed part of a payload, in characters. */
const MAX_PAYLOAD_CHARS = 12_000

export function ProvenanceSection({ observation, origin }: { observation: ObservationDetails; origin: Provenance }) {
  const { client, prompt, events, calls, trace } = origin
  const { model, promptVersion, saidBy, saidIn } = observation
  const isManual = model === null && promptVersion === null
  const received = receivedNote(observation)
  return (
    <PanelSection title="Why it exists">
      <ol class="memory-origin stack">
        {prompt === null ? null : (
          <li>
            <h4 class="row small soft">
              <Icon name="prompt" size={14} /> Your prompt
            </h4>
            {prompt.private ? (
              <p class="soft">A private prompt: its text was not stored.</p>
            ) : (
              <ProseText text={prompt.text} />
            )}
          </li>
        )}
        <li>
          <h4 class="row small soft">
            <Icon name="spark" size={14} /> What {agentTitle(client) ?? 'the agent'} did
          </h4>
          {events.length === 0 ? (
            <p class="soft">
              {received !== ''
                ? `It was ${received}: its prompt and its source events are there.`
                : isManual
                  ? 'It was written by hand or imported, so it has no source events.'
                  : 'Its source events are no longer stored.'}
            </p>
          ) : (
            <ul>
              {events.slice(0, MAX_EVENTS).map((event) => (
                <SourceEvent key={event.eventId} event={event} />
              ))}
            </ul>
          )}
        </li>
        <li>
          <h4 class="row small soft">
            <Icon name="now" size={14} /> How the observer made it
          </h4>
          {saidBy === null || saidBy === undefined ? null : (
            <p class="small">
              Said by: {saidBy}
              {saidIn === null || saidIn === undefined ? '' : ` (${safeLine(saidIn)})`}.
            </p>
          )}
          <p class="small">
            {model === null ? 'Without a model' : `Model ${safeLine(model)}`}
            {promptVersion === null ? '' : `, prompt ${safeLine(promptVersion)}`}.
          </p>
          {calls.length === 0 ? null : <CallTable calls={calls} />}
          {trace.length === 0 ? null : <Transitions trace={trace} session={observation.session} />}
        </li>
      </ol>
    </PanelSection>
  )
}

function SourceEvent({ event }: { event: Provenance['events'][number] }) {
  const [open, setOpen] = useState(false)
  const { payload, tool, kind, at, attempts, outcome, reason } = event
  return (
    <li>
      <details class="memory-event" onToggle={(change) => setOpen(change.currentTarget.open)}>
        <summary class="row">
          <Icon name="next" size={13} />
          <span class="memory-event-tool">{safeLine(tool ?? kind.replaceAll('_', ' '), 60)}</span>
          <span class="mono soft ellipsis grow">{payload === null ? 'no longer stored' : toolSummary(payload)}</span>
          <Time at={at} class="figure soft small">
            {timeOfDay(at)}
          </Time>
        </summary>
        {open ? (
          <div class="memory-event-more stack">
            <p class="soft small">
              <span class="mono">{safeLine(event.eventId)}</span> · {outcome ?? 'waiting'}
              {reason === null ? '' : `: ${safeLine(reason)}`}
              {attempts === 0 ? '' : ` · after ${countOf(attempts, 'failed attempt')}`}
            </p>
            {payload === null ? (
              <p class="soft">
                The payload is no longer stored: payloads are deleted after some days, when they take too much space,
                and with forgotten memories.
              </p>
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
              <section class="memory-payload scroll-box" tabIndex={0} aria-label="Payload">
                <pre>{safeText(JSON.stringify(payloadFields(payload), null, 2), MAX_PAYLOAD_CHARS)}</pre>
              </section>
            )}
          </div>
        ) : null}
      </details>
    </li>
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

const CALL_COLUMNS = [
  'Attempt',
  'Duration',
  { name: 'Sent', about: 'Tokens sent, including cached ones' },
  { name: 'Received', about: 'Tokens received' },
  'Cost',
]

function CallTable({ calls }: { calls: Provenance['calls'] }) {
  return (
    <Table class="numbers" caption="Calls to the model" columns={CALL_COLUMNS}>
      <tbody>
        {calls.map(({ id, at, durationMs, usage, cost, error }, i) => (
          <tr key={id} title={exactTime(at)}>
            <th scope="row">
              {i + 1} {error === null ? 'succeeded' : <span class="bad">{safeLine(error, 160)}</span>}
            </th>
            <td>{durationText(durationMs)}</td>
            <td>{fullCount(usage.input + usage.cacheRead + usage.cacheWrite)}</td>
            <td>{fullCount(usage.output)}</td>
            <td>{cost === null ? 'no price' : usdText(cost)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function Transitions({ trace, session }: { trace: Provenance['trace']; session: string }) {
  return (
    <details class="memory-event memory-steps">
      <summary class="row">
        <Icon name="next" size={13} />
        {countOf(trace.length, 'transition')} of its session
      </summary>
      <ol class="stack">
        {trace.map(({ id, at, event, from, to, reason }) => (
          <li key={id}>
            <Time at={at} class="figure soft">
              {timeOfDay(at)}
            </Time>
            <span>
              <span class="mono">{safeLine(event, 60)}</span> {stateLabel(from)} → {stateLabel(to)}
              <span class="soft"> {safeLine(reason ?? '')}</span>
            </span>
          </li>
        ))}
      </ol>
      <a href={viewHref('session', session)}>Show the whole session</a>
    </details>
  )
}
