/** The figures of the quality bench, each a plain function of what was stored. */
import type { MemoryEvent } from '../../src/memory/event.ts'
import type { Observation, Summary } from '../../src/memory/observation.ts'
import { saysNothing } from './noise.ts'
import type { Observed } from './observed.ts'
import type { Fact } from './scenario.ts'
import { titleProblem } from './title.ts'

export interface Measured {
  tools: number
  observations: number
  summaries: number
  facts: number
  missing: Fact[]
  noise: Observation[]
  badTitles: { title: string; problem: string }[]
  charsIn: number
  charsOut: number
}

export function measure(observed: Observed, facts: readonly Fact[]): Measured {
  const { events, observations, summaries } = observed
  const memories = [...observations.map(observationText), ...summaries.map(summaryText)]
  const folded = memories.map((text) => text.toLowerCase())
  const holds = (fact: Fact) => folded.some((text) => fact.expect.every((part) => text.includes(part.toLowerCase())))
  const sources = new Map(events.map((event) => [event.id, event]))
  return {
    tools: events.filter(isTool).length,
    observations: observations.length,
    summaries: summaries.length,
    facts: facts.length,
    missing: facts.filter((fact) => !holds(fact)),
    noise: observations.filter((observation) =>
      saysNothing(
        observation,
        observation.sources.flatMap((id) => sources.get(id) ?? []),
      ),
    ),
    badTitles: observations.flatMap(({ title }) => {
      const problem = titleProblem(title)
      return problem === null ? [] : [{ title: title ?? '', problem }]
    }),
    charsIn: events.reduce((sum, event) => sum + charsOf(event), 0),
    charsOut: memories.reduce((sum, text) => sum + text.length, 0),
  }
}

const isTool = (event: MemoryEvent): boolean => event.kind === 'tool_use' || event.kind === 'tool_failure'

/** What the session held: prompts, and inputs with responses of its tools. */
function charsOf(event: MemoryEvent): number {
  if (event.kind === 'prompt') return event.text.length
  if (event.kind === 'tool_use') return json(event.input) + json(event.response)
  return event.kind === 'tool_failure' ? json(event.input) + event.error.length : 0
}

const json = (value: unknown): number => (JSON.stringify(value) ?? '').length

export function observationText(observation: Observation): string {
  const { title, subtitle, narrative, facts, concepts, filesRead, filesModified, functionsChanged } = observation
  const functions = functionsChanged.map(({ name, file, action }) => `${action} ${name} ${file}`)
  const lists = [...facts, ...concepts, ...filesRead, ...filesModified, ...functions]
  return [observation.type, title, subtitle, narrative, ...lists].filter((part) => part !== null).join('\n')
}

export function summaryText(summary: Summary): string {
  const { request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = summary
  return [request, investigated, learned, completed, nextSteps, notes, ...filesRead, ...filesEdited]
    .filter((part) => part !== null)
    .join('\n')
}
