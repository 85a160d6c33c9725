/**
 * `npm run bench -- rows [--sessions DIR] [--histories DIR] --out DIR [--provider NAME]`: sheets to judge what a session
 * gets at its start. The sessions are observed as in `npm run bench -- answers`, the histories as in `asof`. The folder
 * has `README.md` (what to do), `starts/NAME.md` (each start as it is, after a session or at a checkpoint),
 * `sheets/NAME.md` (its lines with evidence) and `marks.csv`, the form for the marks: useful, weak, noise or false. Give it
 * to readers who have not seen the rules, each with a form of their own.
 *
 * `npm run bench -- rows --marks FILE [FILE] [--json]`: the shares of the marks in one or two filled forms; for two readers
 * also on how many lines they agree.
 *
 * `npm run bench -- rows --compare ONE OTHER --out DIR`: the starts of two versions (their folders `starts`) as pairs in
 * random order, with `preferences.csv`, the form for which is better: first, second or neither.
 * `npm run bench -- rows --preferences FILE... [--json]`: how often ONE and OTHER were preferred.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figures, Progress, printNote, report } from '../lib/report.ts'
import { checkpointsOf } from '../quality/asof.ts'
import { type History, historiesIn } from '../quality/histories.ts'
import {
  type JudgedStart,
  judgedRows,
  marksFigures,
  marksTemplate,
  preferenceFigures,
  preferencesTemplate,
  readMarks,
  SHEET_INSTRUCTIONS,
  startPair,
  startSheet,
} from '../quality/judged-rows.ts'
import { type ObservedWith, withMemory, withObserved } from '../quality/observed.ts'
import { observerNamed, sessionsIn, transcriptOf } from '../quality/sessions.ts'
import { checkpointName, startOf } from '../quality/start.ts'

const USAGE =
  'use --sessions DIR, --histories DIR and --out DIR to write sheets, --marks FILE [FILE] to read filled forms, ' +
  '--compare ONE OTHER --out DIR to pair the starts of two versions, or --preferences FILE... to read which is preferred'

async function sessionStart(directory: string, name: string, observing: ObservedWith): Promise<JudgedStart> {
  return await withObserved(transcriptOf(directory, name), observing, async (memory) => {
    for (const complaint of memory.complaints) printNote(`${name}: ${complaint}`)
    return { name, text: (await startOf(memory)).context, events: memory.events }
  })
}

async function historyStarts(history: History, observing: ObservedWith, progress: Progress): Promise<JudgedStart[]> {
  const checkpoints = new Set(history.questions.map(({ after }) => after))
  return await withMemory(observing, async (memory) => {
    const starts: JudgedStart[] = []
    for await (const { after, start } of checkpointsOf(history, memory, checkpoints, progress)) {
      starts.push({ name: checkpointName(history.name, after), text: start.context, events: [...memory.events] })
    }
    return starts
  })
}

async function allStarts(sessions: string | null, histories: string | null, provider: string): Promise<JudgedStart[]> {
  const observing = await observerNamed(provider)
  const progress = new Progress()
  const starts: JudgedStart[] = []
  for (const name of sessions === null ? [] : sessionsIn(sessions)) {
    progress.show(name)
    starts.push(await sessionStart(sessions ?? '', name, observing))
  }
  for (const history of histories === null ? [] : historiesIn(histories)) {
    starts.push(...(await historyStarts(history, observing, progress)))
  }
  progress.clear()
  return starts
}

function writeSheets(starts: readonly JudgedStart[], out: string): Figures {
  for (const folder of ['starts', 'sheets']) mkdirSync(join(out, folder), { recursive: true })
  const rows = judgedRows(starts)
  for (const [i, start] of starts.entries()) {
    writeFileSync(join(out, 'starts', `${start.name}.md`), `${start.text}\n`)
    writeFileSync(join(out, 'sheets', `${start.name}.md`), startSheet(start, rows[i] ?? []))
  }
  writeFileSync(join(out, 'README.md'), SHEET_INSTRUCTIONS)
  writeFileSync(join(out, 'marks.csv'), marksTemplate(rows.flat()))
  return { starts: starts.length, rows: rows.flat().length, out }
}

/** The starts that both folders have. */
function writePairs(one: string, other: string, out: string): Figures {
  const files = readdirSync(one).filter((file) => file.endsWith('.md') && existsSync(join(other, file)))
  const names = files.sort().map((file) => basename(file, '.md'))
  mkdirSync(out, { recursive: true })
  for (const name of names) {
    const [ours, theirs] = [one, other].map((folder) => readFileSync(join(folder, `${name}.md`), 'utf8'))
    writeFileSync(join(out, `${name}.md`), startPair(name, ours ?? '', theirs ?? ''))
  }
  writeFileSync(join(out, 'preferences.csv'), preferencesTemplate(names))
  return { pairs: names.length, out }
}

const readForms = (files: readonly string[]) => files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))

async function main(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sessions: { type: 'string' },
      histories: { type: 'string' },
      out: { type: 'string' },
      marks: { type: 'string', multiple: true },
      compare: { type: 'string' },
      preferences: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      provider: { type: 'string', default: 'offline' },
    },
  })
  const { sessions, histories, out, marks, compare, preferences, json, provider } = options
  if (marks !== undefined) {
    const forms = readForms([...marks, ...positionals])
    if (forms.length > 2) throw new Error('the agreement is that of two readers: give one or two files')
    report(marksFigures(forms.map(({ file, text }) => readMarks(file, text))), json)
  } else if (preferences !== undefined) {
    report(preferenceFigures(readForms([...preferences, ...positionals])), json)
  } else if (compare !== undefined) {
    const [other] = positionals
    if (other === undefined || out === undefined) throw new Error(USAGE)
    report(writePairs(compare, other, out), json)
  } else {
    if ((sessions ?? histories) === undefined || out === undefined) throw new Error(USAGE)
    const [sessionsDir, historiesDir] = [sessions, histories].map((dir) => (dir === undefined ? null : resolve(dir)))
    report(writeSheets(await allStarts(sessionsDir ?? null, historiesDir ?? null, provider), out), json)
  }
}

await main()
