/**
 * `npm run bench -- asof --histories DIR [--json] [--show-missing] [--dump DIR] [--provider NAME]`: whether the memory of a
 * project tells what is true now. Every history in DIR (scripts/quality/histories.ts) goes session by session through the
 * transcript readers, the real actors and the offline observer into one memory; at each checkpoint its questions are asked
 * of a memory that knows nothing later.
 *
 * A question is answered when ONE text holds all of its strings, in any case. Each figure is a share of all questions:
 *
 * - start: the start of the next session does, as a whole, with the default settings
 * - naive_start: the newest requests and closing words do, verbatim, in as many tokens (scripts/quality/naive-start.ts)
 * - search_400, search_1200: what `search_memory` shows does, asked with the question for that many tokens
 *
 * and of the questions with outdated values (with_must_not):
 *
 * - stale_in_start, naive_stale: the start has an outdated value and not the current one
 * - stale_first: in the 1,200 tokens an outdated value comes before the current one, or instead of it
 *
 * `over_histories` has mean and spread (standard deviation) of the histories' figures and of the start's margin over the
 * naive one. --dump writes for each checkpoint what the start was made
 * of (scripts/quality/start.ts), with its questions.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figures, meanAndSpread, Progress, printNote, report, rounded } from '../lib/report.ts'
import { AgentSearch } from '../quality/agent-search.ts'
import { ASOF_MEASURES, type AskedQuestion, type AsofMeasure, askQuestion, checkpointsOf } from '../quality/asof.ts'
import { type History, historiesIn } from '../quality/histories.ts'
import { type ObservedWith, withMemory } from '../quality/observed.ts'
import { observerNamed } from '../quality/sessions.ts'
import { checkpointName, dumpStart } from '../quality/start.ts'

interface AskedHistory {
  name: string
  asked: AskedQuestion[]
  /** Estimated tokens of the start at each checkpoint. */
  startTokens: number[]
  complaints: string[]
}

async function askHistory(
  history: History,
  observing: ObservedWith,
  dump: string | undefined,
  progress: Progress,
): Promise<AskedHistory> {
  const { name, questions, project, cwd } = history
  const after = new Set(questions.map((question) => question.after))
  return await withMemory(observing, async (memory) => {
    const search = await AgentSearch.open(memory, project, cwd)
    const asked: AskedQuestion[] = []
    const startTokens: number[] = []
    try {
      for await (const checkpoint of checkpointsOf(history, memory, after, progress)) {
        const here = questions.filter((question) => question.after === checkpoint.after)
        const asks = { history: name, after: checkpoint.after, naive_start: checkpoint.naive, questions: here }
        if (dump !== undefined) dumpStart(dump, checkpointName(name, checkpoint.after), checkpoint.start, asks)
        startTokens.push(checkpoint.start.tokens)
        await search.index()
        for (const question of here) asked.push(await askQuestion(question, checkpoint, search))
      }
      return { name, asked, startTokens, complaints: memory.complaints }
    } finally {
      await search.close()
    }
  })
}

const OF_OUTDATED: readonly AsofMeasure[] = ['stale_in_start', 'naive_stale', 'stale_first']

function sharesOf(asked: readonly AskedQuestion[]): Record<AsofMeasure, number | null> {
  const outdated = asked.filter(({ question }) => question.must_not.length > 0)
  const share = (measure: AsofMeasure) => {
    const among = OF_OUTDATED.includes(measure) ? outdated : asked
    const right = among.filter(({ answered }) => answered[measure]).length
    return among.length === 0 ? null : rounded(right / among.length, 3)
  }
  return Object.fromEntries(ASOF_MEASURES.map((measure) => [measure, share(measure)])) as Record<
    AsofMeasure,
    number | null
  >
}

function figuresOf(asked: readonly AskedQuestion[], startTokens: readonly number[]): Figures {
  const kinds = [...new Set(asked.map(({ question }) => question.kind))]
  const byKind = kinds.map((kind) => {
    const those = asked.filter(({ question }) => question.kind === kind)
    const { start, naive_start, search_1200 } = sharesOf(those)
    return [kind, { questions: those.length, start, naive_start, search_1200 }]
  })
  return {
    ...sharesOf(asked),
    questions: asked.length,
    with_must_not: asked.filter(({ question }) => question.must_not.length > 0).length,
    start_tokens: rounded(startTokens.reduce((sum, tokens) => sum + tokens, 0) / Math.max(1, startTokens.length), 0),
    by_kind: Object.fromEntries(byKind),
  }
}

function overHistories(histories: readonly AskedHistory[]): Figures {
  const shares = histories.map(({ asked }) => sharesOf(asked))
  const margin = meanAndSpread(shares.map(({ start, naive_start }) => (start ?? 0) - (naive_start ?? 0)))
  const measures = ASOF_MEASURES.map((name) => [name, meanAndSpread(shares.map((each) => each[name] ?? 0))])
  return { start_over_naive: margin, ...Object.fromEntries(measures) }
}

function showAsked({ name, asked }: AskedHistory): void {
  for (const { question, answered } of asked) {
    const { after, kind, ask, expect } = question
    const marks = ASOF_MEASURES.filter((measure) => answered[measure])
    printNote(`${name} after ${after}, ${kind}: ${ask} (${expect.join(' + ')}): ${marks.join(', ') || 'nowhere'}`)
  }
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      histories: { type: 'string' },
      json: { type: 'boolean', default: false },
      'show-missing': { type: 'boolean', default: false },
      dump: { type: 'string' },
      provider: { type: 'string', default: 'offline' },
    },
  })
  if (options.histories === undefined) throw new Error('--histories DIR is needed: folders with NNN-*.jsonl')
  const observing = await observerNamed(options.provider)
  const progress = new Progress()
  const histories: AskedHistory[] = []
  for (const history of historiesIn(resolve(options.histories))) {
    histories.push(await askHistory(history, observing, options.dump, progress))
  }
  progress.clear()
  for (const history of histories) {
    for (const complaint of history.complaints) printNote(`${history.name}: ${complaint}`)
    if (options['show-missing']) showAsked(history)
  }
  const all = figuresOf(
    histories.flatMap(({ asked }) => asked),
    histories.flatMap(({ startTokens }) => startTokens),
  )
  const byHistory = histories.map(({ name, asked, startTokens }) => [name, figuresOf(asked, startTokens)])
  const asked = histories.filter((history) => history.asked.length > 0)
  report({ ...all, over_histories: overHistories(asked), by_history: Object.fromEntries(byHistory) }, options.json)
}

await main()
