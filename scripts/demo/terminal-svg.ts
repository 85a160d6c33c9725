/**
 * The output of a program as an animated SVG: each line appears when it was printed, and the picture scrolls as a terminal
 * does. It is one file without a script, so it plays where an image is shown; a reader who wants no motion gets the end.
 */

/** What the program wrote, and when, in ms since its start. */
export interface PrintedChunk {
  at: number
  text: string
}

export interface TerminalSvgOptions {
  /** Shown above the text, such as the command. */
  title: string
  columns: number
  rows: number
  /** Times between two lines in the picture, in ms: waiting is not worth watching, and a page at once cannot be read. */
  shortestPauseMs: number
  longestPauseMs: number
  /** How long the end is shown before it starts again, in ms. */
  endMs: number
}

/** A part of a line with one look. */
interface Span {
  text: string
  classes: string
}

interface Line {
  at: number
  spans: Span[]
}

const CHARACTER_WIDTH = 7.8
const LINE_HEIGHT = 18
const FONT_SIZE = 13
const PADDING = 16
const TITLE_HEIGHT = 34

/** Classes by the SGR code that switches them on. */
const COLOURS: Readonly<Record<string, string>> = { 31: 'r', 32: 'g', 33: 'y', 34: 'b', 36: 'c' }

class LineReader {
  readonly lines: Line[] = []
  #line: Line | null = null
  #bold = false
  #dim = false
  #colour = ''

  read(text: string, at: number): void {
    for (let from = 0; from < text.length; ) {
      const special = nextSpecial(text, from)
      if (special > from) this.#add(text.slice(from, special), at)
      if (special === text.length) return
      if (text[special] === '\n') {
        this.#end(at)
        from = special + 1
      } else {
        from = this.#escape(text, special)
      }
    }
  }

  #add(text: string, at: number): void {
    // Control characters are not allowed in XML.
    const shown = text.replace(/[\p{Cc}\p{Cs}]/gu, '')
    if (shown === '') return
    this.#line ??= { at, spans: [] }
    const classes = [this.#bold ? 'o' : '', this.#dim ? 'd' : '', this.#colour].filter((name) => name !== '').join(' ')
    const last = this.#line.spans.at(-1)
    if (last?.classes === classes) last.text += shown
    else this.#line.spans.push({ text: shown, classes })
  }

  #end(at: number): void {
    this.lines.push(this.#line ?? { at, spans: [] })
    this.#line = null
  }

  /** Returns where the text goes on. Other sequences than colours are left out. */
  #escape(text: string, from: number): number {
    const [whole, codes] = /^\[([0-9;]{0,20})m/.exec(text.slice(from + 1, from + 24)) ?? []
    if (whole === undefined || codes === undefined) return from + 1
    for (const code of codes.split(';')) this.#switch(code === '' ? '0' : code)
    return from + 1 + whole.length
  }

  #switch(code: string): void {
    if (code === '1') this.#bold = true
    else if (code === '2') this.#dim = true
    else if (code === '22') this.#bold = this.#dim = false
    else if (code === '39') this.#colour = ''
    else if (code === '0') {
      this.#bold = this.#dim = false
      this.#colour = ''
    } else this.#colour = COLOURS[code] ?? this.#colour
  }
}

function nextSpecial(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  const sequence = text.indexOf('\x1b', from)
  return Math.min(newline === -1 ? text.length : newline, sequence === -1 ? text.length : sequence)
}

export function terminalSvg(chunks: readonly PrintedChunk[], options: TerminalSvgOptions): string {
  const reader = new LineReader()
  for (const { at, text } of chunks) reader.read(text, at)
  reader.read('\n', chunks.at(-1)?.at ?? 0)
  while (reader.lines.at(-1)?.spans.length === 0) reader.lines.pop()
  return render(reader.lines, options)
}

/** When each line appears in the picture, in ms. */
function playedAt(lines: readonly Line[], { shortestPauseMs, longestPauseMs }: TerminalSvgOptions): number[] {
  let played = 0
  return lines.map(({ at }, index) => {
    const pause = Math.round(at - (lines[index - 1]?.at ?? at))
    played += Math.min(Math.max(pause, shortestPauseMs), longestPauseMs)
    return played
  })
}

function render(lines: readonly Line[], options: TerminalSvgOptions): string {
  const { title, columns, rows, endMs } = options
  const times = playedAt(lines, options)
  const totalMs = (times.at(-1) ?? 0) + endMs
  const width = Math.ceil(columns * CHARACTER_WIDTH + 2 * PADDING)
  const textHeight = rows * LINE_HEIGHT
  const height = textHeight + TITLE_HEIGHT + PADDING
  const scrolled = (shown: number) => -Math.max(0, shown - rows) * LINE_HEIGHT
  const steps = times.map((ms, index) => ({ percent: ((ms / totalMs) * 100).toFixed(2), shown: index + 1 }))
  const last = { percent: '100', shown: lines.length }
  const frames = (name: string, y: (shown: number) => number) =>
    `@keyframes ${name}{${[{ percent: '0', shown: 0 }, ...steps, last]
      .map(({ percent, shown }) => `${percent}%{transform:translateY(${y(shown)}px)}`)
      .join('')}}`
  const animation = `${totalMs}ms steps(1,end) infinite`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#24292f;white-space:pre}
.back{fill:#f6f8fa}.bar{fill:#57606a}.o{font-weight:700}.d{fill:#6e7781}.r{fill:#cf222e}.g{fill:#116329}.y{fill:#7d4e00}.b{fill:#0550ae}.c{fill:#0a5f66}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.bar{fill:#8b949e}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.b{fill:#79c0ff}.c{fill:#76e3ea}}
.lines{transform:translateY(${scrolled(lines.length)}px)}.cover{transform:translateY(${textHeight}px)}
@media (prefers-reduced-motion:no-preference){
${frames('s', scrolled)}
${frames('v', (shown) => Math.min(shown, rows) * LINE_HEIGHT)}
.lines{animation:s ${animation}}.cover{animation:v ${animation}}
}
</style>
<clipPath id="screen"><rect x="0" y="0" width="${width}" height="${textHeight}"/></clipPath>
<rect class="back" width="${width}" height="${height}" rx="8"/>
<text class="bar" x="${PADDING}" y="22">${escapeXml(title)}</text>
<g transform="translate(0 ${TITLE_HEIGHT})" clip-path="url(#screen)">
<g class="lines">
${lines.map(renderLine).join('\n')}
</g>
<rect class="back cover" width="${width}" height="${textHeight}"/>
</g>
</svg>
`
}

function renderLine({ spans }: Line, index: number): string {
  const parts = spans.map(({ text, classes }) =>
    classes === '' ? escapeXml(text) : `<tspan class="${classes}">${escapeXml(text)}</tspan>`,
  )
  return `<text x="${PADDING}" y="${(index + 1) * LINE_HEIGHT - 5}" xml:space="preserve">${parts.join('')}</text>`
}

const XML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => XML_ESCAPES[character] ?? character)
}
