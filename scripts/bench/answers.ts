/**
 * `npm run bench -- answers --sessions DIR [--json] [--show-missing] [--dump DIR] [--provider NAME]`: whether the memory
 * of a session answers questions about it. Every transcript NAME.jsonl in DIR goes through the transcript reader, the real actors and the
 * offline observer into a memory of its own with index and vectors; then the questions of NAME.facts.json are asked. With
 * --provider the named provider and your settings are used: every transcript is sent to it and paid for.
 *
 * A fact is answered when ONE text holds all of its strings, in any case. Each figure is a share of all facts:
 *
 * - captured: one stored observation, summary or passage does
 * - context_answers: the start block of the next session does, as a whole, with the default settings
 * - naive_start: the newest requests and closing words do, verbatim, in as many tokens (scripts/quality/naive-start.ts)
 * - answers_at_1, answers_at_5: one of the first hits does, as `search_memory` shows it to the agent, asked with the question
 * - answers_in_400_tokens, answers_in_1200_tokens: one of the hits that fit does; the last one is cut
 * - raw_at_5, raw_in_400_tokens, raw_in_1200_tokens: the same for plain FTS5 over the transcript itself: prompts, the
 *   agent's words, tool inputs and tool outputs in pieces of 1,000 characters
 *
 * `over_sessions` has mean and spread (standard deviation) of the sessions' figures and of the margins over the baselines:
 * compare margins, because sessions differ in how much any text can answer. --dump writes for each session what its start
 * was made of (scripts/quality/start.ts), with its facts.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figures, meanAndSpread, Progress, printNote, report, rounded } from '../lib/report.ts'
import { ANSWER_MEASURES, type AnsweredSession, type AskedFact, answeredSession } from '../quality/answers.ts'
import { factsOf, observerNamed, sessionsIn, transcriptOf } from '../quality/sessions.ts'
import { dumpStart } from '../quality/start.ts'

type Measure = (typeof ANSWER_MEASURES)[number]
type Shares = Record<Measure, number | null> & { facts: number }

/** What we do beside what is simple. */
const MARGINS = {
  start_over_naive: ['context_answers', 'naive_start'],
  over_raw_in_400_tokens: ['answers_in_400_tokens', 'raw_in_400_tokens'],
  over_raw_in_1200_tokens: ['answers_in_1200_tokens', 'raw_in_1200_tokens'],
} as const satisfies Record<string, readonly [Measure, Measure]>

function sharesOf(asked: readonly AskedFact[]): Shares {
  const share = (measure: Measure) =>
    asked.length === 0 ? null : rounded(asked.filter(({ answered }) => answered[measure]).length / asked.length, 3)
  const shares = Object.fromEntries(ANSWER_MEASURES.map((measure) => [measure, share(measure)]))
  return { ...(shares as Omit<Shares, 'facts'>), facts: asked.length }
}

function figuresOf(sessions: readonly AnsweredSession[]): Figures {
  const bySession = sessions.map(({ name, facts, start }) => [
    name,
    { ...sharesOf(facts), context_tokens: start.tokens },
  ])
  return {
    ...sharesOf(sessions.flatMap(({ facts }) => facts)),
    sessions: sessions.length,
    over_sessions: overSessions(sessions.filter(({ facts }) => facts.length > 0).map(({ facts }) => sharesOf(facts))),
    by_session: Object.fromEntries(bySession),
  }
}

function overSessions(shares: readonly Shares[]): Figures {
  const margins = Object.entries(MARGINS).map(([name, [ours, simple]]) => [
    name,
    meanAndSpread(shares.map((each) => (each[ours] ?? 0) - (each[simple] ?? 0))),
  ])
  const measures = ANSWER_MEASURES.map((name) => [name, meanAndSpread(shares.map((each) => each[name] ?? 0))])
  return Object.fromEntries([...margins, ...measures])
}

const HIT_CHARS = 300
const HITS_SHOWN = 3

/** Facts that are not captured, not in the start, or not found, and what was found instead. */
function showMissing({ name, facts }: AnsweredSession): void {
  for (const { fact, answered, hits } of facts) {
    const missing = [
      answered.captured ? '' : 'not captured',
      answered.context_answers ? '' : 'not in the start',
      answered.answers_in_1200_tokens ? '' : `not in 1,200 tokens${answered.raw_in_1200_tokens ? ' (raw has it)' : ''}`,
    ].filter((text) => text !== '')
    if (missing.length === 0) continue
    printNote(`${name}: ${missing.join(', ')}: ${fact.ask} (${fact.expect.join(' + ')})`)
    if (answered.answers_in_1200_tokens) continue
    for (const hit of hits.slice(0, HITS_SHOWN)) printNote(`    found: ${hit.slice(0, HIT_CHARS)}`)
  }
}

function showRows(sessions: readonly AnsweredSession[]): void {
  const head = ['captured', 'start', 'naive', 'at 1', 'at 5', 'in 400', 'in 1200', 'raw 5', 'raw 400', 'raw 1200']
  process.stdout.write(`${'session'.padEnd(28)}${head.map((cell) => cell.padStart(9)).join('')}\n`)
  for (const { name, facts } of sessions) {
    const shares = sharesOf(facts)
    const cells = ANSWER_MEASURES.map((measure) => String(shares[measure]).padStart(9))
    process.stdout.write(`${name.padEnd(28)}${cells.join('')}\n`)
  }
  process.stdout.write('\n')
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      sessions: { type: 'string' },
      json: { type: 'boolean', default: false },
      'show-missing': { type: 'boolean', default: false },
      dump: { type: 'string' },
      provider: { type: 'string', default: 'offline' },
    },
  })
  if (options.sessions === undefined) throw new Error('--sessions DIR is needed: transcripts with their facts')
  const directory = resolve(options.sessions)
  const observing = await observerNamed(options.provider)
  const progress = new Progress()
  const sessions: AnsweredSession[] = []
  for (const name of sessionsIn(directory)) {
    progress.show(name)
    const facts = factsOf(directory, name)
    const session = await answeredSession(name, transcriptOf(directory, name), facts, observing)
    sessions.push(session)
    if (options.dump === undefined) continue
    dumpStart(options.dump, name, session.start, { naive_start: session.naive, questions: facts })
  }
  progress.clear()
  for (const session of sessions) {
    for (const complaint of session.complaints) printNote(`${session.name}: ${complaint}`)
    if (options['show-missing']) showMissing(session)
  }
  if (!options.json) showRows(sessions)
  report(figuresOf(sessions), options.json)
}

await main()
