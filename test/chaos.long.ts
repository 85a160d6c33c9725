/** The chaos script in short; `npm run chaos` is the long one. Runs the built program. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canRecord } from '../scripts/chaos/power-cut.ts'
import { ROOT } from './support/paths.ts'
import { runProgram } from './support/programs.ts'

const LIMIT_MS = 120_000

interface ChaosRun {
  code: number | null
  figures: Record<string, unknown>
  stderr: string
}

async function chaos(...args: string[]): Promise<ChaosRun> {
  const script = [join(ROOT, 'scripts', 'run.mjs'), 'chaos', '--json']
  const { code, stdout, stderr } = await runProgram(process.execPath, [...script, ...args])
  const last = stdout.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(`the chaos script printed no figures, exit code ${code}: ${stderr}`)
  return { code, figures: JSON.parse(last), stderr }
}

test('chaos: killed daemons and hooks lose, duplicate and strand nothing', { timeout: LIMIT_MS }, async () => {
  const { code, figures, stderr } = await chaos('--kills', '8', '--seed', '20')
  expect(figures, stderr).toMatchObject({ lost: 0, duplicated: 0, stuck: 0, orphans: 0, seed: 20 })
  expect(figures.kills).toBe(8)
  expect(code, stderr).toBe(0)
})

test('chaos: a store that drops commits and hooks that spool no text are detected', { timeout: LIMIT_MS }, async () => {
  const { code, figures, stderr } = await chaos('--kills', '3', '--seed', '3', '--sabotage')
  expect(figures.lost, stderr).toBeGreaterThan(0)
  expect(figures.altered, stderr).toBeGreaterThan(0)
  expect(code, stderr).toBe(0)
})

test.skipIf(!canRecord())(
  'chaos: each sync that is missing before a power cut is detected',
  { timeout: 5 * LIMIT_MS },
  async () => {
    const { code, stderr } = await chaos('--scenario', 'power-cut', '--seed', '5', '--sabotage')
    expect(code, stderr).toBe(0)
  },
)
