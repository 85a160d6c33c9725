/** Output of the demo: tool uses share a line, everything that the daemon commits gets its own line. */
import { createStyle, type Style, shouldUseColour } from '../../src/cli/style.ts'
import { displayWidth, terminalSafe, truncate, wrapText } from '../../src/cli/text.ts'
import { TYPE_ICONS } from '../../src/context/lines.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'

const WIDEST = 110
const TOOL_CHARS = 34
const INDENT = '  '
const LABEL_WIDTH = 15

const STATES: Record<string, string> = {
  observing: 'reported tool uses are collected in the inbox',
  batching: 'the inbox goes to the observer as one batch',
  summarizing: 'the turn has ended and is summarised',
  compacting: "the observer's conversation is compacted",
  closed: 'the session has ended',
}

export class Screen {
  readonly #style: Style
  readonly #columns: number
  readonly #write: (text: string) => void
  /** Columns used on the current line of tools; 0 if there is none. */
  #used = 0
  #state = ''

  constructor(stream: NodeJS.WriteStream) {
    this.#style = createStyle(shouldUseColour(stream.isTTY === true, process.env))
    this.#columns = Math.min(WIDEST, stream.columns ?? WIDEST)
    this.#write = (text) => void stream.write(text)
  }

  title(text: string, about: string): void {
    this.#line(`${this.#style.bold(text)}  ${this.#style.dim(about)}`)
  }

  step(number: number, text: string): void {
    this.#line('')
    for (const line of wrapText(`${number}  ${text}`, this.#columns)) this.#line(this.#style.bold(line))
  }

  prompt(text: string): void {
    this.#line('')
    this.#labelled('prompt', this.#style.cyan, text, this.#style.cyan)
  }

  tool(name: string, about: string, failed: boolean): void {
    const shown = truncate(terminalSafe(`${name} ${about}`), TOOL_CHARS)
    const text = failed ? `${shown} ✗` : shown
    const width = displayWidth(text) + 3
    const full = this.#used + width > this.#columns
    if (this.#used === 0) this.#write(this.#label('tools', this.#style.dim))
    else this.#write(full ? `\n${' '.repeat(LABEL_WIDTH)}` : this.#style.dim(' · '))
    this.#write(failed ? this.#style.red(text) : this.#style.dim(text))
    this.#used = this.#used === 0 || full ? LABEL_WIDTH + width : this.#used + width
  }

  state(name: string): void {
    const [top = name] = name.split('.')
    if (top === this.#state || STATES[top] === undefined) return
    this.#state = top
    this.#labelled('state', this.#style.yellow, `${top}: ${STATES[top]}`, this.#style.yellow)
  }

  observation({ id, type, title, facts }: Observation): void {
    const text = `${TYPE_ICONS[type]} ${terminalSafe(title ?? '')}`
    const [fact] = facts
    const room = this.#columns - LABEL_WIDTH - displayWidth(text) - 2
    const more = fact === undefined || room < 20 ? '' : `  ${this.#style.dim(truncate(terminalSafe(fact), room))}`
    this.#line(
      `${this.#label(`learned #${id}`, this.#style.green)}${this.#style.green(truncate(text, this.#columns - LABEL_WIDTH))}${more}`,
    )
  }

  summary({ learned, completed, nextSteps }: Summary): void {
    const fields = [
      ['learned', learned],
      ['completed', completed],
      ['next', nextSteps],
    ] as const
    let label = 'summary'
    for (const [name, text] of fields) {
      if (text === null) continue
      this.#labelled(label, this.#style.green, `${name}: ${text}`, (line) => line)
      label = ''
    }
  }

  context(text: string): void {
    this.#line('')
    for (const line of text.split('\n')) {
      const indent = line.startsWith(INDENT) ? INDENT : ''
      for (const part of wrapText(line.trimStart(), this.#columns - 6)) {
        this.#line(`${INDENT}${this.#style.blue('│')} ${indent}${part}`)
      }
    }
    this.#line('')
  }

  result(text: string): void {
    this.#line(`${this.#style.green('✓')} ${text}`)
  }

  note(text: string): void {
    this.#line(this.#style.dim(text))
  }

  #labelled(label: string, paintLabel: (text: string) => string, text: string, paint: (text: string) => string): void {
    const [first = '', ...rest] = wrapText(terminalSafe(text), this.#columns - LABEL_WIDTH)
    this.#line(`${this.#label(label, paintLabel)}${paint(first)}`)
    for (const line of rest) this.#line(`${' '.repeat(LABEL_WIDTH)}${paint(line)}`)
  }

  #label(text: string, paint: (text: string) => string): string {
    return paint(`${INDENT}${text}`.padEnd(LABEL_WIDTH))
  }

  #line(text: string): void {
    if (this.#used > 0) this.#end()
    this.#write(`${text}\n`)
  }

  #end(): void {
    this.#write('\n')
    this.#used = 0
  }
}
