/** Everything that was remembered of a session, as Markdown for a critical reader. */
import type { Measured } from './measure.ts'
import type { Observed } from './observed.ts'

export function dumped(name: string, { observations, summaries }: Observed, measured: Measured): string {
  const noise = new Set(measured.noise.map(({ id }) => id))
  const turns = [...new Set([...observations, ...summaries].map(({ promptNumber }) => promptNumber))].sort(
    (a, b) => a - b,
  )
  const parts = turns.flatMap((turn) => [
    `## Turn ${turn}`,
    ...observations
      .filter(({ promptNumber }) => promptNumber === turn)
      .map((o) =>
        section(`${o.type}: ${o.title ?? '(no title)'}${noise.has(o.id) ? ' [noise]' : ''}`, [
          ['subtitle', o.subtitle],
          ['narrative', o.narrative],
          ['facts', list(o.facts)],
          ['concepts', o.concepts.join(', ')],
          ['read', o.filesRead.join(', ')],
          ['modified', o.filesModified.join(', ')],
          ['functions', o.functionsChanged.map((f) => `${f.action} ${f.name} (${f.file})`).join(', ')],
          ['agent', o.agent],
          ['sources', String(o.sources.length)],
        ]),
      ),
    ...summaries
      .filter(({ promptNumber }) => promptNumber === turn)
      .map((s) =>
        section('Summary', [
          ['request', s.request],
          ['investigated', s.investigated],
          ['learned', s.learned],
          ['completed', s.completed],
          ['next steps', s.nextSteps],
          ['notes', s.notes],
          ['read', s.filesRead.join(', ')],
          ['edited', s.filesEdited.join(', ')],
        ]),
      ),
  ])
  const missing = measured.missing.map(({ ask, expect }) => `- missing: ${ask} (${expect.join(' + ')})`)
  return [`# ${name}`, ...missing, ...parts].join('\n\n')
}

function section(heading: string, fields: readonly (readonly [string, string | null])[]): string {
  const filled = fields.filter(([, value]) => value !== null && value !== '')
  return [`### ${heading}`, ...filled.map(([name, value]) => `- **${name}**: ${value}`)].join('\n')
}

const list = (items: readonly string[]): string => items.map((item) => `\n  - ${item}`).join('')
