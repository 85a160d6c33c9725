/**
 * Cuts what somebody wrote on purpose (the agent's closing message, the report of a subagent, the body of a commit) into
 * statements. A statement is understood alone: a list item has the sentence or the heading that introduces it, and a
 * sentence that begins with "This" has the one before it. All patterns are linear: the text may be anything.
 */

import { findDirective, ownWords } from '../../domain/reported-speech.ts'
import { sentencesOfLine } from '../../domain/sentences.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { clipAtWord, firstAndLast, joinWrappedLines, stripControlCharacters } from '../tool-events/text.ts'
import {
  isChatter,
  isDependent,
  isOptionLead,
  isStanding,
  isUncertain,
  MAX_STATEMENT_CHARS,
  roleOf,
  type StatementRole,
  withoutOpening,
} from './statement-roles.ts'

export interface Statement {
  /** One to three sentences, or a label with its items. */
  text: string
  /** The heading it is under. */
  section: string | null
  role: StatementRole
}

/** Closing messages are rarely longer; of longer texts the beginning and the end are read. */
const MAX_TEXT_CHARS = 16_000
const MAX_STATEMENTS = 120

/** `subject` is what a first sentence with "This" or "That" is about, if that is known. */
export function readStatements(text: string, subject: string | null = null): Statement[] {
  const own = ownWords(withShortFences(firstAndLast(text, MAX_TEXT_CHARS)), 'message')
  const reader = new StatementReader(subject)
  for (const line of joinWrappedLines(stripControlCharacters(own).split('\n'))) reader.read(line)
  return reader.finish()
}

/** Ends a paragraph and a list. */
const RULE_LINE = '---'
const FENCE = /^\s{0,12}(?:`{3}|~{3})/
const MAX_FENCE_LINES = 3
const MAX_FENCE_CHARS = 200

/** A code block of a few lines that a sentence with a colon introduces is mostly a command: it becomes a list item. */
function withShortFences(text: string): string {
  const kept: string[] = []
  let fence: string[] | null = null
  for (const line of text.split('\n')) {
    const isMark = FENCE.test(line)
    if (fence === null) {
      if (isMark) fence = []
      else kept.push(line)
    } else if (!isMark) fence.push(line.trim())
    else {
      const lines = fence.filter((one) => one !== '' && !/^(?:#|\/\/)/.test(one))
      const introduction = kept.findLast((one) => one.trim() !== '') ?? ''
      const isShort = lines.length <= MAX_FENCE_LINES && lines.join('').length <= MAX_FENCE_CHARS
      if (lines.length > 0 && isShort && lines.every(isCommandLine) && /:\W{0,4}$/.test(introduction.trimEnd())) {
        kept.push(...lines.map((one) => `      - \`${one}\``), '')
      } else kept.push(RULE_LINE)
      fence = null
    }
  }
  return kept.join('\n')
}

