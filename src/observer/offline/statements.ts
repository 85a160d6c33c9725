/**
 * Chooses from the closing words: a title, and the statements that say most, as written and in their order. Only structure
 * and terms decide, so it is the same in every language.
 */

import { trimEndMatching } from '../../lib/trim.ts'
import { isOutputLine } from '../../reading/output.ts'
import { firstTelling, isSpecific, TermWeights, termsOf } from '../../reading/terms.ts'
import { unique } from '../../reading/text.ts'
import { isQuestion, type WordBlock } from '../../reading/words.ts'

/** Longest title; a longer statement is no label. */
const MAX_TITLE_CHARS = 110
/** Of a statement without any clause that fits. */
const MAX_LONG_TITLE_CHARS = 240
const MIN_CLAUSE_CHARS = 24
/** Statements that are tried for a title. */
const TITLE_STATEMENTS = 5
const MIN_TITLE_SHARE = 0.5

/** The first whole statement that says something; a sentence before an item of a list. Null where there is none. */
export function titleFrom(blocks: readonly WordBlock[]): string | null {
  return titleOfKind(blocks, 'sentence') ?? titleOfKind(blocks, 'item')
}

function titleOfKind(blocks: readonly WordBlock[], kind: WordBlock['kind']): string | null {
  const first = blocks.filter((block) => block.kind === kind && isWhole(block.text)).slice(0, TITLE_STATEMENTS)
  const statements = first.map(({ text }) => withoutMarks(text)).filter((text) => /[\p{L}\p{N}]/u.test(text))
  const fitting = statements.filter((text) => text.length <= MAX_TITLE_CHARS)
  if (fitting.length === 0) return statements.map(firstClause).find((clause) => clause !== null) ?? null
  return firstTelling(fitting, termsOf, MIN_TITLE_SHARE) ?? null
}

/** Neither what a program said, nor words that lead in a list. */
const isWhole = (text: string): boolean => !isOutputLine(text) && !/[:：]\**$/.test(text)

/** Fewer terms than this, none of them a name or a number, say nothing: "ok". */
const MIN_TERMS = 3

export function saysSomething(text: string): boolean {
  const terms = [...termsOf(text)]
  return terms.length >= MIN_TERMS || terms.some(isSpecific)
}

/** Where a clause ends, in scripts of any width. */
const CLAUSE_END = /[,;:](?=\s)|\s[–—-](?=\s)|[，；：、。]|(?<=\S)\s(?=[(（])/g

function firstClause(statement: string): string | null {
  const head = statement.slice(0, MAX_TITLE_CHARS)
  const ends = [...head.matchAll(CLAUSE_END)].map(({ index }) => index).filter((at) => at >= MIN_CLAUSE_CHARS)
  const cut = ends.at(-1)
  if (cut !== undefined) return head.slice(0, cut).trim()
  return statement.length <= MAX_LONG_TITLE_CHARS ? statement : null
}

/** Marks of Markdown stand for nothing in a title; neither does the full stop. */
export function withoutMarks(text: string): string {
  const plain = text
    .slice(0, 4_000)
    .replace(/\[([^[\]\n]{1,300})\]\([^()\n]{1,600}\)/g, '$1')
    .replace(/\*\*|__|`/g, '')
    .replace(/(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/g, '')
    .trim()
  return trimEndMatching(plain, /[.。:：\s]/)
}

/** Statements that are rated: those at the beginning and at the end. */
const MAX_RATED = 200
/** A name or a number says more than another word. */
const SPECIFIC_WEIGHT = 2
/** Added to the length of each statement: a short one must say something, too. */
const STATEMENT_CHARS = 40
/** Longer ones are data. */
const MAX_STATEMENT_CHARS = 600

/** The statements of the closing words, tables and code as one each, with what they stand under. */
export function statementsOf(blocks: readonly WordBlock[]): WordBlock[] {
  const statements: WordBlock[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') continue
    const last = statements.at(-1)
    const isSameTable =
      block.kind === 'row' && last?.kind === 'row' && last.header === block.header && last.group === block.group
    if (isSameTable) last.text += `\n${block.text}`
    else statements.push(block.kind === 'row' ? { ...block, text: `${block.header}\n${block.text}` } : { ...block })
  }
  const short = statements.filter(({ text, kind }) => kind === 'row' || text.length <= MAX_STATEMENT_CHARS)
  const bounded = short.map((one) => ({ ...one, text: one.text.slice(0, MAX_STATEMENT_CHARS) }))
  return bounded.length <= MAX_RATED ? bounded : [...bounded.slice(0, MAX_RATED / 2), ...bounded.slice(-MAX_RATED / 2)]
}

/** Those that add most to each other for their length, in their order. The first mostly says what came of it. */
export function mostInformative(statements: readonly WordBlock[], maxChars: number): WordBlock[] {
  const weights = new TermWeights(SPECIFIC_WEIGHT)
  const rated = statements.map((statement, order) => ({ statement, order, terms: [...termsOf(statement.text)] }))
  for (const { terms } of rated) weights.add(terms)
  const told = new Set<string>()
  const chosen: typeof rated = []
  let left = maxChars
  for (let open = rated; open.length > 0; ) {
    const gains = open.map((one) => {
      const added = one.terms.filter((term) => !told.has(term))
      const isNew = one.order === 0 || added.length > 0
      const gain =
        added.reduce((sum, term) => sum + weights.weight(term), 0) / (one.statement.text.length + STATEMENT_CHARS)
      return { one, gain: !isNew || one.statement.text.length > left ? 0 : one.order === 0 ? Number.MAX_VALUE : gain }
    })
    const best = gains.reduce((a, b) => (b.gain > a.gain ? b : a))
    if (best.gain === 0) break
    chosen.push(best.one)
    left -= best.one.statement.text.length + 1
    for (const term of best.one.terms) told.add(term)
    open = gains.filter(({ one, gain }) => one !== best.one && gain > 0).map(({ one }) => one)
  }
  return chosen.sort((a, b) => a.order - b.order).map(({ statement }) => statement)
}

/** Whole statements from the beginning on, as many as fit. */
export function openingText(statements: readonly WordBlock[], maxChars: number): string | null {
  const kept: string[] = []
  let left = maxChars
  for (const { text } of statements) {
    if (text.length > left) break
    kept.push(text)
    left -= text.length + 1
  }
  return kept.length === 0 ? null : unique(kept).join('\n')
}

/** The last paragraph or list, if it asks something or stands under the last of several headings. */
export function lastPart(blocks: readonly WordBlock[]): WordBlock[] {
  const last = blocks.at(-1)
  if (last === undefined || last.kind === 'heading') return []
  const part = blocks.filter(({ group, kind }) => group === last.group && kind !== 'heading')
  const headings = blocks.filter(({ kind }) => kind === 'heading')
  const isUnderLast =
    headings.length > 1 && last.heading !== null && headings.at(-1)?.text.startsWith(last.heading) === true
  return isUnderLast || part.some(({ text }) => isQuestion(text)) ? part : []
}

/** For comparison: whether something was said before, whatever marks and blanks it had. */
export function comparableText(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}
