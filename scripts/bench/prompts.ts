/**
 * `npm run bench -- prompts [--json]`: which prompts get memories at which floor (CLAUDE_MEM_PROMPT_CONTEXT_FLOOR), over
 * what the offline observer keeps of the recorded sessions, each in a project of its own.
 *
 * - own: share of the prompts of the sessions, repeated in their project, that get something
 * - foreign: the same prompts in the other projects: they should get nothing
 * - everyday: prompts that fit any project (test/retrieval/everyday-prompts.json): they should get nothing
 * - questions: share of the questions about code (test/retrieval/code-queries.json) that get the answer
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { relevance } from '../../src/context/recall.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { Progress, report, rounded } from '../lib/report.ts'
import { ROOT } from '../lib/sandbox.ts'
import { isHeld, keepSessions, observedSessions, readCodeQueries } from '../search/code-queries.ts'
import { SearchedMemory } from '../search/searched-memory.ts'

const { values: options } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
/** As many as `src/context/recall.ts` requests. */
const CANDIDATES = 10
const ITEMS = SETTINGS.CLAUDE_MEM_PROMPT_CONTEXT_ITEMS.rule.default
const EVERYDAY_PROMPTS: readonly string[] = JSON.parse(
  readFileSync(join(ROOT, 'test', 'retrieval', 'everyday-prompts.json'), 'utf8'),
)
const FLOORS = [0.2, 0.3, 0.4, 0.5, 0.6]

/** A hit of the search, best first. */
type Candidate = { relevance: number; isAnswer: boolean }
interface PromptCandidates {
  own: Candidate[][]
  foreign: Candidate[][]
  everyday: Candidate[][]
  questions: Candidate[][]
}

const progress = new Progress()

async function askAll(memory: SearchedMemory): Promise<PromptCandidates> {
  const sessions = await observedSessions()
  const texts = await keepSessions(memory, sessions)
  await memory.index()
  const ask = async (project: string, prompt: string, expect: readonly string[] | null): Promise<Candidate[]> => {
    const hits = await memory.ask(prompt, { project: `dir:/${project}` }, CANDIDATES)
    return hits
      .flatMap((hit) => [hit, ...hit.further])
      .map(({ id, matched }) => ({
        relevance: relevance(prompt, matched),
        isAnswer: expect !== null && isHeld(texts.get(`observation ${id}`) ?? '', expect),
      }))
  }
  const asked: PromptCandidates = { own: [], foreign: [], everyday: [], questions: [] }
  const prompts = sessions.flatMap(({ name, observed }) =>
    observed.events.flatMap((event) =>
      event.kind === 'prompt' && event.text !== '' ? [{ name, text: event.text }] : [],
    ),
  )
  const queries = readCodeQueries()
  let first = 1
  for (const { name, observed } of sessions) {
    progress.show(`asking ${name}`)
    for (const prompt of prompts) {
      asked[prompt.name === name ? 'own' : 'foreign'].push(await ask(name, prompt.text, null))
    }
    for (const prompt of EVERYDAY_PROMPTS) asked.everyday.push(await ask(name, prompt, null))
    const known = observed.observations.map((_, i) => texts.get(`observation ${first + i}`) ?? '')
    first += known.length
    for (const { query, expect } of queries) {
      if (known.some((text) => isHeld(text, expect))) asked.questions.push(await ask(name, query, expect))
    }
  }
  return asked
}

function atFloor({ own, foreign, everyday, questions }: PromptCandidates, floor: number) {
  const given = (candidates: Candidate[]) => candidates.filter((one) => one.relevance >= floor).slice(0, ITEMS)
  const share = (all: Candidate[][], isCounted: (given: Candidate[]) => boolean) =>
    rounded(all.filter((candidates) => isCounted(given(candidates))).length / all.length, 3)
  const something = (some: Candidate[]) => some.length > 0
  return {
    floor,
    own: share(own, something),
    foreign: share(foreign, something),
    everyday: share(everyday, something),
    questions: share(questions, (some) => some.some(({ isAnswer }) => isAnswer)),
  }
}

const memory = await SearchedMemory.open('bench-prompts')
try {
  const asked = await askAll(memory)
  progress.clear()
  const floors = FLOORS.map((floor) => atFloor(asked, floor))
  const shipped = atFloor(asked, SETTINGS.CLAUDE_MEM_PROMPT_CONTEXT_FLOOR.rule.default)
  const counts = Object.entries(asked).map(([kind, all]) => [`asked_${kind}`, all.length])
  report({ ...shipped, floors, ...Object.fromEntries(counts) }, options.json)
} finally {
  await memory.close()
}
