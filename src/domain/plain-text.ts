/**
 * Makes stored text safe to insert into a prompt. It came from programs, web pages and models: it must not end the
 * table row or the block around it, and must not contain anything that the user cannot see.
 */
import { trimEndMatching } from '../lib/trim.ts'
import { CONTEXT_TAG } from './private-parts.ts'
import { cutText, toWellFormed } from './sanitize.ts'

const ESCAPE = String.fromCharCode(27)
const ANSI = new RegExp(`${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]`, 'g')
const LIST_ITEM = /^(?:[-*•]|\d{1,2}[.)])\s/
const LIST_START = /^(?:[-*•]|1[.)])\s/
const BLANKS = /[\s\p{Cc}]+/gu
/** Zero-width, bidirectional and tag characters, variation selectors: a model reads them, the user does not see them. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** Tags that the client or our hook interprets, with any dash. */
const TAG_NAMES = new RegExp(`${CONTEXT_TAG.replaceAll('-', '\\p{Pd}')}|system\\p{Pd}reminder`, 'giu')

/** Characters read of a text: callers show far less. */
const MAX_INPUT_CHARS = 2_000

/** The text on one line, without control characters, terminal codes and list marks. */
export function plainText(text: string): string {
  const visible = toWellFormed(text.slice(0, MAX_INPUT_CHARS)).replace(ANSI, '').replace(INVISIBLE, '')
  return inertText(joinItems(withoutMarkup(visible)).replace(BLANKS, ' ')).trim()
}

/**
 * Nothing in it is a tag, a link or an image; everything else stays. Markup in markup, and parts of it on several lines,
 * become markup when the rest is taken out.
 */
export function inertText(text: string): string {
  return text
    .replace(TAG, '‹$1$2›')
    .replace(CLOSING_TAG, '‹')
    .replace(TAG_NAMES, (name) => name.replace(/\p{Pd}(?=\w+$)/u, ' '))
    .replace(/\]\((?!\))/g, '] (')
    .replace(/!\[/g, '! [')
}

/** Line by line: one pattern for line ends and list marks together would take cubic time on white space. */
function joinItems(text: string): string {
  let joined = ''
  for (const line of text.split(/[\r\n]/)) {
    const item = line.trim()
    if (item === '') continue
    if (joined === '') joined = item.replace(LIST_START, '')
    else joined += LIST_ITEM.test(item) ? `; ${item.replace(LIST_ITEM, '')}` : ` ${item}`
  }
  return joined
}

/** Plain text of at most about `max` characters for a cell of a Markdown table. */
export function tableCell(text: string, max: number): string {
  return truncateAtWord(plainText(text), max).replaceAll('|', '\\|')
}

/** Cuts at the last space if it is near the end, and appends an ellipsis. */
export function truncateAtWord(text: string, max: number): string {
  if (text.length <= max) return text
  const head = text.slice(0, Math.max(0, max - 1))
  const space = head.lastIndexOf(' ')
  const kept = space > max * 0.7 ? head.slice(0, space) : head
  // The cut may have split a surrogate pair.
  return `${trimEndMatching(kept.replace(/[\ud800-\udbff]$/, ''), /[\s,;:.]/)}…`
}

/** Each line as plain text, without empty ones; the middle of a longer text is cut out. */
export function plainLines(text: string, maxChars: number): string[] {
  return cutText(text, maxChars)
    .split(/\r\n|\r|\n/)
    .flatMap(pieces)
    .map(plainText)
    .filter((line) => line !== '')
}

/** `plainText` reads the beginning of a text only. */
function pieces(line: string): string[] {
  const parts: string[] = []
  for (let rest = line; rest !== ''; ) {
    const space = rest.length > MAX_INPUT_CHARS ? rest.lastIndexOf(' ', MAX_INPUT_CHARS) : -1
    const end = space > 0 ? space : MAX_INPUT_CHARS
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return parts
}

const COMMENT = /<!--[\s\S]*?(?:-->|$)/g
/** `Map<string>` in code is none. */
const TAG = /(?<![\w$])[<＜﹤](?=[\p{L}!?/])([^<>＜＞﹤﹥\n]{1,200})[>＞﹥]|[<＜﹤](\/[^<>＜＞﹤﹥\n]{1,200})[>＞﹥]/gu
const CLOSING_TAG = /[<＜﹤](?= {0,8}\/)/g
const IMAGE = /!\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)/g
const LINK = /\[([^\]\n]{1,200})\]\((?:[a-z][a-z+.-]{0,20}:|\/\/)[^)\n]{0,500}\)/gi
const FENCES = /`{3,}|~{3,}/g
/** A heading, a quotation or a rule at the start of a line. */
const BLOCK_START = /^[ \t]{0,20}(?:(?:#{1,6}(?=[ \t])|>|={3,}|-{3,}|\*{3,}|_{3,})[ \t]{0,20}){1,20}/gm

/** Markup that a client or a reader of Markdown would interpret becomes plain characters. */
export function withoutMarkup(text: string): string {
  return text
    .replace(COMMENT, ' ')
    .replace(IMAGE, '$1')
    .replace(LINK, '$1')
    .replace(FENCES, "'")
    .replace(TAG, '‹$1$2›')
    .replace(BLOCK_START, '')
}
