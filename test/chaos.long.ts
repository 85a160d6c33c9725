/** The chaos script in short; `npm run chaos` is the long one. Runs the built program, as `npm test` makes it. */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const LIMIT_MS = 120_000
const scripts = join(dirname(fileURLToPath(import.meta.url)), '..', 'scripts')

interface Run {
  code: number | null
  figures: Record<string, unknown>
  stderr: string
}

function chaos(...args: string[]): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(scripts, 'run.mjs'), 'chaos', '--json', ...args])
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => {
      const last = stdout.trimEnd().split('\n').at(-1) ?? ''
      try {
        resolve({ code, figures: JSON.parse(last), stderr })
      } catch {
        reject(new Error(`no figures, exit code ${code}: ${stderr}`))
      }
    })
  })
}

test('chaos: daemons and hooks that are killed lose, double and strand nothing', { timeout: LIMIT_MS }, async () => {
  const { code, figures, stderr } = await chaos('--kills', '8', '--seed', '20')
  expect(figures, stderr).toMatchObject({ lost: 0, duplicated: 0, stuck: 0, orphans: 0, seed: 20 })
  expect(figures.kills).toBe(8)
  expect(code, stderr).toBe(0)
})

test('chaos: a store that only pretends to commit is found out', { timeout: LIMIT_MS }, async () => {
  const { code, figures, stderr } = await chaos('--kills', '3', '--seed', '3', '--sabotage')
  expect(figures.lost, stderr).toBeGreaterThan(0)
  expect(code, stderr).toBe(0)
})
