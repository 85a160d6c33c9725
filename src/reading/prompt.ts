/**
 * The user's words in a prompt, without what the client added: notes of an editor, reminders, injected context, the tags of
 * slash commands. It is recognised by the client's own tags only, never by what it says.
 */
import { CONTEXT_TAG } from '../domain/private-parts.ts'

/** Left out with everything in them: text of files, programs, other agents and chats, which may have the closing tag, too. */
const FOREIGN = [
  ...['ide_selection', 'ide_diagnostics', 'new-diagnostics', 'additional_data', 'attached_files'],
  ...['local-command-stdout', 'local-command-stderr', 'bash-stdout', 'bash-stderr', 'user-prompt-submit-hook'],
  ...['task-notification', 'teammate-message', 'agent-message', 'cross-session-message', 'channel'],
]
/** Left out with everything in them: words of the client. */
const REMOVED = [
  ...FOREIGN,
  ...['ide_opened_file', 'system-reminder', CONTEXT_TAG, 'local-command-caveat', 'command-message'],
  ...['environment_context', 'user_instructions', 'system_reminder'],
]
/** What is in them is the user's: a command that they typed, a question that the client wrapped. */
const UNWRAPPED: Readonly<Record<string, string>> = {
  'command-name': '',
  'command-args': ' ',
  'bash-input': '! ',
  user_query: '',
}

const OPENING = new RegExp(`<(${[...REMOVED, ...Object.keys(UNWRAPPED)].join('|')})(?:\\s[^<>]{0,300})?>`, 'g')

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
    const end = open.has(tag) ? -1 : closingTag(text, tag, start)
    if (end === -1) {
      open.add(tag)
      continue
    }
    const prefix = UNWRAPPED[tag]
    const before = text.slice(from, match.index)
    kept += before.trim() === '' && kept !== '' ? '' : before
    if (prefix !== undefined) kept += commandPart(tag, prefix, text.slice(start, end).trim())
    from = end + tag.length + '</>'.length
    OPENING.lastIndex = from
  }
  return from === 0 ? text.trim() : `${kept}${text.slice(from)}`.trim()
}

/** The last one of foreign text: it ends with the client's own. What the user wrote between two such parts is lost. */
function closingTag(text: string, tag: string, from: number): number {
  const closing = `</${tag}>`
  const at = FOREIGN.includes(tag) ? text.lastIndexOf(closing) : text.indexOf(closing, from)
  return at < from ? -1 : at
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
