/**
 * `npm run bench -- rows --sessions DIR --out FILE [--provider NAME]`: a sheet to judge what a session is told at its start.
 * Every transcript in DIR is observed as in `npm run bench -- answers`; FILE (Markdown) lists every line of each start
 * with its sources, FILE.csv is the form for the marks: useful, weak, noise or false. Give both to readers who have not seen
 * the rules, each a copy of the form.
 *
 * `npm run bench -- rows --marks FILE [FILE] [--json]`: the shares of the marks in one or two filled forms; for two readers
 * also on how many lines they agree.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Progress, printNote, report } from '../lib/report.ts'
import { judgedSession, marksFigures, marksTemplate, readMarks, SHEET_INSTRUCTIONS } from '../quality/judged-rows.ts'
import { withObserved } from '../quality/observed.ts'
import { observerNamed, sessionsIn, transcriptOf } from '../quality/sessions.ts'

const USAGE = 'use --sessions DIR --out FILE to write a sheet, or --marks FILE [FILE] to read filled forms'

async function writeSheet(
  directory: string,
  out: string,
  provider: string,
): Promise<{ sessions: number; rows: number }> {
  const observing = await observerNamed(provider)
  const progress = new Progress()
  const names = sessionsIn(directory)
  const judged = []
  for (const name of names) {
    progress.show(name)
    judged.push(
      await withObserved(transcriptOf(directory, name), observing, async (memory) => {
        for (const complaint of memory.complaints) printNote(`${name}: ${complaint}`)
        return await judgedSession(name, memory)
      }),
    )
  }
  progress.clear()
  const rows = judged.flatMap((session) => session.rows)
  writeFileSync(out, `${[SHEET_INSTRUCTIONS, ...judged.map(({ markdown }) => markdown)].join('\n\n')}\n`)
  writeFileSync(`${out}.csv`, marksTemplate(rows))
  return { sessions: names.length, rows: rows.length }
}

async function main(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sessions: { type: 'string' },
      out: { type: 'string' },
      marks: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      provider: { type: 'string', default: 'offline' },
    },
  })
  const { sessions, out, marks } = options
  if (marks !== undefined) {
    const files = [...marks, ...positionals]
    if (files.length > 2) throw new Error('the agreement is that of two readers: give one or two files')
    report(marksFigures(files.map((file) => readMarks(file, readFileSync(file, 'utf8')))), options.json)
    return
  }
  if (sessions === undefined || out === undefined) throw new Error(USAGE)
  report(
    { ...(await writeSheet(resolve(sessions), out, options.provider)), sheet: out, form: `${out}.csv` },
    options.json,
  )
}

await main()
