import { describe, expect, it } from 'vitest'
import { sentLines } from '../../src/cli/render/calls.ts'
import { type Look, styleOf } from '../../src/cli/style.ts'
import { widthOf } from '../../src/cli/text.ts'
import type { CallRow } from '../../src/store/accounting.ts'
import { callOf, NOW, PROJECT } from '../store/samples.ts'

const look: Look = { style: styleOf(false), columns: null, now: NOW }
const row = (over: Partial<CallRow> = {}): CallRow => ({
  ...callOf('effect-1'),
  id: 7,
  session: 's',
  project: PROJECT.key,
  projectName: PROJECT.name,
  observations: 2,
  ...over,
})
const shown = (calls: CallRow[], how: { full?: boolean; more?: boolean; columns?: number } = {}) => {
  const { full = false, more = false, columns = null } = how
  return sentLines({ session: 's', calls, more }, full, { ...look, columns }).join('\n')
}

describe('what was sent to a model', () => {
  it('is told call by call, with its words and its answer', () => {
    const text = shown([row({ sent: 'one\ntwo', durationMs: 1_200 })])
    expect(text).toMatch(/#7 {2}\S+ {2}observe {2}anthropic claude-haiku-4-5 {2}1 s {2}\$0\.250/)
    expect(text).toContain('100 in, 20 out, 1k cache read, 50 cache write, 2 observations, effect effect-1')
    expect(text).toContain('sent, 7 characters\n  │ one\n  │ two\n  received, 7 characters\n  │ <skip/>')
  })

  it('says why a call failed, and that nothing came back', () => {
    const text = shown([row({ error: 'connection reset', received: null, cost: null })])
    expect(text).toContain('failed: connection reset')
    expect(text).toContain('nothing received')
    expect(text).toContain('price not known')
  })

  it('is bounded, and says how to see the rest', () => {
    const long = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\r\n')
    expect(shown([row({ sent: long })])).toContain('│ line 11\n  28 more lines: --full')
    expect(shown([row({ sent: long })], { full: true })).toContain('│ line 39\n')
    const wide = 'x'.repeat(5_000_000)
    const lines = shown([row({ sent: wide })], { columns: 50 }).split('\n')
    expect(lines).toContain('  cut: --full')
    expect(Math.max(...lines.filter((line) => line.includes('│')).map(widthOf))).toBeLessThanOrEqual(50)
    expect(shown([row({ sent: wide })], { full: true })).toContain(wide)
    expect(shown([row()], { more: true })).toContain('There are older calls: --limit N')
  })

  it('says that its words were removed', () => {
    const text = shown([row({ sent: null, received: null })])
    expect(text).toContain('words were removed; CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS')
    expect(text).toContain('$0.250')
    expect(text).not.toContain('characters')
  })

  it('is nothing for a session that no model was asked for', () => {
    expect(shown([])).toContain('Nothing: no call to a model was made for it.')
    expect(shown([row({ sent: '', received: '' })])).toContain('sent, 0 characters')
  })

  it('cannot act on the terminal, whatever was sent', () => {
    const evil = '\x1b[2J\u009b31m\x07\u202e\rover'
    const call = row({ sent: evil, received: evil, error: evil, model: evil, provider: evil, effectId: evil })
    for (const full of [true, false]) {
      for (const line of shown([call], { full }).split('\n')) expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
    }
  })
})
