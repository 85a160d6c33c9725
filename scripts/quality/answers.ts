/**
 * Whether the memory of a session answers questions about it: what was captured, what the next session is told at its
 * start, what a search finds, and, beside it, what a search of the transcript itself finds.
 */
import { type BuiltContext, buildContext } from '../../src/context/build.ts'
import { contextSettings } from '../../src/context/selection.ts'
import { CHARS_PER_TOKEN } from '../../src/domain/observation.ts'
import { PASSAGE_KINDS } from '../../src/domain/passage.ts'
import type { Project } from '../../src/domain/project.ts'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import { searchHitText } from '../../src/mcp/tools/search.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { IndexedSearch } from '../search/searched-memory.ts'
import { memoryTexts } from './measure.ts'
import { type ObservedMemory, type ObservedWith, withObserved } from './observed.ts'
import { RawTranscript } from './raw-transcript.ts'
import { answers, type Fact } from './sessions.ts'

export const ANSWER_MEASURES = [
  'captured',
  'context_answers',
  'answers_at_1',
  'answers_at_5',
  'answers_in_400_tokens',
  'answers_in_1200_tokens',
  'raw_at_5',
  'raw_in_400_tokens',
  'raw_in_1200_tokens',
] as const
type AnswerMeasure = (typeof ANSWER_MEASURES)[number]

export interface AskedFact {
  fact: Fact
  answered: Record<AnswerMeasure, boolean>
  /** Best first, as the agent reads them, within 1,200 tokens. */
  hits: string[]
}

export interface AnsweredSession {
  name: string
  facts: AskedFact[]
  /** Estimated tokens of the start. */
  contextTokens: number
  complaints: string[]
}

/** More than 1,200 tokens of hits. */
const HITS_READ = 50
const SMALL_BUDGET = 400
const LARGE_BUDGET = 1_200

export async function answeredSession(
  name: string,
  transcript: string,
  facts: readonly Fact[],
  options: ObservedWith,
): Promise<AnsweredSession> {
  const raw = RawTranscript.read(transcript)
  try {
    return await withObserved(transcript, options, async (memory) => {
      const context = await startOf(memory)
      const asked = await askAll(memory, context, raw, facts)
      return { name, facts: asked, contextTokens: context.tokens, complaints: memory.complaints }
    })
  } finally {
    raw.close()
  }
}

/** What the next session of the project gets with the default settings, if it starts when this one ended. */
export async function startOf({ store, events }: ObservedMemory): Promise<BuiltContext> {
  const { values } = loadSettings('', {})
  const now = events.at(-1)?.at ?? 0
  const options = { ...contextSettings(values), now }
  return await buildContext(store, await projectOf({ store, events }), options)
}

/** The project under which the session is stored. */
async function projectOf({ store, events }: Pick<ObservedMemory, 'store' | 'events'>): Promise<Project> {
  const session = events[0] === undefined ? null : await store.session(events[0].session)
  if (session === null) throw new Error('the transcript contains no session')
  return session.project
}

async function askAll(
  memory: ObservedMemory,
  { context }: BuiltContext,
  raw: RawTranscript,
  facts: readonly Fact[],
): Promise<AskedFact[]> {
  const project = (await projectOf(memory)).key
  const stored = [...memoryTexts(memory), ...(await passageTexts(memory.store, project))]
  const search = await IndexedSearch.open(memory.store, memory.paths)
  try {
    await search.index()
    const asked: AskedFact[] = []
    for (const fact of facts) {
      const request = { query: fact.ask, mode: 'auto', filters: { ...NO_FILTERS, project } } as const
      const found = await search.calls.search({ ...request, limit: HITS_READ, offset: 0 })
      const hits = found.hits.map((hit) => searchHitText(hit, false))
      const pieces = raw.search(fact.ask, HITS_READ)
      const one = (texts: readonly string[]) => texts.some((text) => answers(text, fact))
      asked.push({
        fact,
        hits: withinTokens(hits, LARGE_BUDGET),
        answered: {
          captured: one(stored),
          context_answers: one([context]),
          answers_at_1: one(hits.slice(0, 1)),
          answers_at_5: one(hits.slice(0, 5)),
          answers_in_400_tokens: one(withinTokens(hits, SMALL_BUDGET)),
          answers_in_1200_tokens: one(withinTokens(hits, LARGE_BUDGET)),
          raw_at_5: one(pieces.slice(0, 5)),
          raw_in_400_tokens: one(withinTokens(pieces, SMALL_BUDGET)),
          raw_in_1200_tokens: one(withinTokens(pieces, LARGE_BUDGET)),
        },
      })
    }
    return asked
  } finally {
    await search.close()
  }
}

/** Far more than a session has. */
const MOST_PASSAGES = 100_000

async function passageTexts(store: ObservedMemory['store'], project: string): Promise<string[]> {
  const passages = await store.newestPassages({ project, kinds: PASSAGE_KINDS, limit: MOST_PASSAGES })
  return passages.map(({ subject, text }) => (subject === null ? text : `${subject}\n${text}`))
}

/** The first texts, each with its line end, up to a number of tokens; the last one is cut. */
export function withinTokens(texts: readonly string[], tokens: number): string[] {
  const taken: string[] = []
  let left = tokens * CHARS_PER_TOKEN
  for (const text of texts) {
    if (left <= 0) break
    taken.push(text.slice(0, left))
    left -= text.length + 1
  }
  return taken
}