/** A program with arguments, or a variable that is set: not a sentence, which may be somebody else's order. */
function isCommandLine(line: string): boolean {
  const isCommand = /^(?:\$ )?(?:export \w|[A-Z][A-Z_\d]{1,40}=\S|[a-z][\w.+-]{0,40}(?:\s|$)|\.{0,2}\/[\w./-]+)/.test(
    line,
  )
  if (!isCommand || /[{}│┌└`]|[.!?]$/.test(line)) return false
  return findDirective(line) !== 'rule' && !/\b(?:we|you|the|because|decided)\b/i.test(line)
}

interface ListItem {
  text: string
  children: string[]
  mark: StatusMark | null
}

type StatusMark = 'done' | 'open' | 'failed'

class StatementReader {
  readonly #subject: string | null
  readonly #statements: Statement[] = []
  #section: string | null = null
  /** A sentence that ends in a colon, without it. */
  #lead: string | null = null
  #items: ListItem[] = []
  #baseDepth = 0
  #columns: string[] | null = null
  /** Whether the last statement is of the paragraph that is being read. */
  #continues = false
  /** Whether a list of the section was read: the text after it may be about anything. */
  #listed = false

  constructor(subject: string | null) {
    this.#subject = subject
  }

  read(raw: string): void {
    const line = raw.trimEnd()
    const isRule = /^\s*[-*_=]{3,}$/.test(line)
    // What a sentence with a colon introduced was left out.
    if (isRule) this.#lead = null
    if (line.trim() === '' || isRule) {
      this.#continues = false
      this.#columns = null
      return
    }
    const heading = headingOf(line)
    if (heading !== null) {
      this.#endList()
      this.#lead = null
      this.#section = heading
      this.#listed = false
      return
    }
    const cells = cellsOf(line)
    if (cells !== null) {
      this.#readRow(cells)
      return
    }
    const item = itemOf(line)
    if (item !== null) this.#readItem(item)
    else if (this.#items.length > 0 && /^\s{2,}/.test(line)) this.#continueItem(cleanInline(line))
    else this.#readText(line)
  }

  finish(): Statement[] {
    this.#endList()
    return this.#statements.slice(0, MAX_STATEMENTS)
  }

  #readRow(cells: string[]): void {
    if (cells.every((cell) => /^[\s:-]*$/.test(cell))) return
    if (this.#columns === null) {
      this.#endList()
      this.#columns = cells
      return
    }
    const [first = '', ...rest] = cells
    const columns = this.#columns
    const named = rest.flatMap((cell, i) => {
      if (cell === '') return []
      return rest.length === 1 ? [cell] : [`${columns[i + 1] ?? ''} ${cell}`.trim()]
    })
    if (first !== '' && named.length > 0)
      this.#items.push({ text: `${first}: ${named.join('; ')}`, children: [], mark: null })
  }

  #readItem({ depth, text, mark }: { depth: number; text: string; mark: StatusMark | null }): void {
    if (this.#items.length === 0) this.#baseDepth = depth
    else if (depth < this.#baseDepth) {
      this.#endList()
      this.#baseDepth = depth
    }
    const last = this.#items.at(-1)
    const isNested = depth > this.#baseDepth
    if (last !== undefined && isNested) {
      last.children.push(text)
      return
    }
    // A line with a sign, "✅ Done:", introduces the list after it.
    if (last !== undefined && isLead(last) && last.mark !== null && mark === null) {
      this.#items.pop()
      this.#endList()
      this.#lead = trimEndMatching(last.text, /[:：\s]/)
      this.#baseDepth = depth
    }
    this.#items.push({ text, children: [], mark })
  }

  #continueItem(text: string): void {
    const last = this.#items.at(-1)
    if (last === undefined) return
    if (last.children.length > 0 || /[.!?:]$/.test(last.text)) last.children.push(text)
    else last.text = `${last.text} ${text}`
  }

  #readText(line: string): void {
    this.#endList()
    const sentences = sentencesOfLine(cleanInline(line))
    const lead = this.#lead
    this.#lead = null
    sentences.forEach((sentence, i) => {
      const isLast = i === sentences.length - 1
      if (isLast && /[:：]$/.test(sentence)) this.#lead = trimEndMatching(sentence, /[:：\s]/)
      else this.#add(i === 0 && lead !== null ? `${lead}: ${sentence}` : sentence)
    })
  }

  /** A sentence of a paragraph. One that needs the sentence before it is added to that. */
  #add(sentence: string): void {
    const opened = withoutOpening(sentence)
    const isFirst = this.#statements.length === 0 && this.#subject !== null
    const text = isFirst
      ? opened.replace(/^(?:this|that|it) (?=[a-z]{2,20}s (?!is\b))(?!is |was )/i, `${this.#subject} `)
      : opened
    const role = roleOf(text, this.#listed ? null : this.#section)
    if (role === 'question') {
      this.#push(text, role)
      return
    }
    if (text === '' || isChatter(text)) {
      this.#continues = false
      return
    }
    if (isDependent(text)) {
      if (this.#continues) this.#join(text)
      return
    }
    this.#push(text, role)
    this.#continues = true
  }

  /** Adds to the last statement what cannot stand without it; if that is too long, it is left out. */
  #join(text: string): void {
    const last = this.#statements.at(-1)
    if (last === undefined || last.section !== this.#section || last.role === 'question' || last.role === 'option')
      return
    const joined = `${last.text} ${text}`
    if (joined.length <= MAX_STATEMENT_CHARS) last.text = endSentence(joined)
  }

  #push(text: string, role: StatementRole): void {
    this.#statements.push({ text: endSentence(clipAtWord(text, MAX_STATEMENT_CHARS)), section: this.#section, role })
  }

  /** The list that was read becomes statements. */
  #endList(): void {
    const items = this.#items.filter(({ mark }) => mark !== 'failed')
    const lead = this.#lead
    this.#items = []
    this.#columns = null
    if (items.length === 0) return
    this.#lead = null
    this.#continues = false
    this.#listed = true
    const label = lead ?? this.#section
    const isOptions = label !== null && isOptionLead(label)
    const isGuess = lead !== null && isUncertain(lead)
    const open = items.filter(({ mark }) => mark === 'open').map(itemText)
    const texts = items.filter(({ mark }) => mark !== 'open').map(itemText)
    for (const text of open) this.#push(text, isOptions ? 'option' : 'next')
    if (isOptions) {
      for (const text of texts) this.#push(text, 'option')
      return
    }
    const stands = texts.every(isStanding)
    // Items that are sentences need no label, unless the sentence before them says what they are: "It failed because:".
    const usesLabel = lead === null ? !stands : !(stands && isAnnouncement(lead))
    const prefix = usesLabel && !(label !== null && stands && isAnnouncement(label)) ? label : null
    for (const text of prefix === null ? texts : packItems(prefix, texts)) {
      const statement = withoutOpening(text)
      if (isDependent(statement)) this.#join(statement)
      else if (statement !== '' && !isChatter(statement))
        this.#push(statement, isGuess ? 'guess' : roleOf(statement, this.#section))
    }
  }
}

const isLead = ({ text, children }: ListItem): boolean => children.length === 0 && /[:：]$/.test(text)

/** A lead that only announces what follows. */
function isAnnouncement(lead: string): boolean {
  return /\b(?:summary|status|overview|resolution|completed|done)\b|^(?:here\b|in summary|the following|what (?:i|was|changed)|changes?\b|i(?:'ve| have)? (?:made|did|added|updated|implemented|completed)\b.{0,40}$|key (?:changes|points)|created|completed|done|highlights|results?)/i.test(
    lead,
  )
}

/** `Label: one; two.`, in as many statements as are needed. */
function packItems(label: string, items: readonly string[]): string[] {
  const packed: string[] = []
  let current = ''
  for (const item of items) {
    const text = trimEndMatching(item, /[.;\s]/)
    const longer = current === '' ? `${label}: ${text}` : `${current}; ${text}`
    if (current !== '' && longer.length > MAX_STATEMENT_CHARS) {
      packed.push(current)
      current = `${label}: ${text}`
    } else current = longer
  }
  return current === '' ? packed : [...packed, current]
}

function itemText({ text, children }: ListItem): string {
  if (children.length === 0) return text
  const [label, parts] = [trimEndMatching(text, /[:.\s]/), children.map((child) => trimEndMatching(child, /[.;\s]/))]
  return clipAtWord(`${label}: ${parts.join('; ')}`, MAX_STATEMENT_CHARS)
}

function endSentence(text: string): string {
  const end = text.trimEnd()
  return /[.!?…。！？)”"`:;]$/.test(end) && !/[`)”":;]$/.test(end) ? end : `${trimEndMatching(end, /[:;,\s]/)}.`
}

const MAX_HEADING_WORDS = 12

/** `## Heading`, or a short line that is bold as a whole. Null for any other line. */
function headingOf(line: string): string | null {
  const marked = /^\s{0,3}#{1,6}\s+(.+)$/.exec(line)?.[1]
  if (marked !== undefined) return trimEndMatching(cleanInline(marked), /[:：\s]/)
  const bold = /^\W{0,4}\*\*([^*]+)\*\*\s{0,4}:?\s*$/.exec(line)?.[1]
  if (bold === undefined || STATUS_MARK.test(line)) return null
  const text = cleanInline(bold)
  const isSentence = /[.!?。！？]$/.test(text) || text.split(' ').length > MAX_HEADING_WORDS
  return isSentence || /^https?:/.test(text) ? null : trimEndMatching(text, /[:：\s]/)
}

function cellsOf(line: string): string[] | null {
  if (!/^\s*\|.*\|\s*$/.test(line)) return null
  return line
    .trim()
    .slice(1, -1)
    .split('|')
    .map((cell) => cleanInline(cell))
}

const ITEM = /^(\s*)(?:[-*•+–]|\d{1,2}[.)])\s+(.*)$/
const CHECKBOX = /^\[([ xX])\]\s+/
/** Signs that agents put before what is done, failed or left. */
const STATUS_MARK = /^[\s*_]{0,6}(✅|✔|✓|☑|❌|✗|✘|🔲|⏳|🔄|☐)/u
const DONE_MARKS = new Set(['✅', '✔', '✓', '☑'])
const FAILED_MARKS = new Set(['❌', '✗', '✘'])

function itemOf(line: string): { depth: number; text: string; mark: StatusMark | null } | null {
  const [, indent = '', listed] = ITEM.exec(line) ?? []
  const content = listed ?? (STATUS_MARK.test(line) ? line.trim() : null)
  if (content === null || content === undefined) return null
  const box = CHECKBOX.exec(content)?.[1]
  const sign = STATUS_MARK.exec(content)?.[1]
  const text = cleanInline(content.replace(CHECKBOX, ''))
  return { depth: Math.floor(indent.length / 2), text, mark: box === undefined ? signMark(sign) : boxMark(box) }
}

const boxMark = (box: string): StatusMark => (box === ' ' ? 'open' : 'done')

function signMark(sign: string | undefined): StatusMark | null {
  if (sign === undefined) return null
  if (DONE_MARKS.has(sign)) return 'done'
  return FAILED_MARKS.has(sign) ? 'failed' : 'open'
}

const PICTOGRAPHS = /(?:\p{Extended_Pictographic}|[\u2600-\u27bf]|\ufe0f|\u200d)+/gu
const LABEL = /^\*\*([^*]{1,80}?)[:：]?\*\*\s{0,4}[:：–—-]?\s+(?=\S)/
/** Asterisks beside a slash are part of a glob, as in `src/**`. */
const BOLD = /\*\*(?![\s/])([^*\n]+)\*\*/g
const LINK = /\[([^[\]\n]{1,200})\]\((https?:[^()\s]{1,200})\)/g

/** Without Markdown and pictographs; `**Label** - text` becomes `Label: text`. */
export function cleanInline(text: string): string {
  const plain = text
    .replace(PICTOGRAPHS, ' ')
    .trim()
    .replace(/^(\*{0,2})(?:\d{1,2}|[a-zA-Z])[.)]\s+(?=\S)/, '$1')
  const label = LABEL.exec(plain)?.[1]?.trim()
  const labelled =
    label === undefined
      ? plain
      : `${label}${/[.!?]$/.test(label) ? '' : labelMark(plain, label)} ${plain.replace(LABEL, '')}`
  return labelled
    .replace(LINK, (_, name: string, url: string) => (name.includes(url) ? name : `${name} (${url})`))
    .replace(BOLD, '$1')
    .replace(/(?<!\/)\*\*(?!\/)|__(?=\w)|(?<=\w)__(?!\w)/g, '')
    .replace(/(?<![\w*])\*([^*\n]+)\*(?![\w*])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A bold beginning of a sentence is no label: "**29 tests** across all modules". */
function labelMark(line: string, label: string): string {
  const after = line.slice(line.indexOf(label) + label.length, line.indexOf(label) + label.length + 8)
  return /^[:：]?\*\*\s{0,4}[:：–—-]|^[:：]/.test(after) ? ':' : ''
}
