/**
 * Cuts text into pieces that are found and read alone. Prose (with or without Markdown) is cut between blocks: a heading
 * stays with what follows it and is repeated where its section continues, a row of a table keeps the head of the table,
 * a list item stays whole. A block that is too long is cut between sentences, then between words.
 *
 * Every step is a scan over a bounded part of the text: it may be 200 KB of anything.
 */
import { MAX_PASSAGE_CHARS, type PassageDraft } from '../domain/passage.ts'
import { stripControlCharacters } from './text.ts'
import { lineKind } from './words.ts'

/** A passage without what all passages of an event share. */
export type PassageContent = Pick<PassageDraft, 'kind' | 'subject' | 'outcome' | 'text'>

/** A piece is closed at the next block when it has this many characters. */
const TARGET_CHARS = 450
/** A heading begins a new piece unless the one before it is shorter than this. */
const MIN_SECTION_CHARS = 160
/** Longest heading or head of a table that is repeated in the pieces after the first. */
const MAX_REPEATED_CHARS = 100
/** Of a longer text the beginning and the end are cut: what was meant is mostly there. */
const MAX_CUT_CHARS = 24_000

interface Block {
  /** `line`: of a code block or a table; lines follow each other without an empty line. */
  kind: 'heading' | 'item' | 'paragraph' | 'line'
  text: string
  /** Head of the table that the block is a row of. */
  tableHead: string | null
}

/** The pieces of a text, in order, at most `most` of them. */
export function cutProse(text: string, most: number): string[] {
  const packer = new Packer(most)
  for (const block of blocksOf(bounded(text))) {
    packer.add(block)
    if (packer.isFull) break
  }
  return packer.finish()
}

/**
 * The text that the pieces were cut from. A piece in the middle of a section begins with the heading of the section, one in the
 * middle of a table with the table's head: repeated lines at the beginning of a piece are left out.
 */
export function joinPieces(pieces: readonly string[]): string {
  const lines: string[] = []
  const seen = new Set<string>()
  for (const piece of pieces) {
    const own = piece.split('\n')
    let repeated = 0
    while (repeated < Math.min(2, own.length - 1) && lines.length > 0 && seen.has(own[repeated] ?? '')) repeated++
    lines.push(...own.slice(repeated))
    for (const line of own) seen.add(line)
  }
  return lines.join('\n')
}

/** Lines of code, of a patch or of an output: cut between lines only; `most` pieces. A heading stands before each piece. */
export function cutLines(lines: readonly string[], most: number, heading: string | null = null): string[] {
  const packer = new Packer(most)
  if (heading !== null) packer.add({ kind: 'heading', text: heading, tableHead: null })
  for (const line of lines) {
    packer.add({ kind: 'line', text: line, tableHead: null })
    if (packer.isFull) break
  }
  return packer.finish()
}

function bounded(text: string): string {
  const clean = (part: string) => stripControlCharacters(part.replaceAll('\r\n', '\n'))
  if (text.length <= MAX_CUT_CHARS) return clean(text)
  return `${clean(text.slice(0, MAX_CUT_CHARS / 2))}\n\n${clean(text.slice(-MAX_CUT_CHARS / 2))}`
}

function* blocksOf(text: string): Generator<Block> {
  let open: Block | null = null
  let inCode = false
  let tableHead: string | null = null
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd()
    const found = lineKind(line)
    if (found === 'fence') {
      if (open !== null) yield open
      open = null
      inCode = !inCode
      yield { kind: 'line', text: line.trim(), tableHead: null }
      continue
    }
    const kind = inCode ? 'line' : found
    tableHead = kind === 'row' ? (tableHead ?? line.trim()) : kind === 'rule' ? tableHead : null
    if (kind === 'text' && open !== null) {
      open.text += `\n${line.trim()}`
      continue
    }
    if (open !== null) yield open
    open = null
    if (kind === 'empty' || kind === 'rule') continue
    if (kind === 'line' || kind === 'row') {
      yield { kind: 'line', text: line, tableHead: tableHead === line.trim() ? null : tableHead }
    } else if (kind === 'heading') yield { kind, text: line.trim(), tableHead: null }
    else
      open = {
        kind: kind === 'item' ? 'item' : 'paragraph',
        text: kind === 'item' ? line : line.trim(),
        tableHead: null,
      }
  }
  if (open !== null) yield open
}

