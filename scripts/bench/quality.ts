/**
 * `npm run bench -- quality [--sessions DIR] [--json] [--show-missing] [--dump FILE] [--provider NAME]`: every transcript
 * in DIR through the transcript reader, the real actors and the offline observer. With --provider the named provider and
 * your settings are used: every transcript is sent to it and paid for. NAME.facts.json next to a transcript lists what a
 * good memory of it contains. test/quality/README.md has more.
 *
 * - facts_recovered: share of the facts whose substrings all appear, in any case, in one observation or one summary
 * - noise_rate: share of the observations that only say that a tool ran
 * - per_100_tools: observations per 100 tool uses
 * - compression: characters of prompts, tool inputs and responses per character of observations and summaries
 * - title_ok: share of the titles that keep the rules (scripts/quality/measure.ts)
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figures, Progress, printNote, report, rounded } from '../lib/report.ts'
import { ROOT } from '../lib/sandbox.ts'
import { type Measured, measure, sessionMarkdown } from '../quality/measure.ts'
import { type Observed, observed } from '../quality/observed.ts'
import { factsOf, observerNamed, sessionsIn, transcriptOf } from '../quality/sessions.ts'

interface Session {
  name: string
  observed: Observed
  measured: Measured
}

function figuresOf(sessions: readonly Measured[]): Figures {
  const sum = (figure: (measured: Measured) => number) => sessions.reduce((total, each) => total + figure(each), 0)
  const share = (part: number, whole: number, digits = 3) => (whole === 0 ? null : rounded(part / whole, digits))
  const facts = sum((each) => each.facts)
  const observations = sum((each) => each.observations)
  const tools = sum((each) => each.tools)
  return {
    facts_recovered: share(facts - sum((each) => each.missing.length), facts),
    noise_rate: share(
      sum((each) => each.noise.length),
      observations,
    ),
    per_100_tools: share(100 * observations, tools, 1),
    compression: share(
      sum((each) => each.charsIn),
      sum((each) => each.charsOut),
      1,
    ),
    title_ok: share(observations - sum((each) => each.badTitles.length), observations),
    sessions: sessions.length,
    tools,
    observations,
    summaries: sum((each) => each.summaries),
    facts,
  }
}

function row(name: string, figures: Figures): string {
  const { facts_recovered, noise_rate, per_100_tools, compression, title_ok, tools, observations } = figures
  const cells = [facts_recovered, noise_rate, per_100_tools, compression, title_ok, tools, observations]
  return `${name.padEnd(28)}${cells.map((cell) => String(cell).padStart(9)).join('')}\n`
}

function showRows(sessions: readonly Session[]): void {
  const head = ['facts', 'noise', 'per 100', 'compr', 'titles', 'tools', 'obs']
  process.stdout.write(`${'session'.padEnd(28)}${head.map((cell) => cell.padStart(9)).join('')}\n`)
  for (const { name, measured } of sessions) process.stdout.write(row(name, figuresOf([measured])))
  process.stdout.write('\n')
}

function showMissing({ name, measured }: Session): void {
  for (const { ask, expect } of measured.missing) printNote(`${name}: missing: ${ask} (${expect.join(' + ')})`)
  for (const { title } of measured.noise) printNote(`${name}: noise: ${title}`)
  for (const { title, problem } of measured.badTitles) printNote(`${name}: title: ${JSON.stringify(title)}: ${problem}`)
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      sessions: { type: 'string', default: join(ROOT, 'test', 'quality', 'check') },
      json: { type: 'boolean', default: false },
      'show-missing': { type: 'boolean', default: false },
      dump: { type: 'string' },
      provider: { type: 'string', default: 'offline' },
    },
  })
  const directory = resolve(options.sessions)
  const observing = await observerNamed(options.provider)
  const progress = new Progress()
  const sessions: Session[] = []
  for (const name of sessionsIn(directory)) {
    progress.show(name)
    const seen = await observed(transcriptOf(directory, name), observing)
    sessions.push({ name, observed: seen, measured: measure(seen, factsOf(directory, name)) })
  }
  progress.clear()
  for (const session of sessions) {
    for (const complaint of session.observed.complaints) printNote(`${session.name}: ${complaint}`)
    if (options['show-missing']) showMissing(session)
  }
  if (options.dump !== undefined) {
    writeFileSync(
      options.dump,
      `${sessions.map((s) => sessionMarkdown(s.name, s.observed, s.measured)).join('\n\n')}\n`,
    )
  }
  if (!options.json) showRows(sessions)
  report(figuresOf(sessions.map(({ measured }) => measured)), options.json)
}

await main()
