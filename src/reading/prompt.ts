/**
 * The user's words in a prompt, without what the client added: notes of an editor, reminders, injected context, the tags of
 * slash commands. It is recognised by the client's own tags only, never by what it says.
 */
import { NOTE_TAGS, noteEnd, openingTag } from '../domain/client-notes.ts'

/** What is in them is the user's: a command that they typed, a question that the client wrapped. */
const UNWRAPPED: Readonly<Record<string, string>> = {
  'command-name': '',
  'command-args': ' ',
  'bash-input': '! ',
  user_query: '',
}

const OPENING = new RegExp(openingTag([...NOTE_TAGS, ...Object.keys(UNWRAPPED)]), 'g')

/** The prompt as the user typed it; a slash command as `/name arguments`. */
export function withoutBoilerplate(text: string): string {
  let kept = ''
  let from = 0
  /** Tags that are not closed anymore: each is searched for to the end once. */
  const open = new Set<string>()
  OPENING.lastIndex = 0
  for (let match = OPENING.exec(text); match !== null; match = OPENING.exec(text)) {
    const [opening, tag = ''] = match
    const start = match.index + opening.length
    const prefix = UNWRAPPED[tag]
    const end = open.has(tag) ? -1 : prefix === undefined ? noteEnd(text, tag, start) : wrapEnd(text, tag, start)
    if (end === -1) {
      open.add(tag)
      continue
    }
    const before = text.slice(from, match.index)
    kept += before.trim() === '' && kept !== '' ? '' : before
    if (prefix !== undefined) kept += commandPart(tag, prefix, text.slice(start, end - closing(tag).length).trim())
    from = end
    OPENING.lastIndex = from
  }
  return from === 0 ? text.trim() : `${kept}${text.slice(from)}`.trim()
}

const closing = (tag: string): string => `</${tag}>`

function wrapEnd(text: string, tag: string, from: number): number {
  const at = text.indexOf(closing(tag), from)
  return at === -1 ? -1 : at + closing(tag).length
}

function commandPart(tag: string, prefix: string, content: string): string {
  if (content === '') return ''
  return tag === 'command-name' && !content.startsWith('/') ? `/${content}` : prefix + content
}

/** A client reports the end of an agent in the background as a prompt. */
const NOTIFICATION = /^\s*<task-notification>/

/** The report in a notification; null if the text is none. Empty: it has no report. */
export function notifiedReport(text: string): string | null {
  if (!NOTIFICATION.test(text)) return null
  const from = text.indexOf('<result>')
  const to = text.lastIndexOf('</result>')
  return from === -1 || to < from ? '' : text.slice(from + '<result>'.length, to)
}
