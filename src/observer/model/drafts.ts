/** From what a reply says to what is stored: which events it came from, who did them, what they had cost. */
import type { MessageEvent } from '../../memory/event.ts'
import { estimateTokens, type ObservationDraft } from '../../memory/observation.ts'
import type { ParsedObservation } from './reply/index.ts'

/** `messages` are numbered from 1, as the prompt numbered them. */
export function draftsOf(
  observations: readonly ParsedObservation[],
  messages: readonly MessageEvent[],
): ObservationDraft[] {
  return observations.map((observation) => draftOf(observation, sourcesOf(observation, messages)))
}

function draftOf({ from: _, ...content }: ParsedObservation, sources: readonly MessageEvent[]): ObservationDraft {
  const agents = new Set(sources.map((event) => event.agent?.type ?? null))
  const [agent = null] = agents
  return {
    ...content,
    agent: agents.size === 1 ? agent : null,
    discoveryTokens: sources.reduce((total, event) => total + estimateTokens(JSON.stringify(event)), 0),
    discoveryEstimated: true,
    sources: sources.map((event) => event.id),
  }
}

/** The tool uses that the reply names; else those on its files; else all of the batch. */
function sourcesOf(observation: ParsedObservation, messages: readonly MessageEvent[]): readonly MessageEvent[] {
  const named = messages.filter((_, i) => observation.from.includes(i + 1))
  if (named.length > 0) return named
  const files = [...observation.filesModified, ...observation.filesRead]
  const touching = messages.filter((event) => files.some((file) => touches(event, file)))
  return touching.length > 0 ? touching : messages
}

function touches(event: MessageEvent, file: string): boolean {
  if (event.kind === 'subagent_end' || typeof event.input !== 'object' || event.input === null) return false
  const path = 'file_path' in event.input && typeof event.input.file_path === 'string' ? event.input.file_path : null
  return path !== null && (path === file || path.replaceAll('\\', '/').endsWith(`/${file.replace(/^\.?\//, '')}`))
}
