/**
 * What a client adds to a prompt, in its own tags. It may have any text of files, programs, other agents and chats in it,
 * with closing tags, too.
 */
import { CONTEXT_TAG } from './private-parts.ts'

export const NOTE_TAGS: readonly string[] = [
  ...['ide_selection', 'ide_diagnostics', 'ide_opened_file', 'new-diagnostics', 'additional_data', 'attached_files'],
  ...['local-command-stdout', 'local-command-stderr', 'bash-stdout', 'bash-stderr', 'user-prompt-submit-hook'],
  ...['task-notification', 'teammate-message', 'agent-message', 'cross-session-message', 'channel'],
  ...['system-reminder', 'system_reminder', CONTEXT_TAG, 'local-command-caveat', 'command-message'],
  ...['environment_context', 'user_instructions'],
]

/** An opening tag of one of them, as the source of a pattern. */
export const openingTag = (tags: readonly string[]): string => `<(${tags.join('|')})(?:\\s[^<>]{0,300})?>`

const OPENING = new RegExp(openingTag(NOTE_TAGS), 'g')

/**
 * Behind a note that was opened before `from`: at the last closing tag, which is the client's own. What opens in it is a note,
 * too, since its text may have closed the first one. What the user wrote between two notes of one tag is lost. -1: never closed.
 */
export function noteEnd(text: string, tag: string, from: number): number {
  const ends = new Map<string, number>()
  const endOf = (name: string): number => {
    const known = ends.get(name) ?? lastEnd(text, name)
    ends.set(name, known)
    return known
  }
  let end = endOf(tag)
  if (end < from) return -1
  OPENING.lastIndex = from
  for (let match = OPENING.exec(text); match !== null && match.index < end; match = OPENING.exec(text)) {
    end = Math.max(end, endOf(match[1] ?? ''))
  }
  return end
}

function lastEnd(text: string, tag: string): number {
  const closing = `</${tag}>`
  const at = text.lastIndexOf(closing)
  return at === -1 ? -1 : at + closing.length
}
