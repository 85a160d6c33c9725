/** Text of others, made fit to stand inside our blocks: plain, and unable to close the block or to fake one. */
import { stripVTControlCharacters } from 'node:util'
import { cutText, wellFormed } from '../../memory/bound.ts'

/** Above what a hook lets through by default; a longer text is cut before every character is looked at. */
const MAX_TEXT_CHARS = 262_144

/** The blocks that our prompts put around what is only to be reported on. */
const BLOCKS = /<(?=[ \t]{0,8}\/?[ \t]{0,8}(?:tool_use|outcome|user_request|last_message|memory)\b)/gi

export function framed(text: string): string {
  return plain(cutText(text, MAX_TEXT_CHARS)).replace(BLOCKS, '&lt;')
}

/** For a place with one line, such as the value of an attribute. */
export function framedLine(text: string, max: number): string {
  // Only a beginning is looked at: white space may shrink, nothing grows by more than the escape.
  const line = framed(text.slice(0, max * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return cutText(line, max)
}

export function attribute(name: string, value: string): string {
  const safe = framedLine(value, MAX_ATTRIBUTE_CHARS).replaceAll('"', "'").replaceAll('<', '‹').replaceAll('>', '›')
  return safe === '' ? '' : ` ${name}="${safe}"`
}

const MAX_ATTRIBUTE_CHARS = 160 // a path that deep still says where; the file itself stands in the block

/** No escape sequences or control characters, no blank ends, one empty line at most, and of a progress bar its last state. */
function plain(text: string): string {
  const lines = wellFormed(stripVTControlCharacters(text))
    .split('\n')
    .map((line) => lastShown(line).replace(CONTROLS, '').trimEnd())
  return lines
    .filter((line, i) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .replace(/^\n/, '')
    .trimEnd()
}

const CONTROLS = /(?!\t)\p{Cc}/gu

function lastShown(line: string): string {
  if (!line.includes('\r')) return line
  return line.split('\r').findLast((state) => state.trim() !== '') ?? ''
}
