import { describe, expect, it } from 'vitest'
import { setup } from 'xstate'
import { chartOf } from '../../src/chart/chart.ts'
import { CHARTS } from '../../src/chart/charts.ts'
import { arrowLines, arrowsFrom } from '../../src/cli/render/arrows.ts'
import { canDraw, chartLines } from '../../src/cli/render/chart.ts'
import { isAscii, type Look, styleOf } from '../../src/cli/style.ts'
import { widthOf } from '../../src/cli/text.ts'

const look: Look = { style: styleOf(false), columns: 80, now: 0 }
const coloured: Look = { ...look, style: styleOf(true) }
const at = (state: string, from: string) => ({ state, last: { from, to: state } })
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const plain = (line: string) => line.replace(/\x1b\[\d+m/g, '')

describe('a statechart on a terminal', () => {
  it('has children inside their parent, arrows where neighbours lead to each other, and the active state marked', () => {
    expect(chartLines(CHARTS.session, at('batching.calling', 'observing'), look)).toEqual([
      '                             ╭─ batching ────────────────╮',
      '  ╭──────╮   ╭───────────╮   │ ┏━ ● ━━━━━┓   ╭─────────╮ │',
      '  │ init │──▸│ observing │◂─▸│ ┃ calling ┃──▸│ waiting │ │',
      '  ╰──────╯   ╰───────────╯   │ ┗━━━━━━━━━┛   ╰─────────╯ │',
      '                             ╰───────────────────────────╯',
      '  ╭─ summarizing ─────────────╮   ╭─ compacting ──────────────╮',
      '  │ ╭─────────╮   ╭─────────╮ │   │ ╭─────────╮   ╭─────────╮ │   ╭────────╮',
      '  │ │ calling │──▸│ waiting │ │   │ │ calling │──▸│ waiting │ │   │ closed │',
      '  │ ╰─────────╯   ╰─────────╯ │   │ ╰─────────╯   ╰─────────╯ │   ╰────────╯',
      '  ╰───────────────────────────╯   ╰───────────────────────────╯',
    ])
  })

  it.each(CHARTS.session.states.map(({ id }) => id))('fits and does not move when %s is active', (id) => {
    for (const columns of [60, 72, 80, 200]) {
      const wide = { ...look, columns }
      const lines = chartLines(CHARTS.session, { state: id, last: null }, wide)
      const still = chartLines(CHARTS.session, null, wide)
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(Math.min(columns, 80))
      expect(lines.map(widthOf)).toEqual(still.map(widthOf))
      const isLeaf = !CHARTS.session.states.some(({ parent }) => parent === id)
      expect(lines.join('').split('●')).toHaveLength(isLeaf ? 2 : 1)
    }
  })

  it('says the same with colours', () => {
    const position = at('batching.calling', 'observing')
    const lines = chartLines(CHARTS.session, position, coloured)
    expect(lines.join('\n')).toContain('\x1b[36m')
    expect(lines.map((line) => plain(line).trimEnd())).toEqual(chartLines(CHARTS.session, position, look))
  })

  it('shows a state that is new by itself, however deep', () => {
    const grown = setup({}).createMachine({
      id: 'grown',
      initial: 'a',
      states: { a: { initial: 'b', states: { b: { initial: 'c', states: { c: {} } } } }, end: { type: 'final' } },
    })
    const text = chartLines(chartOf(grown), { state: 'a.b.c', last: null }, look).join('\n')
    expect(text).toContain('╭─ a ─')
    expect(text).toContain('╭─ b ─')
    expect(text).toContain('┃ c   ┃')
    expect(text).toContain('║ end ║')
  })

  it('is not drawn where it could not be read', () => {
    expect(canDraw(look)).toBe(true)
    expect(canDraw({ ...look, columns: null })).toBe(true)
    expect(canDraw({ ...look, columns: 59 })).toBe(false)
    expect(canDraw({ ...look, ascii: true })).toBe(false)
  })

  it.each([
    [{}, false],
    [{ LANG: 'C' }, true],
    [{ LANG: 'POSIX' }, true],
    [{ LANG: 'de_DE.UTF-8' }, false],
    [{ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, true],
    [{ LC_CTYPE: 'UTF-8' }, false],
    [{ LANG: 'C.utf8', TERM: 'dumb' }, true],
  ])('knows from %j whether a terminal has signs to draw with', (env, ascii) => {
    expect(isAscii(env)).toBe(ascii)
  })
})

describe('arrows in words', () => {
  it('say where a state leads and when', () => {
    expect(arrowsFrom(CHARTS.session, 'batching.waiting')).toEqual([
      { to: 'observing', when: 'on FLUSH; on DEADLINE when wait is over' },
    ])
    expect(arrowsFrom(CHARTS.session, 'observing')).toContainEqual({ to: 'batching', when: 'when batch due' })
    expect(arrowsFrom(CHARTS.session, 'no such state')).toEqual([])
  })

  it('are all there', () => {
    const text = arrowLines(CHARTS.session, { ...look, columns: null }).join('\n')
    for (const { from, to } of CHARTS.session.edges) {
      expect(text).toContain(from === to ? `${from} stays` : `${from} → ${to}`)
    }
    expect(text).toMatch(/in every state +on SESSION_START, PROMPT/)
  })
})
