/** Why an observation exists: what was asked, what the agent did, and what the observer made of it. */
import { useState } from 'preact/hooks'
import type { Answer } from '../../../channel/protocol.ts'
import type { MemoryEvent } from '../../../memory/event.ts'
import { Icon } from '../../parts/icon.tsx'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { hrefOf } from '../../route.ts'
import { clockTime, count, duration, exactTime, money } from '../../times.ts'
import type { Observation } from './observation.tsx'
import { Part } from './panel.tsx'
import { Prose } from './parts.tsx'

type Origin = Extract<Answer, { type: 'origin' }>['origin']
type SourceEvent = Origin['events'][number]
type Call = Origin['calls'][number]

/** A batch has at most some dozens. */
const MOST_EVENTS = 100
/** Of a payload, as text. */
const PAYLOAD_CHARS = 12_000

export function OriginPart({ observation, origin }: { observation: Observation; origin: Origin }) {
  const { prompt, events, calls, trace } = origin
  return (
    <Part title="Why it exists">
      <ol class="memory-why">
        {prompt === null ? null : (
          <li>
            <h4>
              <Icon name="prompt" size={14} /> You asked
            </h4>
            {prompt.private ? <p class="soft">A private prompt, which was not kept.</p> : <Prose text={prompt.text} />}
          </li>
        )}
        <li>
          <h4>
            <Icon name="spark" size={14} /> The agent did
          </h4>
          {events.length === 0 ? (
            <p class="soft">
              {observation.model === null && observation.promptVersion === null
                ? 'It was written by hand or imported: no event stands behind it.'
                : 'The events it came from are no longer known.'}
            </p>
          ) : (
            <ul class="memory-events">
              {events.slice(0, MOST_EVENTS).map((event) => (
                <Source key={event.eventId} event={event} />
              ))}
            </ul>
          )}
        </li>
        <li>
          <h4>
            <Icon name="now" size={14} /> The observer made this of it
          </h4>
          <Made observation={observation} calls={calls} />
          {trace.length === 0 ? null : <Steps trace={trace} session={observation.session} />}
        </li>
      </ol>
    </Part>
  )
}

function Source({ event }: { event: SourceEvent }) {
  const [open, setOpen] = useState(false)
  const { payload, tool, kind, at, attempts, outcome, reason } = event
  return (
    <li>
      <details class="memory-event" onToggle={(change) => setOpen(change.currentTarget.open)}>
        <summary>
          <Icon name="next" size={13} />
          <span class="memory-event-tool">{safeLine(tool ?? kind.replaceAll('_', ' '), 60)}</span>
          <span class="mono soft memory-event-brief">{payload === null ? 'no longer kept' : briefOf(payload)}</span>
          <time class="figure soft" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
            {clockTime(at)}
          </time>
        </summary>
        {open ? (
          <div class="memory-event-more">
            <p class="soft memory-small">
              <span class="mono">{safeLine(event.eventId)}</span> · {outcome ?? 'still waiting'}
              {reason === null ? '' : `: ${safeLine(reason)}`}
              {attempts === 0 ? '' : ` · ${count(attempts)} failed ${attempts === 1 ? 'attempt' : 'attempts'} before`}
            </p>
            {payload === null ? (
              <p class="soft">
                What it held is no longer kept: payloads go after some days, when they take too much room, and with what
                is forgotten.
              </p>
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys.
              <section class="memory-payload" tabIndex={0} aria-label="Payload">
                <pre>{safe(JSON.stringify(shownOf(payload), null, 2), PAYLOAD_CHARS)}</pre>
              </section>
            )}
          </div>
        ) : null}
      </details>
    </li>
  )
}

/** What tells one use of a tool from another, on one line. */
function briefOf(event: MemoryEvent): string {
  if (event.kind !== 'tool_use' && event.kind !== 'tool_failure') return ''
  const { input } = event
  if (typeof input !== 'object' || input === null) return safeLine(String(input ?? ''), 120)
  const told = Object.values(input).find((value) => typeof value === 'string' && value !== '')
  return safeLine(typeof told === 'string' ? told : JSON.stringify(input), 120)
}

/** Without what stands beside it already. */
function shownOf(event: MemoryEvent): unknown {
  const { id: _, session: __, project: ___, transcriptPath: ____, ...rest } = event
  return rest
}

function Made({ observation, calls }: { observation: Observation; calls: readonly Call[] }) {
  const { model, promptVersion } = observation
  const by = model === null ? 'No model was asked.' : `Model ${safeLine(model)}`
  const version = promptVersion === null ? '' : `, prompt ${safeLine(promptVersion)}`
  return (
    <>
      <p class="memory-small">
        {by}
        {version}
        {model === null ? null : '.'}
      </p>
      {calls.length === 0 ? null : (
        <table class="memory-calls figure">
          <caption class="unseen">Calls to the model</caption>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Took</th>
              <th scope="col" title="Tokens that were sent, cached ones among them">
                Sent
              </th>
              <th scope="col" title="Tokens that came back">
                Received
              </th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {calls.map(({ id, at, durationMs, usage, cost, error }, i) => (
              <tr key={id} title={exactTime(at)} class={error === null ? '' : 'failed'}>
                <th scope="row">
                  {i + 1} {error === null ? 'answered' : <span class="bad">{safeLine(error, 160)}</span>}
                </th>
                <td>{duration(durationMs)}</td>
                <td>{count(usage.input + usage.cacheRead + usage.cacheWrite)}</td>
                <td>{count(usage.output)}</td>
                <td>{cost === null ? 'no price' : money(cost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}

function Steps({ trace, session }: { trace: Origin['trace']; session: string }) {
  return (
    <details class="memory-steps">
      <summary>
        <Icon name="next" size={13} />
        {count(trace.length)} {trace.length === 1 ? 'transition' : 'transitions'} of its session
      </summary>
      <ol>
        {trace.map(({ id, at, event, from, to, reason }) => (
          <li key={id}>
            <time class="figure soft" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
              {clockTime(at)}
            </time>
            <span>
              <span class="mono">{safeLine(event, 60)}</span> {safeLine(from, 60)} → {safeLine(to, 60)}
              <span class="soft"> {safeLine(reason ?? '')}</span>
            </span>
          </li>
        ))}
      </ol>
      <a href={hrefOf('session', session)}>The whole session</a>
    </details>
  )
}
