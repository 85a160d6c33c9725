/**
 * What user and agent wrote, as blocks in their order and unchanged: sentences, list items with their heading, rows of a
 * table with its header, code. Only the structure of the text decides, so it works in any language. One scan over the lines.
 */
import { sentencesOf } from '../domain/sentences.ts'

export interface WordBlock {
  kind: 'heading' | 'sentence' | 'item' | 'row' | 'code'
  /** As written, on one line but for code; without the mark of a list item or heading. */
  text: string
  /** The heading or lead-in (`Changes:`) that it stands under; null where there is none. */
  heading: string | null
  /** Header of the table that it is a row of. */
  header: string | null
  /** Number of the paragraph, list, table or code block that it is a part of, from 0. */
  group: number
}

const HEADING = /^\s{0,3}#{1,6}\s+(?=\S)/
/** A line of bold words only, with or without a colon, is a heading, too. */
const BOLD_LINE = /^\s{0,3}(?:\*\*|__)([^*_\n]{1,120})(?:\*\*|__)[:：]?\s*$/
const ITEM = /^\s{0,24}(?:[-*+•‣▪–]|\d{1,3}[.)、]|[a-zA-Z][.)]|[①-⑳])\s+(?=\S)/
/** Stands at the beginning of a line instead of a list's mark, and says something itself. */
const SIGN_ITEM = /^\s{0,24}(?:\p{Extended_Pictographic}\uFE0F?|[✓✗✘])\s*\S/u
const ROW = /^\s{0,8}\|.*\|\s*$/
const TABLE_RULE = /^\s{0,8}\|?[\s:|+-]{3,}\|?\s*$/
const RULE = /^\s{0,8}(?:[-*_=─━]\s?){3,}$/
const FENCE = /^\s{0,24}(?:```|~~~)/
const QUOTE = /^\s{0,3}(?:>\s?)+/
const LEAD_IN = /[:：]$/
/** A paragraph that may be JSON. */
const JSON_START = /^(?:\[\s*)?\{\s*"|^\[\s*["[]/
/** A longer line ending in a colon is a statement. */
const MAX_LEAD_CHARS = 90
/** Patterns look only at lines of this length; a longer one is prose or data. */
const MAX_RULED_CHARS = 2_000

export type LineKind = 'empty' | 'fence' | 'rule' | 'row' | 'heading' | 'item' | 'text'

/** What a line of Markdown is outside of code. */
export function lineKind(line: string): LineKind {
  if (line.trim() === '') return 'empty'
  if (line.length > MAX_RULED_CHARS) return 'text'
  if (FENCE.test(line)) return 'fence'
  if (RULE.test(line) || TABLE_RULE.test(line)) return 'rule'
  if (ROW.test(line)) return 'row'
  if (HEADING.test(line) || BOLD_LINE.test(line)) return 'heading'
  return ITEM.test(line) || SIGN_ITEM.test(line) ? 'item' : 'text'
}

export function readWords(text: string): WordBlock[] {
  const reader = new WordReader()
  for (const line of text.split(/\r\n|\r|\n/)) reader.read(line)
  return reader.end()
}

/** A heading that is longer is not repeated. */
const MAX_REPEATED_CHARS = 60

/** The first item below a heading is understood with it. `before`: the block that is told before it. */
export function withHeading({ kind, text, heading }: WordBlock, before: WordBlock | undefined): string {
  const isFirst = kind === 'item' && heading !== null && before?.heading !== heading
  return isFirst && heading.length <= MAX_REPEATED_CHARS ? `${heading}: ${text}` : text
}

export const isQuestion = (text: string): boolean => /[?？؟]["'”’»)）\]*_]{0,3}$/.test(text.trimEnd())

class WordReader {
  readonly #blocks: WordBlock[] = []
  /** Lines of the paragraph or item that is being read. */
  #open: { kind: 'sentence' | 'item'; lines: string[] } | null = null
  #code: string[] | null = null
  #heading: string | null = null
  #header: string | null = null
  /** Rows below the header. */
  #rows = 0
  #group = 0

  read(line: string): void {
    const kind = lineKind(line)
    if (kind === 'fence') this.#toggleCode()
    else if (this.#code !== null) this.#code.push(line.trimEnd())
    else if (kind === 'empty') this.#endParagraph()
    else this.#readLine(kind, line)
  }

  #readLine(kind: LineKind, line: string): void {
    const trimmed = line.trim()
    if (kind !== 'rule' && kind !== 'row') this.#endTable()
    if (kind === 'row') this.#readRow(trimmed)
    else if (kind === 'heading') this.#readHeading((BOLD_LINE.exec(line)?.[1] ?? line.replace(HEADING, '')).trim())
    else if (kind === 'item') this.#readItem(line.replace(ITEM, '').trim())
    else if (kind === 'text') this.#readText(line.length > MAX_RULED_CHARS ? trimmed : trimmed.replace(QUOTE, ''))
    else if (this.#header === null) this.#endParagraph()
  }

  end(): WordBlock[] {
    // A fence without its end was the end of one whose beginning is missing: what follows it is text.
    const lines = this.#code ?? []
    this.#code = null
    for (const line of lines) this.read(line)
    this.#endParagraph()
    return this.#blocks
  }

  #add(kind: WordBlock['kind'], text: string, header: string | null = null): void {
    if (text !== '') this.#blocks.push({ kind, text, heading: this.#heading, header, group: this.#group })
  }

  #toggleCode(): void {
    if (this.#code === null) {
      this.#endParagraph()
      this.#code = []
      return
    }
    this.#add('code', this.#code.join('\n').trim())
    this.#code = null
    this.#group++
  }

  #readHeading(text: string): void {
    this.#endParagraph()
    this.#addHeading(text)
    this.#group++
  }

  #addHeading(text: string): void {
    this.#heading = null
    this.#add('heading', text)
    this.#heading = text.replace(LEAD_IN, '')
  }

  #readItem(text: string): void {
    this.#close()
    this.#open = { kind: 'item', lines: [text] }
  }

  #readRow(line: string): void {
    this.#close()
    if (this.#header === null) {
      this.#header = line
      this.#rows = 0
      return
    }
    this.#rows++
    this.#add('row', line, this.#header)
  }

  /** A table of one line has no header. */
  #endTable(): void {
    if (this.#header !== null && this.#rows === 0) this.#add('row', this.#header)
    this.#header = null
  }

  /** A line after an item continues it; after a paragraph's line it is a part of the paragraph. */
  #readText(text: string): void {
    if (this.#open === null) this.#open = { kind: 'sentence', lines: [] }
    this.#open.lines.push(text)
  }

  /** A short paragraph that ends in a colon leads in what follows. */
  #close(): void {
    const open = this.#open
    this.#open = null
    if (open === null) return
    const text = open.lines.join(' ').replace(/\s+/g, ' ').trim()
    if (JSON_START.test(text)) this.#readJson(text)
    else if (open.kind === 'item') this.#add('item', text)
    else if (LEAD_IN.test(text) && text.length <= MAX_LEAD_CHARS) this.#addHeading(text)
    else for (const sentence of sentencesOf(text)) this.#add('sentence', sentence)
  }

  /** What is said in JSON are its texts; without texts it is code. */
  #readJson(json: string): void {
    const texts = jsonTexts(json)
    if (texts.length === 0) this.#add('code', json)
    for (const text of texts) for (const sentence of sentencesOf(text)) this.#add('item', sentence)
  }

  #endParagraph(): void {
    const before = this.#blocks.length
    this.#close()
    this.#endTable()
    if (this.#blocks.length > before) this.#group++
  }
}

/** Texts of more than one word, each after its key, in their order. */
function jsonTexts(json: string): string[] {
  const texts: string[] = []
  try {
    JSON.parse(json, function (this: unknown, key, value: unknown) {
      if (typeof value === 'string' && /\S\s+\S/.test(value)) texts.push(`${key}: ${value.replace(/\s+/g, ' ').trim()}`)
      return value
    })
  } catch {
    return []
  }
  return texts
}
