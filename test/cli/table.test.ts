import { describe, expect, it } from 'vitest'
import { createStyle, type Display, shouldUseColour } from '../../src/cli/style.ts'
import { fieldLines, type TableColumn, tableLines } from '../../src/cli/table.ts'
import { displayWidth } from '../../src/cli/text.ts'

const plain: Display = { style: createStyle(false), columns: null, now: 0 }
const columns: TableColumn[] = [
  { title: 'ID', align: 'right' },
  { title: 'WHAT', narrow: 'cut' },
  { title: 'WHY', narrow: 'wrap' },
]

describe('table', () => {
  it('aligns columns by display width', () => {
    expect(
      tableLines(
        columns,
        [
          ['1', '東京', 'a'],
          ['12', 'abc', 'b'],
        ],
        plain,
      ),
    ).toEqual(['ID  WHAT  WHY', ' 1  東京  a', '12  abc   b'])
  })

  it('is not truncated without a terminal', () => {
    const long = 'x'.repeat(500)
    expect(tableLines(columns, [['1', long, 'a']], plain)[1]).toContain(long)
  })

  it('truncates the widest column and wraps the last one to fit the terminal', () => {
    const lines = tableLines(columns, [['1', 'w'.repeat(80), 'because of this and that and many other things']], {
      ...plain,
      columns: 60,
    })
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(60)
    expect(lines.join(' ')).toContain('…')
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain('things')
  })

  it('measures before it adds colours', () => {
    const style = createStyle(true)
    const [, row] = tableLines([{ title: 'A' }, { title: 'B' }], [[{ text: 'x', paint: style.red }, 'y']], {
      ...plain,
      style,
    })
    expect(row).toBe('\x1b[31mx\x1b[39m  y')
  })

  it('sanitises cells', () => {
    expect(tableLines([{ title: 'A' }], [['\x1b[2J']], plain)[1]).toBe('\\x1b[2J')
  })
})

describe('fieldLines', () => {
  it('align values', () => {
    expect(
      fieldLines(
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
  it('are used on terminals unless the environment says otherwise', () => {
    expect(shouldUseColour(true, {})).toBe(true)
    expect(shouldUseColour(false, {})).toBe(false)
    expect(shouldUseColour(true, { NO_COLOR: '1' })).toBe(false)
    expect(shouldUseColour(true, { NO_COLOR: '' })).toBe(true)
    expect(shouldUseColour(true, { TERM: 'dumb' })).toBe(false)
    expect(shouldUseColour(false, { FORCE_COLOR: '1' })).toBe(true)
    expect(shouldUseColour(true, { FORCE_COLOR: '0' })).toBe(false)
  })
})
