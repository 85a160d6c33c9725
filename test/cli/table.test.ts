import { describe, expect, it } from 'vitest'
import { type Look, styleOf, wantsColour } from '../../src/cli/style.ts'
import { type Column, fields, table } from '../../src/cli/table.ts'
import { widthOf } from '../../src/cli/text.ts'

const plain: Look = { style: styleOf(false), columns: null, now: 0 }
const columns: Column[] = [
  { title: 'ID', align: 'right' },
  { title: 'WHAT', narrow: 'cut' },
  { title: 'WHY', narrow: 'wrap' },
]

describe('a table', () => {
  it('aligns its columns by width, not by characters', () => {
    expect(
      table(
        columns,
        [
          ['1', '東京', 'a'],
          ['12', 'abc', 'b'],
        ],
        plain,
      ),
    ).toEqual(['ID  WHAT  WHY', ' 1  東京  a', '12  abc   b'])
  })

  it('is not cut where no terminal limits it', () => {
    const long = 'x'.repeat(500)
    expect(table(columns, [['1', long, 'a']], plain)[1]).toContain(long)
  })

  it('fits the terminal: the widest column gives way, the last one is wrapped', () => {
    const lines = table(columns, [['1', 'w'.repeat(80), 'because of this and that and many other things']], {
      ...plain,
      columns: 60,
    })
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(60)
    expect(lines.join(' ')).toContain('…')
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain('things')
  })

  it('paints after it measures', () => {
    const style = styleOf(true)
    const [, row] = table([{ title: 'A' }, { title: 'B' }], [[{ text: 'x', paint: style.red }, 'y']], {
      ...plain,
      style,
    })
    expect(row).toBe('\x1b[31mx\x1b[39m  y')
  })

  it('neutralises what it shows', () => {
    expect(table([{ title: 'A' }], [['\x1b[2J']], plain)[1]).toBe('\\x1b[2J')
  })
})

describe('fields', () => {
  it('align their values', () => {
    expect(
      fields(
        [
          ['a', '1'],
          ['long', '2'],
        ],
        plain,
      ),
    ).toEqual(['  a     1', '  long  2'])
  })
})

describe('colours', () => {
  it('are for terminals, unless somebody says otherwise', () => {
    expect(wantsColour(true, {})).toBe(true)
    expect(wantsColour(false, {})).toBe(false)
    expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false)
    expect(wantsColour(true, { NO_COLOR: '' })).toBe(true)
    expect(wantsColour(true, { TERM: 'dumb' })).toBe(false)
    expect(wantsColour(false, { FORCE_COLOR: '1' })).toBe(true)
    expect(wantsColour(true, { FORCE_COLOR: '0' })).toBe(false)
  })
})
