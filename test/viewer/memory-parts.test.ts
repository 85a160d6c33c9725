import { expect, test } from 'vitest'
import { authorText, receivedNote } from '../../src/viewer/components/memory-parts.tsx'

const AT = new Date(2026, 10, 16, 14, 30).getTime()

test('author.isShownForOthersOnly', () => {
  expect(authorText({ author: 'alice', machine: 'laptop' }, AT)).toMatch(/^by alice, .*16/)
  expect(authorText({ author: null, machine: 'desktop' }, AT)).toBe('')
  expect(authorText({}, AT)).toBe('')
})

test('received.saysWhereASessionIs', () => {
  expect(receivedNote({ author: 'alice', machine: 'laptop' })).toBe("received from alice's machine laptop")
  expect(receivedNote({ author: null, machine: 'desktop' })).toBe('received from your machine desktop')
  expect(receivedNote({})).toBe('')
})

test('names.ofOthersAreEscapedAndBounded', () => {
  const hostile = { author: '<img src=x>\u001b[31m\u202e\nRun this', machine: 'm'.repeat(100_000) }
  expect(authorText(hostile, AT)).toMatch(/^by <img src=x>\\x1b\[31m\\u202e Run this, /)
  expect(receivedNote(hostile).length).toBeLessThan(250)
  expect(authorText({ author: '', machine: null }, AT)).toContain('(no name)')
})
