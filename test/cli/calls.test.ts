import { describe, expect, it } from 'vitest'
import { sentLines } from '../../src/cli/render/provenance.ts'
import { createStyle, type Display } from '../../src/cli/style.ts'
import { displayWidth } from '../../src/cli/text.ts'
import type { CallRow } from '../../src/store/port.ts'
import { callOf, NOW, PROJECT } from '../store/samples.ts'

const display: Display = { style: createStyle(false), columns: null, now: NOW }
const row = (over: Partial<CallRow> = {}): CallRow => ({
  ...callOf('effect-1'),
  id: 7,
  session: 's',
  project: PROJECT.key,
  projectName: PROJECT.name,
  observations: 2,
  ...over,
})
const rendered = (calls: CallRow[], how: { full?: boolean; more?: boolean; columns?: number } = {}) => {
  const { full = false, more = false, columns = null } = how
  return sentLines({ session: 's', calls, more }, full, { ...display, columns }).join('\n')
}

describe('inspect --sent', () => {
  it('prints each call with the sent and the received text', () => {
    const text = rendered([row({ sent: 'one\ntwo', durationMs: 1_200 })])
    expect(text).toMatch(/#7 {2}\S+ {2}observe {2}anthropic claude-haiku-4-5 {2}1 s {2}\$0\.250/)
    expect(text).toContain('100 in, 20 out, 1k cache read, 50 cache write, 2 observations, effect effect-1')
    expect(text).toContain('sent, 7 characters\n  │ one\n  │ two\n  received, 7 characters\n  │ <skip/>')
  })

  it('prints the error of a failed call and that nothing was received', () => {
    const text = rendered([row({ error: 'connection reset', received: null, cost: null })])
    expect(text).toContain('failed: connection reset')
    expect(text).toContain('nothing received')
    expect(text).toContain('price not known')
  })

  it('truncates long texts and names --full', () => {
    const long = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\r\n')
    expect(rendered([row({ sent: long })])).toContain('│ line 11\n  28 more lines: --full')
    expect(rendered([row({ sent: long })], { full: true })).toContain('│ line 39\n')
    const wide = 'x'.repeat(5_000_000)
    const lines = rendered([row({ sent: wide })], { columns: 50 }).split('\n')
    expect(lines).toContain('  truncated: --full')
    expect(Math.max(...lines.filter((line) => line.includes('│')).map(displayWidth))).toBeLessThanOrEqual(50)
    expect(rendered([row({ sent: wide })], { full: true })).toContain(wide)
    expect(rendered([row()], { more: true })).toContain('There are older calls: --limit N')
  })

  it('prints that texts were removed', () => {
    const text = rendered([row({ sent: null, received: null })])
    expect(text).toContain('texts were removed; CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS')
    expect(text).toContain('$0.250')
    expect(text).not.toContain('characters')
  })

  it('prints that no call was made', () => {
    expect(rendered([])).toContain('Nothing: no call to a model was made for it.')
    expect(rendered([row({ sent: '', received: '' })])).toContain('sent, 0 characters')
  })

  it('sanitises sent texts', () => {
    const evil = '\x1b[2J\u009b31m\x07\u202e\rover'
    const call = row({ sent: evil, received: evil, error: evil, model: evil, provider: evil, effectId: evil })
    for (const full of [true, false]) {
      for (const line of rendered([call], { full }).split('\n')) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
    }
  })
})
