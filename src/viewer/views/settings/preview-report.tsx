/** The text as the session gets it, what it is made of, and what is not in it. */
import type { Answer } from '../../../channel/protocol.ts'
import { withoutColours } from '../../../memory/colours.ts'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { count, counted } from '../../times.ts'

export type ContextAnswer = Extract<Answer, { type: 'context' }>
type Report = NonNullable<ContextAnswer['report']>
type Part = keyof Report['parts']

const PARTS: readonly { part: Part; colour: string; name: string }[] = [
  { part: 'pinned', colour: '--accent', name: 'pinned' },
  { part: 'summary', colour: '--summary', name: 'last turn' },
  { part: 'earlier', colour: '--prompt', name: 'earlier turns' },
  { part: 'timeline', colour: '--refactor', name: 'rows' },
  { part: 'details', colour: '--discovery', name: 'details' },
  { part: 'legend', colour: '--decision', name: 'legend' },
  { part: 'totals', colour: '--live', name: 'totals' },
  { part: 'more', colour: '--feature', name: 'how to ask' },
  { part: 'frame', colour: '--change', name: 'frame' },
]

const LEFT_OUT: readonly [keyof Report['leftOut'], string][] = [
  ['budget', 'for which the tokens did not last'],
  ['rows', 'beyond the rows that it may have'],
  ['repeats', 'that say what another one says'],
  ['superseded', 'that a newer one replaces'],
  ['parts', 'whose part is left out'],
  ['unread', 'too old, or of a type that is left out'],
]

/** More than any budget allows; the text is cut there. */
const LONGEST_CONTEXT = 40_000

export function PreviewReport({ answer, budget }: { answer: ContextAnswer; budget: number }) {
  const { context, tokens, report } = answer
  const message = withoutColours(answer.message)
  return (
    <div class="preview-given">
      <Cost tokens={tokens} budget={budget} parts={report?.parts ?? {}} />
      {context === '' ? (
        <p class="preview-none">With this, the session is told nothing.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
        <section class="preview-text" data-testid="context-preview" aria-label="The text" tabIndex={0}>
          <pre>
            {safe(context, LONGEST_CONTEXT)
              .split('\n')
              .map((line, i) => (
                <Line key={i} text={line} />
              ))}
          </pre>
        </section>
      )}
      {report === null ? null : <Told report={report} />}
      <p class="preview-message">
        <strong>You are told:</strong> {message === '' ? 'nothing.' : safeLine(message, 600)}
      </p>
    </div>
  )
}

/** The budget as one bar, each part with its piece of it. */
function Cost({ tokens, budget, parts }: { tokens: number; budget: number; parts: Report['parts'] }) {
  const shown = PARTS.flatMap(({ part, ...more }) => {
    const cost = parts[part] ?? 0
    return cost > 0 ? [{ ...more, part, cost }] : []
  })
  const whole = Math.max(budget, tokens, 1)
  return (
    <div class="cost">
      <p class="cost-words">
        <span>Costs each session</span>
        <span class="figure" title="Estimated: four characters are a token">
          {count(tokens)} of {count(budget)} tokens
        </span>
      </p>
      <div class="cost-track" aria-hidden="true">
        {shown.map(({ part, colour, cost }) => (
          <span key={part} style={{ width: `${(cost / whole) * 100}%`, background: `var(${colour})` }} />
        ))}
      </div>
      <ul class="cost-parts">
        {shown.map(({ part, colour, name, cost }) => (
          <li key={part} title={`${count(cost)} tokens`}>
            <span class="cost-key" style={{ background: `var(${colour})` }} />
            {name} <span class="figure">{count(cost)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Told({ report: { counts, leftOut } }: { report: Report }) {
  const missing = LEFT_OUT.filter(([why]) => leftOut[why] > 0)
  return (
    <div class="preview-told">
      <p>
        In it: {counted(counts.observations, 'row')}, {counted(counts.details, 'detail')}, {count(counts.pinned)}{' '}
        pinned, {counted(counts.summaries, 'turn')}.
      </p>
      {missing.length === 0 ? (
        <p>Nothing of this project is left out.</p>
      ) : (
        <>
          <p>Not in it:</p>
          <ul>
            {missing.map(([why, said]) => (
              <li key={why}>
                <span class="figure">{count(leftOut[why])}</span> {said}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

/** Character for character; the bars of a table step back behind what stands between them. */
function Line({ text }: { text: string }) {
  if (!text.startsWith('|')) {
    return <span class={/^(?:#|\*\*)/.test(text) ? 'line strong' : 'line'}>{`${text}\n`}</span>
  }
  return (
    <span class="line row">
      {text.split(/(\|)/).map((piece, i) =>
        piece === '|' ? (
          <span key={i} class="bar">
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
      {'\n'}
    </span>
  )
}
