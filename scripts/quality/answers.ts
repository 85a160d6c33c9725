/**
 * Whether the memory of a session answers questions about it: what was captured, what the next session gets at its start,
 * what a search finds; and, beside it, what a naive start has and what a search of the transcript itself finds.
 */
import { CHARS_PER_TOKEN } from '../../src/domain/observation.ts'
import { PASSAGE_KINDS } from '../../src/domain/passage.ts'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import { searchHitText } from '../../src/mcp/tools/search.ts'
import { IndexedSearch } from '../search/searched-memory.ts'
import { memoryTexts } from './measure.ts'
import { naiveStart, spokenTurns } from './naive-start.ts'
import { type ObservedMemory, type ObservedWith, withObserved } from './observed.ts'
import { RawTranscript } from './raw-transcript.ts'
import { answers, type Fact } from './sessions.ts'
import { type MadeStart, startOf } from './start.ts'

export const ANSWER_MEASURES = [
  'captured',
  'context_answers',
  'naive_start',
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
  start: MadeStart
  /** The newest turns verbatim, in as many tokens as the start may have. */
  naive: string
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
      const start = await startOf(memory)
      const naive = naiveStart(await spokenTurns(transcript), start.options.tokens)
      const asked = await askAll(memory, { start, naive }, raw, facts)
      return { name, facts: asked, start, naive, complaints: memory.complaints }
    })
  } finally {
    raw.close()
  }
}

async function askAll(
  memory: ObservedMemory,
  { start, naive }: Pick<AnsweredSession, 'start' | 'naive'>,
  raw: RawTranscript,
  facts: readonly Fact[],
): Promise<AskedFact[]> {
  const project = start.project.key
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
          context_answers: one([start.context]),
          naive_start: one([naive]),
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
