/** The message in a `git commit` command line: -m, several -m, or a heredoc. */
const HEREDOC = /<<-?\s*['"]?(\w+)['"]?\r?\n([\s\S]*?)\r?\n\s*\1\b/
const MESSAGE = /(?:\s-[a-zA-Z]*m|\s--message)(?:\s+|=)(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))/g
const MAX_CHARS = 4_000

export function commitMessageIn(command: string): string | null {
  const line = command.slice(0, MAX_CHARS * 2)
  if (!/\bgit\b[^|;&]*\bcommit\b/.test(line)) return null
  const heredoc = HEREDOC.exec(line)?.[2]
  if (heredoc !== undefined) return heredoc.trim().slice(0, MAX_CHARS)
  const parts = [...line.matchAll(MESSAGE)].map(
    (match) => match[1]?.replace(/\\(["\\$`])/g, '$1') ?? match[2] ?? match[3] ?? '',
  )
  const text = parts.join('\n\n').trim()
  return text === '' || text.startsWith('$(') ? null : text.slice(0, MAX_CHARS)
}
