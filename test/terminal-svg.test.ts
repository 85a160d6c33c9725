import { describe, expect, test } from 'vitest'
import { type PrintedChunk, terminalSvg } from '../scripts/demo/terminal-svg.ts'

const OPTIONS = { title: '$ demo', columns: 80, rows: 3, shortestPauseMs: 50, longestPauseMs: 500, endMs: 1_000 }
const svg = (...chunks: PrintedChunk[]) => terminalSvg(chunks, OPTIONS)
const texts = (picture: string) => [...picture.matchAll(/<text x="16"[^>]*>(.*)<\/text>/g)].map(([, text]) => text)

describe('a recording of a terminal', () => {
  test('has every line once, also one that was printed in parts', () => {
    const picture = svg({ at: 0, text: 'one\ntw' }, { at: 10, text: 'o\n\nfour' })
    expect(texts(picture)).toEqual(['one', 'two', '', 'four'])
  })

  test('shows colours, bold and dim text, and leaves other sequences out', () => {
    const picture = svg({ at: 0, text: '\x1b[1mbold\x1b[22m \x1b[2;31mred\x1b[0m\x1b[2K plain\x07' })
    expect(texts(picture)).toEqual(['<tspan class="o">bold</tspan> <tspan class="d r">red</tspan>[2K plain'])
  })

  test('shows each line at the time at which it was printed, without long pauses', () => {
    const picture = svg(
      { at: 0, text: 'a\n' },
      { at: 300, text: 'b\n' },
      { at: 9_000, text: 'c\n' },
      { at: 9_001, text: 'd' },
    )
    // 50, 350, 850, 900 of 1,900 ms.
    expect(picture).toContain('animation:v 1900ms')
    const [frames] = /@keyframes v\{.*\}/.exec(picture) ?? ['']
    expect([...frames.matchAll(/([\d.]+)%\{transform:translateY\((\d+)px\)/g)].map(([, at, y]) => [at, y])).toEqual([
      ['0', '0'],
      ['2.63', '18'],
      ['18.42', '36'],
      ['44.74', '54'],
      ['47.37', '54'],
      ['100', '54'],
    ])
  })

  test('scrolls when the screen is full', () => {
    const picture = svg({ at: 0, text: 'a\nb\nc\nd\ne' })
    expect(picture).toContain('.lines{transform:translateY(-36px)}')
  })

  test('is valid XML whatever was printed', () => {
    const picture = svg({ at: 0, text: '<script>&"\u0000\ud800\x1b[999999999999999999999999m</text>' })
    expect(texts(picture)).toEqual(['&lt;script&gt;&amp;&quot;[999999999999999999999999m&lt;/text&gt;'])
  })

  test('of nothing is an empty screen', () => {
    expect(texts(svg())).toEqual([])
  })
})
