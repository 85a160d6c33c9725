import { describe, expect, it } from 'vitest'
import { setup } from 'xstate'
import { arrowLines, arrowsFrom, canDrawChart, chartLines } from '../../src/cli/render/statechart.ts'
import { createStyle, type Display, isAsciiTerminal } from '../../src/cli/style.ts'
import { displayWidth } from '../../src/cli/text.ts'
import { machineChart } from '../../src/statechart/chart.ts'
import { CHARTS } from '../../src/statechart/machine-charts.ts'

const display: Display = { style: createStyle(false), columns: 80, now: 0 }
const coloured: Display = { ...display, style: createStyle(true) }
const at = (state: string, from: string) => ({ state, last: { from, to: state } })
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const plain = (line: string) => line.replace(/\x1b\[\d+m/g, '')

describe('statechart', () => {
  it('draws children inside their parent, arrows between connected neighbours, and the mark of the active state', () => {
    expect(chartLines(CHARTS.session, at('batching.calling', 'observing'), display)).toEqual([
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

  it.each(CHARTS.session.states.map(({ id }) => id))('has the same layout and fits when %s is active', (id) => {
    for (const columns of [60, 72, 80, 200]) {
      const wide = { ...display, columns }
      const lines = chartLines(CHARTS.session, { state: id, last: null }, wide)
      const still = chartLines(CHARTS.session, null, wide)
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.min(columns, 80))
      expect(lines.map(displayWidth)).toEqual(still.map(displayWidth))
      const isLeaf = !CHARTS.session.states.some(({ parent }) => parent === id)
      expect(lines.join('').split('●')).toHaveLength(isLeaf ? 2 : 1)
    }
  })

  it('has the same text with colours', () => {
    const position = at('batching.calling', 'observing')
    const lines = chartLines(CHARTS.session, position, coloured)
    expect(lines.join('\n')).toContain('\x1b[36m')
    expect(lines.map((line) => plain(line).trimEnd())).toEqual(chartLines(CHARTS.session, position, display))
  })

  it('draws a new state at any depth without a change of the code', () => {
    const grown = setup({}).createMachine({
      id: 'grown',
      initial: 'a',
      states: { a: { initial: 'b', states: { b: { initial: 'c', states: { c: {} } } } }, end: { type: 'final' } },
    })
    const text = chartLines(machineChart(grown), { state: 'a.b.c', last: null }, display).join('\n')
    expect(text).toContain('╭─ a ─')
    expect(text).toContain('╭─ b ─')
    expect(text).toContain('┃ c   ┃')
    expect(text).toContain('║ end ║')
  })

  it('is not drawn on a narrow or ASCII terminal', () => {
    expect(canDrawChart(display)).toBe(true)
    expect(canDrawChart({ ...display, columns: null })).toBe(true)
    expect(canDrawChart({ ...display, columns: 59 })).toBe(false)
    expect(canDrawChart({ ...display, ascii: true })).toBe(false)
  })

  it.each([
    [{}, false],
    [{ LANG: 'C' }, true],
    [{ LANG: 'POSIX' }, true],
    [{ LANG: 'de_DE.UTF-8' }, false],
    [{ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, true],
    [{ LC_CTYPE: 'UTF-8' }, false],
    [{ LANG: 'C.utf8', TERM: 'dumb' }, true],
  ])('detects from %j whether the terminal supports box-drawing characters', (env, ascii) => {
    expect(isAsciiTerminal(env)).toBe(ascii)
  })
})

describe('statechart.transitions', () => {
  it('name the target of each transition and its condition', () => {
    expect(arrowsFrom(CHARTS.session, 'batching.waiting')).toEqual([
      { to: 'observing', when: 'on FLUSH, SUMMARIZE; on DEADLINE when wait is over' },
    ])
    expect(arrowsFrom(CHARTS.session, 'observing')).toContainEqual({ to: 'batching', when: 'when batch due' })
    expect(arrowsFrom(CHARTS.session, 'no such state')).toEqual([])
  })

  it('list every transition', () => {
    const text = arrowLines(CHARTS.session, { ...display, columns: null }).join('\n')
    for (const { from, to } of CHARTS.session.edges) {
      expect(text).toContain(from === to ? `${from} stays` : `${from} → ${to}`)
    }
    expect(text).toMatch(/in every state +on SESSION_START, PRE_COMPACT/)
  })
})
