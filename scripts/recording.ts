/**
 * `npm run recording [-- --out FILE]`: runs the demo and writes what it printed, when it printed it, as an animated picture.
 * The README shows it: run this again when the output of the demo has changed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type PrintedChunk, terminalSvg } from './demo/terminal-svg.ts'
import { printNote } from './lib/report.ts'
import { ROOT } from './lib/sandbox.ts'

/** The widest that the demo prints. */
const COLUMNS = 112
const ROWS = 30
const SHORTEST_PAUSE_MS = 90
const LONGEST_PAUSE_MS = 700
const END_MS = 6_000

const { values: options } = parseArgs({
  options: { out: { type: 'string', default: join(ROOT, 'docs', 'demo.svg') } },
})

async function record(): Promise<PrintedChunk[]> {
  const demo = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'demo'], {
    env: { ...process.env, FORCE_COLOR: '1', NO_COLOR: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const startedAt = performance.now()
  const chunks: PrintedChunk[] = []
  demo.stdout.setEncoding('utf8')
  demo.stdout.on('data', (text: string) => chunks.push({ at: performance.now() - startedAt, text }))
  const [code] = await once(demo, 'close')
  if (code !== 0) throw new Error(`the demo ended with exit code ${code}`)
  return chunks
}

const picture = terminalSvg(await record(), {
  title: '$ npm run demo',
  columns: COLUMNS,
  rows: ROWS,
  shortestPauseMs: SHORTEST_PAUSE_MS,
  longestPauseMs: LONGEST_PAUSE_MS,
  endMs: END_MS,
})
writeFileSync(options.out, picture)
printNote(`${options.out}: ${Math.round(picture.length / 1_024)} KB`)
