/** The words of a shell line that may be paths. What is only talked about (a commit's message, a search) is left out. */
import { type Simple, tokenize, type Word } from '../../offline/commands/shell/tokens.ts'
import { innerLine, programName, stripPrefixes, stripRunners } from '../../offline/commands/shell/unwrap.ts'

/** `sudo bash -c "sh -c '…'"` and no deeper: below it every word counts. */
const MAX_DEPTH = 3
/** As far as a line is read as one; after that every word counts. */
const MAX_LINE_CHARS = 20_000

/** Their long words are messages to people. */
const TALKING = new Set(['echo', 'printf', 'gh', 'glab'])
const TALKING_GIT = new Set(['commit', 'tag', 'merge', 'notes', 'stash'])
/** Their first word is what they look for, not where. */
const SEEKING = new Set(['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack', 'jq', 'yq'])
/** They pass on a heredoc as it is, or keep it as a text. */
const TEXT_TAKING = new Set(['cat', 'tee', 'git', 'gh', 'glab', 'patch'])

export function pathWords(line: string): string[] {
  return [...wordsOf(line.slice(0, MAX_LINE_CHARS), 0), ...pieces(line.slice(MAX_LINE_CHARS))]
}

function wordsOf(line: string, depth: number): string[] {
  if (depth > MAX_DEPTH) return pieces(line)
  return [...redirections(line), ...tokenize(line).flatMap((simple) => commandWords(simple, depth))]
}

function commandWords(simple: Simple, depth: number): string[] {
  const run = stripRunners(stripPrefixes(simple.words))
  const inner = innerLine(run)
  if (inner !== null) {
    const around = simple.words.filter((word) => word.text !== inner)
    return [...wordsOf(inner, depth + 1), ...around.flatMap((word) => namedBy(word, false))]
  }
  const program = programName(run[0]?.text ?? '')
  const talks = TALKING.has(program) || (program === 'git' && run.some((word) => TALKING_GIT.has(word.text)))
  const sought = SEEKING.has(program) ? soughtBy(run) : null
  const body = simple.body !== null && !TEXT_TAKING.has(program) ? pieces(simple.body) : []
  return [...simple.words.filter((word) => word !== sought).flatMap((word) => namedBy(word, talks)), ...body]
}

/** Null where a flag says the pattern, or names a file with patterns. */
function soughtBy(run: readonly Word[]): Word | null {
  if (run.some((word) => /^(?:-[a-zA-Z]*[ef]|--regexp|--file|--from-file)(?:=|$)/.test(word.text))) return null
  return run.slice(1).find((word) => !word.text.startsWith('-')) ?? null
}

function namedBy(word: Word, talks: boolean): string[] {
  const isText = /\s/.test(word.text)
  const isSubstituted = !word.raw.startsWith("'") && /(?<!\\)(?:`|\$\()/.test(word.raw)
  if (isText && talks && !isSubstituted) return []
  // On Windows a backslash is no escape.
  return [word.text, ...pieces(word.text), ...(word.raw.includes('\\') ? pieces(word.raw) : [])]
}

/** At whatever a path can stand beside: `--env-file=.env`, `@.env`, `a:.env`, `open('.env')`. */
function pieces(text: string): string[] {
  return text.split(/[\s"'`=<>|&;(){},@:]+/).filter((piece) => piece !== '')
}

const HEREDOC = /(?<!<)<<-?[ \t]*(['"]?)(\w{1,60})\1/
const REDIRECTION_OR_TEXT = /[<>]&?[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"'<>|&;()]+))|"(?:[^"\\]|\\.)*"|'[^']*'/g

/** Where a line reads from and writes to. */
function redirections(line: string): string[] {
  return [...withoutBodies(line).matchAll(REDIRECTION_OR_TEXT)].flatMap(
    (found) => found[1] ?? found[2] ?? found[3] ?? [],
  )
}

/** Without the texts of heredocs, whose quotes and arrows mean nothing. */
function withoutBodies(line: string): string {
  let end: string | null = null
  const typed = line.split('\n').filter((row) => {
    if (end === null) {
      end = HEREDOC.exec(row)?.[2] ?? null
      return true
    }
    if (row.trim() === end) end = null
    return false
  })
  return typed.join('\n')
}
