import { describe, expect, it } from 'vitest'
import { parseReply } from '../../../src/observer/model/reply/index.ts'

const titleOf = (title: string) =>
  parseReply(`<observation from="1"><type>bugfix</type><title>${title}</title></observation>`).observations[0]?.title

describe('titles of a reply', () => {
  it.each([
    'Fix refresh tokens rejected right after login',
    'Move the session store of the daemon from a single JSON file to the SQLite database with migrations',
    'Answer "what were we doing : yesterday, and why" with the newest requests of the project, because it was empty before',
  ])('are stored as they came: %s', (title) => expect(titleOf(title)).toBe(title))

  it('are bounded at a word', () => {
    const words = Array.from({ length: 120 }, (_, i) => `word${i}`).join(' ')
    const title = titleOf(words) ?? ''
    expect(title.length).toBeLessThanOrEqual(300)
    expect(title.length).toBeGreaterThan(250)
    expect(words.startsWith(`${title.slice(0, -1)} `)).toBe(true)
    expect(titleOf('字'.repeat(400))).toBe(`${'字'.repeat(299)}…`)
  })
})
