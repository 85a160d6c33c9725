/** The commands that README.md, CONTRIBUTING.md and docs/*.md name, with the place that names them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/paths.ts'

export interface DocumentedCommand {
  file: string
  line: number
  command: string
}

/** Blocks in these languages are commands, one per line; a trailing `# …` is a comment. */
const SHELL_FENCE = /^\s*```(?:sh|bash|console)\s*$/
const INLINE_COMMAND = /`((?:claude-mem|node dist\/cli\.js|npm run) [^`]+|npm start|npm test)`/g
/** A comment after a command: two spaces or more before the `#`, so that a `#` inside an argument is kept. */
const TRAILING_COMMENT = /\s{2,}#.*$|^\s*#.*$/

export function documentedFiles(): string[] {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  return ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)]
}

export function documentedCommands(): DocumentedCommand[] {
  return documentedFiles().flatMap((file) => commandsIn(file, readFileSync(join(ROOT, file), 'utf8')))
}

export function commandsIn(file: string, markdown: string): DocumentedCommand[] {
  const found: DocumentedCommand[] = []
  const add = (line: number, command: string) => {
    // Inside a table `|` is written as `\|`.
    const plain = command.replaceAll('\\|', '|').trim()
    if (plain !== '') found.push({ file, line, command: plain })
  }
  let block: 'shell' | 'other' | null = null
  for (const [index, text] of markdown.split('\n').entries()) {
    if (/^\s*```/.test(text)) {
      if (block === null) block = SHELL_FENCE.test(text) ? 'shell' : 'other'
      else block = null
    } else if (block === 'shell') {
      add(index + 1, text.replace(TRAILING_COMMENT, '').replace(/^\$ /, ''))
    } else if (block === null) {
      for (const [, command = ''] of text.matchAll(INLINE_COMMAND)) add(index + 1, command)
    }
  }
  return found
}

/** Each command once, with the first place that names it. */
export function distinctCommands(commands: readonly DocumentedCommand[]): DocumentedCommand[] {
  const byText = new Map<string, DocumentedCommand>()
  for (const documented of commands) {
    if (!byText.has(documented.command)) byText.set(documented.command, documented)
  }
  return [...byText.values()]
}

/** Words in capitals stand for something that the reader fills in. */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  SESSION: '5f1c',
  ID: '12',
  COMMAND: 'search',
  NAME: 'batch-max-size',
  VALUE: '50',
  ROLE: 'ben',
}

/** The command as it can be typed: placeholders filled in, optional parts left out, the first of alternatives taken. */
export function typedCommand(command: string): string {
  return command
    .replace(/\s\[[^\]]*\]/g, '')
    .replace(/\b[A-Z]{2,}\b/g, (word) => PLACEHOLDERS[word] ?? word)
    .replace(/^node dist\/cli\.js\b/, 'claude-mem')
    .trim()
}
