/**
 * `npm run bench -- next --histories DIR [--json] [--show-missing] [--dump DIR]`: how much of what the next session needs
 * its start has, without any label. Before each session of a history (scripts/quality/histories.ts) but the first, memory is
 * made of the sessions before it, as in `asof`. Its words are the paths and identifiers (scripts/quality/next-words.ts)
 * that it uses in prompts, edits and commands and that occurred anywhere in the sessions before; each counts once. Left out
 * are words that occur in more than half of the sessions of the history, and sessions with fewer than five words.
 *
 * - start, naive_start: share of the words that the start has, and the naive start of as many tokens; mean over sessions
 * - ratio: start over naive_start
 * - over_histories: mean and spread (standard deviation) of the histories' figures
 *
 * --show-missing lists the words of each session that are in neither. --dump writes for each session what its start was
 * made of (scripts/quality/start.ts), with the words.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { type Figures, meanAndSpread, Progress, printNote, report, rounded } from '../lib/report.ts'
import { checkpointsOf } from '../quality/asof.ts'
import { type History, historiesIn, historyEvents } from '../quality/histories.ts'
import { commonWords, knownWords, specificWords, usedWords } from '../quality/next-words.ts'
import { type GrowingMemory, type ObservedWith, withMemory } from '../quality/observed.ts'
import { observerNamed } from '../quality/sessions.ts'
import { checkpointName, dumpStart } from '../quality/start.ts'

/** The share of fewer words says little. */
const MIN_WORDS = 5

interface NextSession {
  /** Number of the session that starts. */
  session: number
  words: Set<string>
  start: Set<string>
  naive: Set<string>
  startTokens: number
}

/** The words that each session uses and that were known before it; none for the first. */
async function neededWords(history: History, memory: GrowingMemory): Promise<Set<string>[]> {
  const sessions: { known: Set<string>; used: Set<string> }[] = []
  for (const file of history.files) {
    const events: MemoryEvent[] = []
    for await (const event of historyEvents(history, memory, file)) events.push(event)
    sessions.push({ known: knownWords(events), used: usedWords(events) })
  }
  const common = commonWords(sessions.map(({ known }) => known))
  const before = new Set<string>()
  return sessions.map(({ known, used }) => {
    const needed = [...used].filter((word) => before.has(word) && !common.has(word))
    for (const word of known) before.add(word)
    return new Set(needed)
  })
}

async function readHistory(
  history: History,
  observing: ObservedWith,
  dump: string | undefined,
  progress: Progress,
): Promise<NextSession[]> {
  const { name, files } = history
  return await withMemory(observing, async (memory) => {
    const needed = await neededWords(history, memory)
    const after = new Set(files.slice(1).keys())
    const sessions: NextSession[] = []
    for await (const { after: last, start, naive } of checkpointsOf(history, memory, after, progress)) {
      const session = last + 1
      const words = needed[session] ?? new Set()
      if (words.size < MIN_WORDS) continue
      const asked = { history: name, after: last, naive_start: naive, words: [...words] }
      if (dump !== undefined) dumpStart(dump, checkpointName(name, last), start, asked)
      const found = { start: specificWords(start.context), naive: specificWords(naive) }
      sessions.push({ session, words, ...found, startTokens: start.tokens })
    }
    return sessions
  })
}

const shareIn = (words: ReadonlySet<string>, text: ReadonlySet<string>): number =>
  [...words].filter((word) => text.has(word)).length / words.size

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

function figuresOf(sessions: readonly NextSession[]) {
  const start = mean(sessions.map((each) => shareIn(each.words, each.start)))
  const naive = mean(sessions.map((each) => shareIn(each.words, each.naive)))
  return {
    start: rounded(start, 3),
    naive_start: rounded(naive, 3),
    ratio: naive === 0 ? null : rounded(start / naive, 2),
    sessions: sessions.length,
    words: rounded(mean(sessions.map(({ words }) => words.size)), 0),
    start_tokens: rounded(mean(sessions.map(({ startTokens }) => startTokens)), 0),
  }
}

const WORDS_SHOWN = 40

function showMissing(name: string, sessions: readonly NextSession[]): void {
  for (const { session, words, start, naive } of sessions) {
    const shares = `start ${rounded(shareIn(words, start))}, naive ${rounded(shareIn(words, naive))}`
    const missing = [...words].filter((word) => !start.has(word) && !naive.has(word))
    printNote(`${name} ${session}: ${words.size} words, ${shares}; missing: ${missing.slice(0, WORDS_SHOWN).join(' ')}`)
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
  const histories: { name: string; sessions: NextSession[] }[] = []
  for (const history of historiesIn(resolve(options.histories))) {
    const sessions = await readHistory(history, observing, options.dump, progress)
    if (sessions.length > 0) histories.push({ name: history.name, sessions })
  }
  progress.clear()
  if (options['show-missing']) for (const { name, sessions } of histories) showMissing(name, sessions)
  const figures = histories.map(({ name, sessions }) => ({ name, ...figuresOf(sessions) }))
  const over = (['start', 'naive_start', 'ratio'] as const).map((measure) => [
    measure,
    meanAndSpread(figures.flatMap((each) => each[measure] ?? [])),
  ])
  const byHistory: Figures = Object.fromEntries(figures.map(({ name, ...each }) => [name, each]))
  const all = figuresOf(histories.flatMap(({ sessions }) => sessions))
  report({ ...all, over_histories: Object.fromEntries(over), by_history: byHistory }, options.json)
}

await main()
