/** Ends real processes whose thread pool is blocked. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directories.ts'
import { ROOT } from '../support/paths.ts'
import { runProgram } from '../support/programs.ts'

const directory = temporaryDirectory('exit')
const library = join(directory, 'exit.mjs')
buildSync({
  entryPoints: [join(ROOT, 'src/lib/exit.ts')],
  outfile: library,
  bundle: true,
  format: 'esm',
  platform: 'node',
})

function run(program: string) {
  const file = join(directory, 'program.mjs')
  writeFileSync(file, `import { exitProcess } from './exit.mjs'\nimport { open } from 'node:fs'\n${program}`)
  return runProgram(process.execPath, [file], { cwd: directory, timeoutMs: 20_000 })
}

describe('exit', () => {
  test('has its code when nothing is blocked', async () => {
    expect(await run('open("program.mjs", "r", () => {}); await exitProcess(3)')).toMatchObject({
      code: 3,
      signal: null,
    })
  })

  test.skipIf(process.platform === 'win32')('works although a file operation never ends', async () => {
    execFileSync('mkfifo', [join(directory, 'fifo')])
    const { stdout, signal } = await run(`
      open('fifo', 'r', () => {})
      setTimeout(async () => {
        process.stdout.write('leaving')
        await exitProcess(0)
      }, 1)
      setTimeout(() => process.stdout.write(' late'), 10_000)`)
    expect({ stdout, signal }).toEqual({ stdout: 'leaving', signal: 'SIGKILL' })
  })
})
