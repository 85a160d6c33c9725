import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCommand } from '../../../../src/observer/tool-events/commands/index.ts'
import { COMMAND_KINDS } from '../../../../src/observer/tool-events/types.ts'
import { expectLinearTime } from '../../../support/linear-time.ts'
import { ran } from './run.ts'

const FRAGMENTS = [
  'npm test',
  'bash -c "',
  "'",
  '$(',
  '`',
  ' | ',
  ' && ',
  '; ',
  '<<EOF\n',
  '\nEOF\n',
  '(',
  ')',
  '2>&1',
  'A=1 ',
  'pytest a.py',
  'git commit -m x',
  '\\',
  '#',
  'for x in y; do ',
]
const LINES = [
  'Tests: 1 failed, 2 total',
  '--- FAIL: TestX (0s)',
  'Traceback (most recent call last):',
  '  File "a.py", line 3',
  'error[E0308]: x',
  ' --> a.rs:1:2',
  'E   assert 1 == 2',
  '\u001b[31mred\u001b[0m',
  '10%\r20%\r',
  '┌──┐',
  '\u0000\ufffd',
  '  1) x',
  'added 3 packages',
]

const shell = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string()), { maxLength: 12 })
  .map((parts) => parts.join(''))
const output = fc
  .array(fc.oneof(fc.constantFrom(...LINES), fc.string({ unit: 'binary' })), { maxLength: 30 })
  .map((lines) => lines.join('\n'))

describe('commands.bounds', () => {
  it('any input gives a bounded result', () => {
    fc.assert(
      fc.property(shell, output, output, fc.boolean(), fc.option(output), (command, stdout, stderr, failed, error) => {
        const result = readCommand({ command, stdout, stderr, failed, error })
        expect(COMMAND_KINDS).toContain(result.kind)
        expect(result.command).not.toMatch(/\n/)
        expect(result.command.length).toBeLessThanOrEqual(200)
        expect(result.key.length).toBeLessThanOrEqual(220)
        expect(result.errors.length).toBeLessThanOrEqual(6)
        for (const text of result.errors) expect(text.length).toBeLessThanOrEqual(240)
        expect(result.facts.length).toBeLessThanOrEqual(16)
        if (failed) expect(result.ok).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  const MEGABYTE = 1_000_000
  it.each([
    ['one long line', 'x'.repeat(MEGABYTE)],
    ['blanks', ' '.repeat(MEGABYTE)],
    ['short lines', 'error: a.ts:1:2: no\n'.repeat(MEGABYTE / 20)],
    ['a path that never ends', 'a/'.repeat(MEGABYTE / 2)],
    ['lines of paths', `${'a/b.c/'.repeat(60)}\n`.repeat(2_700)],
    ['progress', 'downloading 10%\r'.repeat(MEGABYTE / 16)],
    ['digits', `${'1 '.repeat(190)}\n`.repeat(2_600)],
    ['tracebacks', 'Traceback (most recent call last):\n  File "a.py", line 1\n'.repeat(17_000)],
    ['colons', `${'a: '.repeat(130)}\n`.repeat(2_500)],
  ])('reads a megabyte of %s in linear time', (_name, text) => {
    for (const command of ['npm test', 'make', 'npm i x', 'node a.js']) {
      const read = (size: number) => ran(command, text.slice(0, size), { failed: true, error: 'Exit code 1' })
      expectLinearTime(read, MEGABYTE / 8, command)
    }
  })
})
