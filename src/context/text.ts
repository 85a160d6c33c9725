/**
 * Stored text came from programs, web pages and models. On its way into a prompt it becomes words on one line: it
 * cannot end a row, end the block it stands in, or hide something from the person who reads along.
 */
import { wellFormed } from '../memory/bound.ts'
import { CONTEXT_TAG } from '../memory/privacy.ts'

const ESCAPE = String.fromCharCode(27)
const ANSI = new RegExp(`${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]`, 'g')
const LIST_ITEM = /\s*[\r\n]\s*(?:[-*•]|\d{1,2}[.)])\s+/g
const LIST_START = /^\s*(?:[-*•]|1[.)])\s+/
const BLANKS = /[\s\p{Cc}]+/gu
/** Zero-width, reversing and tag characters: read by a model, seen by nobody. */
const INVISIBLE = /\p{Cf}/gu
/** Tags that mean something to the client or to our own hook are no tags any more. */
const TAG_NAMES = new RegExp(`${CONTEXT_TAG}|system-reminder`, 'gi')

/** Above it nothing is looked at: what is shown is far shorter. */
const MOST_READ = 2_000

export function plain(text: string): string {
  return wellFormed(text.slice(0, MOST_READ))
    .replace(ANSI, '')
    .replace(INVISIBLE, '')
    .replace(LIST_START, '')
    .replace(LIST_ITEM, '; ')
    .replace(BLANKS, ' ')
    .replace(TAG_NAMES, (name) => name.replace(/-(?=\w+$)/, ' '))
    .trim()
}

/** Plain, at most about `max` characters, and safe between the bars of a row. */
export function line(text: string, max: number): string {
  return shorten(plain(text), max).replaceAll('|', '\\|')
}

/** Cut between words where there is one near the end; an ellipsis says that something is missing. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  const head = text.slice(0, Math.max(0, max - 1))
  const space = head.lastIndexOf(' ')
  const kept = space > max * 0.7 ? head.slice(0, space) : head
  // Half a character would be left where the cut went through one.
  return `${kept.replace(/[\ud800-\udbff]$/, '').replace(/[\s,;:.]+$/, '')}…`
}
