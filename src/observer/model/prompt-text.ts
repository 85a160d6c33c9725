/**
 * Prepares foreign text (tool input and output, prompts) for a prompt: removes control characters and escapes tags that could
 * close or fake one of our blocks.
 */
import { stripVTControlCharacters } from 'node:util'
import { cutText, toWellFormed } from '../../domain/sanitize.ts'

/** Above what a hook lets through by default; a longer text is cut before its characters are processed. */
const MAX_TEXT_CHARS = 262_144

/** The blocks that our prompts put around foreign text. */
const BLOCKS = ['tool_use', 'outcome', 'user_request', 'last_message', 'memory', 'turns', 'decisions']
const BLOCK_TAG = new RegExp(`[<＜﹤](?=[\\s/／∕⁄⧸]{0,16}(?:${BLOCKS.join('|')})\\b)`, 'gi')
/** How a request names stored observations (stored-notes.ts). */
const STORED_MARK = /^([ \t]{0,8}(?:stored: (?:up to )?|open: |check of ))#(?=\d)/gm

export function promptText(text: string): string {
  return plainLines(cutText(text, MAX_TEXT_CHARS)).replace(BLOCK_TAG, '&lt;').replace(STORED_MARK, '$1no. ')
}

/** On one line, for example for an attribute. */
export function promptLine(text: string, maxChars: number): string {
  // Four times the limit is read: white space may shrink, and only the escape makes the text longer.
  const line = promptText(text.slice(0, maxChars * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return cutText(line, maxChars)
}

/** Enough for a deep path; the file itself is in the block. */
const MAX_ATTRIBUTE_CHARS = 160

export function promptAttribute(name: string, value: string): string {
  const safe = promptLine(value, MAX_ATTRIBUTE_CHARS).replaceAll('"', "'").replaceAll('<', '‹').replaceAll('>', '›')
  return safe === '' ? '' : ` ${name}="${safe}"`
}

/** And what nobody sees, which could stand in the name of a tag. */
const CONTROL_CHARACTERS = /(?!\t)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Without escape sequences, control characters and trailing space; at most one empty line in a row. */
function plainLines(text: string): string {
  const lines = toWellFormed(stripVTControlCharacters(text))
    .split('\n')
    .map((line) => lastProgressState(line).replace(CONTROL_CHARACTERS, '').trimEnd())
  return lines
    .filter((line, i) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .replace(/^\n/, '')
    .trimEnd()
}

/** A progress bar overwrites its line with carriage returns. */
function lastProgressState(line: string): string {
  if (!line.includes('\r')) return line
  return line.split('\r').findLast((state) => state.trim() !== '') ?? ''
}

/** Small wants are met in full; the rest is divided equally among the larger ones. Never more than `total` together. */
export function fairShares(wants: readonly number[], total: number): number[] {
  const shares = wants.map(() => 0)
  const ascending = wants.map((_, i) => i).sort((a, b) => (wants[a] ?? 0) - (wants[b] ?? 0))
  let left = Math.max(0, Math.floor(total))
  ascending.forEach((index, done) => {
    const share = Math.min(wants[index] ?? 0, Math.floor(left / (ascending.length - done)))
    shares[index] = share
    left -= share
  })
  return shares
}
