/** Splits a shell line into simple commands. It knows quoting, redirections, heredocs and substitutions, and no more of the language. */

const MAX_LINE_CHARS = 20_000 // beyond that a line is data, not a command

/** How a command hangs on the one before it. */
export type Joiner = 'start' | 'and' | 'or' | 'then' | 'pipe'

export interface Word {
  /** Without quotes. */
  text: string
  raw: string
}

export interface Simple {
  words: Word[]
  joiner: Joiner
  body: string | null
}

export function tokenize(source: string): Simple[] {
  return new Tokenizer(inlineCat(source.slice(0, MAX_LINE_CHARS).replace(/\r\n/g, '\n'))).read()
}

/** `"$(cat <<'EOF' … EOF)"` is how agents pass a commit message: its words take the substitution's place. */
export function inlineCat(source: string): string {
  let text = source
  for (let round = 0; round < 5; round++) {
    const open = /\$\(\s*cat\s*<<-?\s*(['"]?)([A-Za-z_]\w{0,40})\1[^\n]{0,20}\n/.exec(text)
    if (!open) return text
    const start = open.index + open[0].length
    const rest = text.slice(start)
    const close = new RegExp(`^[\\t ]*${open[2]}[\\t ]*\\n?[\\t ]*\\)`, 'm').exec(rest)
    if (!close) return text
    const message = rest
      .slice(0, close.index)
      .trim()
      .replace(/["`$\\]/g, "'")
    text = text.slice(0, open.index) + message + rest.slice(close.index + close[0].length)
  }
  return text
}

class Tokenizer {
  private at = 0
  private readonly commands: Simple[] = []
  private current: Simple = { words: [], joiner: 'start', body: null }
  private word: Word | null = null
  private dropNext = false
  private readonly heredocs: { end: string; owner: Simple }[] = []

  constructor(private readonly source: string) {}

  read(): Simple[] {
    while (this.at < this.source.length) this.step()
    this.endCommand('then')
    return this.commands
  }

  private step(): void {
    const char = this.source[this.at] ?? ''
    const two = this.source.slice(this.at, this.at + 2)
    if (two === '\\\n') this.at += 2
    else if (char === '\\') this.take(this.source[this.at + 1] ?? '', 2)
    else if (char === "'") this.takeUntil("'")
    else if (char === '"') this.takeQuoted()
    else if (char === '`') this.takeUntil('`')
    else if (two === '$(' || two === '<(' || two === '>(') this.takeSubstitution()
    else if (char === '#' && this.word === null) this.skipComment()
    else if (char === '<' || char === '>' || two === '&>') this.redirect()
    else if (two === '&&') this.endCommand('and', 2)
    else if (two === '||') this.endCommand('or', 2)
    else if (two === '|&') this.endCommand('pipe', 2)
    else if (char === '|') this.endCommand('pipe', 1)
    else if (char === ';' || char === '&') this.endCommand('then', 1)
    else if (char === '\n') this.endLine()
    else if ((char === '(' && this.word === null) || char === ')') this.endGroup()
    else if (char === ' ' || char === '\t') this.endWord(1)
    else this.take(char, 1)
  }

  private take(text: string, width: number): void {
    const raw = this.source.slice(this.at, this.at + width)
    this.word = { text: (this.word?.text ?? '') + text, raw: (this.word?.raw ?? '') + raw }
    this.at += width
  }

  private takeUntil(quote: string): void {
    const close = this.source.indexOf(quote, this.at + 1)
    const end = close === -1 ? this.source.length : close
    this.take(this.source.slice(this.at + 1, end), end + 1 - this.at)
  }

  private takeQuoted(): void {
    let end = this.at + 1
    while (end < this.source.length && this.source[end] !== '"') end += this.source[end] === '\\' ? 2 : 1
    const text = this.source.slice(this.at + 1, end).replace(/\\(["\\$`])/g, '$1')
    this.take(text, end + 1 - this.at)
  }

  private takeSubstitution(): void {
    let depth = 0
    let end = this.at + 1
    for (; end < this.source.length; end++) {
      if (this.source[end] === '(') depth++
      else if (this.source[end] === ')' && --depth === 0) break
    }
    this.take(this.source.slice(this.at, end + 1), end + 1 - this.at)
  }

  private skipComment(): void {
    const end = this.source.indexOf('\n', this.at)
    this.at = end === -1 ? this.source.length : end
  }

  private redirect(): void {
    const here = /^<<-?\s*(?:'([^'\n]{1,60})'|"([^"\n]{1,60})"|\\?([A-Za-z_]\w{0,60}))/.exec(
      this.source.slice(this.at, this.at + 80),
    )
    if (here && this.source[this.at + 2] !== '<') {
      this.endWord(here[0].length)
      this.heredocs.push({ end: here[1] ?? here[2] ?? here[3] ?? '', owner: this.current })
      return
    }
    if (this.word && /^\d$/.test(this.word.raw)) this.word = null
    const operator = /^&?[<>]{1,3}[&|]?/.exec(this.source.slice(this.at, this.at + 5))
    this.endWord(operator?.[0].length ?? 1)
    this.dropNext = true
  }

  private endWord(width: number): void {
    this.at += width
    if (this.word === null) return
    if (!this.dropNext) this.current.words.push(this.word)
    this.dropNext = false
    this.word = null
  }

  private endCommand(next: Joiner, width = 0): void {
    this.endWord(width)
    this.dropNext = false
    if (this.current.words.length > 0) {
      this.commands.push(this.current)
      this.current = { words: [], joiner: next, body: null }
    } else if (next === 'pipe') this.current.joiner = 'pipe'
    else if (this.current.joiner !== 'start' && next !== 'then') this.current.joiner = next
  }

  /** `(a; b) | tail`: the joiner after the bracket is the one that counts. */
  private endGroup(): void {
    const closes = this.source[this.at] === ')'
    if (closes) this.endCommand('then', 1)
    else this.endWord(1)
  }

  private endLine(): void {
    this.endCommand('then', 1)
    for (const { end, owner } of this.heredocs.splice(0)) {
      const lines: string[] = []
      while (this.at < this.source.length) {
        const newline = this.source.indexOf('\n', this.at)
        const stop = newline === -1 ? this.source.length : newline
        const line = this.source.slice(this.at, stop)
        this.at = stop + 1
        if (line.trim() === end) break
        lines.push(line)
      }
      owner.body ??= lines.join('\n')
    }
  }
}