/** Puts blocks into pieces. */
class Packer {
  readonly #most: number
  readonly #pieces: string[] = []
  /** Headings that nothing followed yet. */
  #pending: string[] = []
  #heading: string | null = null
  #lines: string[] = []
  #chars = 0
  /** Characters of the repeated lines at the beginning of the piece. */
  #repeated = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#pieces.length >= this.#most
  }

  add(block: Block): void {
    if (block.kind === 'heading') {
      if (this.#chars - this.#repeated >= MIN_SECTION_CHARS) this.#close()
      this.#pending = [...this.#pending.slice(-1), clip(block.text)]
      this.#heading = clip(block.text)
      return
    }
    const parts = splitLong(block.text, MAX_PASSAGE_CHARS - 2 * MAX_REPEATED_CHARS - 2)
    const [first] = parts
    for (const part of parts) {
      const room = this.#chars >= TARGET_CHARS ? 0 : MAX_PASSAGE_CHARS - this.#chars
      if (this.#chars > 0 && part.length + 1 > room) this.#close()
      if (this.#chars === 0) this.#begin(block.tableHead)
      // A paragraph is apart from the item or the paragraph before it.
      else if (block.kind === 'paragraph' && this.#pending.length === 0 && part === first) this.#push('')
      for (const heading of this.#pending) this.#push(heading)
      this.#pending = []
      this.#push(part)
    }
  }

  finish(): string[] {
    for (const heading of this.#pending) this.#push(heading)
    this.#close()
    return this.#pieces.slice(0, this.#most)
  }

  /** A piece in the middle of a section begins with its heading, a row of a table with the table's head. */
  #begin(tableHead: string | null): void {
    if (this.#pending.length === 0 && this.#heading !== null && this.#heading.length <= MAX_REPEATED_CHARS)
      this.#push(this.#heading)
    if (tableHead !== null && tableHead.length <= MAX_REPEATED_CHARS) this.#push(tableHead)
    this.#repeated = this.#chars
  }

  #push(line: string): void {
    this.#lines.push(line)
    this.#chars += line.length + 1
  }

  #close(): void {
    const text = this.#lines.join('\n').trim()
    if (this.#chars > this.#repeated && HAS_SUBSTANCE.test(text)) this.#pieces.push(text)
    this.#lines = []
    this.#chars = 0
    this.#repeated = 0
  }
}

const HAS_SUBSTANCE = /[\p{L}\p{N}]/u
const clip = (heading: string): string => (heading.length <= 200 ? heading : `${heading.slice(0, 199)}…`)

/**
 * Where a sentence ends: after . ! ? and a blank, or after the full-width marks, which no blank follows; Arabic, Hindi and
 * Hebrew (sof pasuq) marks included.
 */
const SENTENCE_END = /[.!?…؟।׃]["'”’»)\]]{0,2}(?=\s)|[。！？；][”’」』）]{0,2}|\n/g

/** Parts of at most `max` characters, cut after a sentence, else after a word, else anywhere but inside a character. */
function splitLong(text: string, max: number): string[] {
  if (text.length <= max) return [text]
  const parts: string[] = []
  let start = 0
  while (start < text.length) {
    const end = text.length - start <= max ? text.length : start + cutPosition(text.slice(start, start + max))
    const part = text.slice(start, end).trim()
    if (part !== '') parts.push(part)
    start = end
  }
  return parts
}

/** A sentence that ends earlier than this share of the room leaves too short a part. */
const MIN_FILLED = 0.35

function cutPosition(window: string): number {
  const least = Math.floor(window.length * MIN_FILLED)
  let sentence = -1
  for (const match of window.matchAll(SENTENCE_END)) sentence = match.index + match[0].length
  if (sentence >= least) return sentence
  const blank = Math.max(window.lastIndexOf(' '), window.lastIndexOf('\t'))
  if (blank >= least) return blank + 1
  const last = window.charCodeAt(window.length - 1)
  return last >= 0xd800 && last <= 0xdbff && window.length > 1 ? window.length - 1 : window.length
}

const SAMPLE_CHARS = 2_000
/** Share of characters that are no letters, digits, blanks or usual marks, from which on a text is binary or encoded. */
const MAX_STRANGE = 0.2

/** Neither binary nor one long encoded word. */
export function isReadable(text: string): boolean {
  const sample = text.slice(0, SAMPLE_CHARS)
  if (sample === '') return false
  const strange = sample.length - (sample.match(/[\p{L}\p{M}\p{N}\s.,:;!?'"()/_-]/gu)?.length ?? 0)
  if (sample.includes('\0') || strange > sample.length * MAX_STRANGE + 40) return false
  return sample.length < 500 || /\s|[\u3000-\u9fff]/.test(sample.slice(0, 500))
}
