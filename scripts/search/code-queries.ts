/**
 * Questions about code over what the offline observer keeps of the recorded sessions, all projects in one memory. A
 * question is answered by an observation or summary that contains all its substrings, in any case.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import { ROOT } from '../lib/sandbox.ts'
import { type Observed, observed } from '../quality/observed.ts'
import { PlainFts5, type SearchedMemory, TOP } from './searched-memory.ts'

const queryShape = z.object({
  category: z.string().min(1),
  query: z.string().min(1),
  expect: z.array(z.string().min(1)).min(1),
})
export type CodeQuery = z.infer<typeof queryShape>

export interface CodeAnswer extends CodeQuery {
  found: boolean
  plainFound: boolean
  /** No memory contains the answer, so no search can find it. */
  isLost: boolean
}

const FOLDERS = ['dev', 'check']

export function readCodeQueries(): CodeQuery[] {
  const file = join(ROOT, 'test', 'retrieval', 'code-queries.json')
  return z.array(queryShape).parse(JSON.parse(readFileSync(file, 'utf8')))
}

/** The memory of each recorded session. */
export async function observedSessions(): Promise<{ name: string; observed: Observed }[]> {
  const sessions: { name: string; observed: Observed }[] = []
  for (const folder of FOLDERS) {
    const directory = join(ROOT, 'test', 'quality', folder)
    for (const file of readdirSync(directory).sort()) {
      if (!file.endsWith('.jsonl') || file.startsWith('agent-')) continue
      const seen = await observed(join(directory, file), { observer: offlineObserver })
      sessions.push({ name: basename(file, '.jsonl'), observed: seen })
    }
  }
  return sessions
}

/** Commits the sessions; returns the text of each memory by `observation 12` or `summary 3`. */
export async function keepSessions(
  memory: SearchedMemory,
  sessions: Awaited<ReturnType<typeof observedSessions>>,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const { name, observed: seen } of sessions) {
    const ids = await memory.keep({
      id: name,
      project: { key: `dir:/${name}`, name },
      observations: seen.observations.map(dated),
      summaries: seen.summaries.map(dated),
    })
    for (const [i, id] of ids.observations.entries()) texts.set(`observation ${id}`, textOf(seen.observations[i]))
    for (const [i, id] of ids.summaries.entries()) texts.set(`summary ${id}`, textOf(seen.summaries[i]))
  }
  return texts
}

export async function askCode(
  memory: SearchedMemory,
  queries: readonly CodeQuery[],
  texts: ReadonlyMap<string, string>,
): Promise<CodeAnswer[]> {
  const plain = new PlainFts5([...texts].map(([id, text]) => ({ id, text })))
  const answers: CodeAnswer[] = []
  for (const asked of queries) {
    const holds = (id: string) => isHeld(texts.get(id) ?? '', asked.expect)
    const hits = await memory.ask(asked.query, { kinds: ['observation', 'summary'] }, TOP)
    const first = hits.flatMap((hit) => [hit, ...hit.further]).slice(0, TOP)
    answers.push({
      ...asked,
      found: first.some(({ kind, id }) => holds(`${kind} ${id}`)),
      plainFound: plain.search(asked.query, TOP).some(holds),
      isLost: ![...texts.keys()].some(holds),
    })
  }
  plain.close()
  return answers
}

const dated = <T extends Observation | Summary>(draft: T) => ({
  draft,
  promptNumber: draft.promptNumber,
  at: draft.createdAt,
})

export function isHeld(text: string, expected: readonly string[]): boolean {
  return expected.every((part) => text.includes(part.toLowerCase()))
}

/** All texts of a memory, in lower case. */
function textOf(memory: Observation | Summary | undefined): string {
  if (memory === undefined) return ''
  const parts =
    'type' in memory
      ? [
          memory.title,
          memory.subtitle,
          memory.narrative,
          ...memory.facts,
          ...memory.concepts,
          ...memory.filesRead,
          ...memory.filesModified,
          ...memory.functionsChanged.map(({ name }) => name),
        ]
      : [
          memory.request,
          memory.investigated,
          memory.learned,
          memory.completed,
          memory.nextSteps,
          memory.notes,
          ...memory.filesRead,
          ...memory.filesEdited,
        ]
  return parts
    .filter((part) => part !== null)
    .join('\n')
    .toLowerCase()
}
