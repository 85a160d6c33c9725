/**
 * The passages of an event: short pieces of what was said and done, in its own words (src/domain/passage.ts). They are the
 * stored result of the reading, and everything that is told later is made of them. Pure, in linear time, and a bounded
 * number for an event. Events come here cleaned: private parts removed, secrets masked.
 *
 * Not kept: contents of files that were read, listings, progress, tests that passed one by one.
 */
import type { MemoryEvent } from '../domain/event.ts'
import { MAX_PASSAGE_CHARS, type PassageDraft } from '../domain/passage.ts'
import { toWellFormed } from '../domain/sanitize.ts'
import { declaredName, HUNK_HEADING } from './declarations.ts'
import type { EditedFile } from './edits.ts'
import { gitStateLines, gitStateSubject, isElsewhere, isQuietStatus, NO_OUTPUT, readCommits } from './git.ts'
import { cutLines, cutProse, type PassageContent } from './pieces.ts'
import { notifiedReport, withoutBoilerplate } from './prompt.ts'
import type { ShellCommand, ShellLine } from './shell.ts'
import { singleLine, stripControlCharacters, unique } from './text.ts'
import { type AnswerReading, readToolUse, type ShellReading, type TextReading, type ToolEvent } from './tool-use.ts'
import { readWords } from './words.ts'

/** Most passages of one message: some 12,000 characters. */
const MAX_PASSAGES = 30
/** Of everything that was written between the tool uses of a turn. The last is nearest to the result. */
const MAX_WORDS_PASSAGES = 60
/** Of a pasted log or document in a prompt. */
const MAX_PROMPT_PASSAGES = 16
/** Of a page, or of an answer of a tool of an MCP server. */
const MAX_RESULT_PASSAGES = 8
/** Of one command; the first says what it did. */
const MAX_COMMAND_PASSAGES = 4
const MAX_COMMIT_PASSAGES = 8
/** Of one edit. The rest of a large one is in the repository. */
const MAX_EDIT_PASSAGES = 8

export function passagesOfEvent(event: MemoryEvent, promptNumber: number): PassageDraft[] {
  const seen = new Set<string>()
  const contents = contentsOf(event).filter(({ kind, subject, text }) => {
    const key = `${kind}\n${subject}\n${text}`
    return !seen.has(key) && seen.add(key)
  })
  return contents.map(({ kind, subject, outcome, text }, position) => ({
    kind,
    // A cut may have split a character of two halves.
    subject: subject === null ? null : toWellFormed(subject),
    outcome,
    text: toWellFormed(text),
    eventId: event.id,
    position,
    promptNumber,
    at: event.at,
  }))
}

function contentsOf(event: MemoryEvent): PassageContent[] {
  switch (event.kind) {
    case 'prompt':
      return event.private ? [] : promptPassages(event.text)
    case 'turn_end':
      return [
        ...said('closing', event.lastMessage ?? '', MAX_PASSAGES),
        ...(event.words ?? [])
          .flatMap((words) => said('words', words, MAX_PASSAGES))
          .filter(({ text }) => !isFiller(text))
          .slice(-MAX_WORDS_PASSAGES),
      ]
    case 'subagent_end':
      return said('report', event.lastMessage, MAX_PASSAGES)
    case 'tool_use':
    case 'tool_failure':
      return toolPassages(event)
    default:
      return []
  }
}

function promptPassages(text: string): PassageContent[] {
  const report = notifiedReport(text)
  return report === null
    ? said('prompt', withoutBoilerplate(text), MAX_PROMPT_PASSAGES)
    : said('report', report, MAX_PASSAGES)
}

/** "Now let me look at the tests:" */
const isFiller = (text: string): boolean => text.length < 60 && /[:：…]$/.test(text)

function said(kind: PassageContent['kind'], text: string, most: number): PassageContent[] {
  return cutProse(text, most).map((piece) => ({ kind, subject: null, outcome: null, text: piece }))
}

function toolPassages(event: ToolEvent): PassageContent[] {
  const reading = readToolUse(event)
  switch (reading.kind) {
    case 'command':
      return commandPassages(reading)
    case 'edit':
      return reading.file.change === 'created' ? newFilePassages(reading.file) : editPassages(reading.file)
    case 'answers':
      return answerPassages(reading)
    case 'plan':
      return planPassages(reading)
    case 'report':
    case 'result':
      return textPassages(reading)
    case 'look':
      return []
  }
}

const MAX_QUESTION_CHARS = 300
const MAX_ANSWER_CHARS = 400

function answerPassages({ answers }: AnswerReading): PassageContent[] {
  return answers.map(({ question, answer, others }) => ({
    kind: 'answer',
    subject: singleLine(question, MAX_QUESTION_CHARS),
    outcome: 'ok',
    text: [
      singleLine(answer, MAX_ANSWER_CHARS),
      ...(others.length === 0 ? [] : [singleLine(`not: ${others.join('; ')}`, 200)]),
    ].join('\n'),
  }))
}

/** The words with which a plan is known to be approved: a field of the client, not the user's own words. */
export const APPROVED = 'approved'

/** A plan is what the agent wrote for the user to read. That it succeeded means that they approved it. */
function planPassages({ texts: [plan = ''], outcome }: TextReading): PassageContent[] {
  const pieces = cutProse(plan, MAX_PASSAGES).map((text) => ({
    kind: 'words' as const,
    subject: 'plan',
    outcome,
    text,
  }))
  const blocks = readWords(plan.slice(0, 4_000))
  const heading = blocks.find(({ kind }) => kind === 'heading') ?? blocks[0]
  if (outcome !== 'ok' || heading === undefined) return pieces
  return [{ kind: 'answer', subject: singleLine(heading.text, MAX_QUESTION_CHARS), outcome, text: APPROVED }, ...pieces]
}

/** A report of a subagent equals the passages of its own end, so that it is kept once. */
function textPassages({ kind, subject, outcome, texts }: TextReading): PassageContent[] {
  if (kind !== 'result') return texts.flatMap((text) => said('report', text, MAX_PASSAGES))
  const pieces = texts.flatMap((text) => cutProse(text, MAX_RESULT_PASSAGES)).slice(0, MAX_RESULT_PASSAGES * 2)
  return pieces.map((text) => ({ kind, subject, outcome, text }))
}

/** A line may test, commit and push: each is a passage of its own kind. */
function commandPassages(reading: ShellReading): PassageContent[] {
  const { command, output, lines, outcome, exit, subject } = reading
  const has = (kind: ShellCommand['kind']): boolean => command.commands.some((one) => one.kind === kind)
  const commits = has('commit') ? commitPassages(reading) : []
  const checks = has('check') ? checkPassages(reading) : []
  const state = has('git') || commits.length > 0 ? gitStateLines(command.commands, output, commits.length > 0) : []
  const isClean = output.every((line) => line === '') && outcome === 'ok' && isQuietStatus(command)
  const status = cutLines(isClean ? [NO_OUTPUT] : state, MAX_COMMAND_PASSAGES)
  const ended = linkOutcome(command, exit)
  const links = linkLines(command.commands, output, ended)
  const found: PassageContent[] = [
    ...checks,
    ...commits,
    ...status.map((text) => ({
      kind: 'status' as const,
      subject: gitStateSubject(command),
      outcome: checks.length > 0 ? null : outcome,
      text,
    })),
    ...(links.length === 0 ? [] : [{ kind: 'link' as const, subject, outcome: ended, text: links.join('\n') }]),
  ]
  if (found.length > 0) return found
  if (command.kind === 'look' && (outcome !== 'failed' || lines.length === 0)) return []
  if (lines.length === 0 && command.commands.every(isRoutine)) return []
  return otherPassages(reading)
}

function otherPassages({ subject, outcome, about, lines }: ShellReading): PassageContent[] {
  const told = [...(about === '' ? [] : [about]), ...lines]
  const pieces = cutLines(told.length === 0 ? [NO_OUTPUT] : told, MAX_COMMAND_PASSAGES)
  return pieces.map((text) => ({ kind: 'command', subject, outcome, text }))
}

/** A commit in another repository is none of this one: its outcome stays open. */
function commitPassages({ command, output, exit }: ShellReading): PassageContent[] {
  const outcome = isElsewhere(command) ? null : 'ok'
  return readCommits(command, output, exit).flatMap(({ subject, text }) =>
    cutProse(text, MAX_COMMIT_PASSAGES).map((piece) => ({ kind: 'commit', subject, outcome, text: piece })),
  )
}

function checkPassages({ subject, outcome, lines, totals }: ShellReading): PassageContent[] {
  const told = unique([...totals.lines, ...lines.filter((line) => !totals.lines.includes(line.trim()))])
  const pieces = cutLines(told.length === 0 ? [NO_OUTPUT] : told, MAX_COMMAND_PASSAGES)
  return pieces.map((text) => ({ kind: 'check', subject, outcome, text }))
}

/** They prepare something, and say nothing where it succeeds. */
const ROUTINE = new Set(['mkdir', 'touch', 'kill', 'pkill', 'clear', 'chmod'])
const isRoutine = ({ program, args }: ShellCommand): boolean =>
  ROUTINE.has(program) || (program === 'git' && args.includes('add'))

/** Programs that make, merge or close something elsewhere and mostly print its address, with the words of the command that do. */
const MAKERS: Readonly<Record<string, RegExp>> = {
  gh: /^(?:create|merge|close)$/,
  glab: /^(?:create|merge|close)$/,
  tea: /^(?:create|merge|close)$/,
  vercel: /^(?:deploy|--prod)$/,
  netlify: /^deploy$/,
  wrangler: /^(?:deploy|publish)$/,
  firebase: /^deploy$/,
  fly: /^deploy$/,
  flyctl: /^deploy$/,
}
const MAX_LINKS = 3
/** Whether they succeeded says enough where they print nothing. */
const ENDINGS = new Set(['merge', 'close'])

/** Of a line whose exit code says how it ended. */
function linkOutcome({ all }: ShellLine, exit: PassageContent['outcome']): PassageContent['outcome'] {
  if (all.some(({ hidesExit }) => hidesExit)) return null
  return exit === 'failed' && all.length > 1 ? null : exit
}

function linkLines(
  commands: readonly ShellCommand[],
  output: readonly string[],
  outcome: PassageContent['outcome'],
): string[] {
  const verbs = commands.flatMap(({ program, args }) => {
    const made = MAKERS[program]
    return made === undefined ? [] : args.slice(0, 4).filter((arg) => made.test(arg))
  })
  if (verbs.length === 0) return []
  const said = output.map((line) => line.trim()).filter((line) => line !== '')
  const links = said.filter((line) => /\bhttps?:\/\/\S/.test(line)).slice(-MAX_LINKS)
  if (links.length > 0 || outcome === null || !verbs.some((verb) => ENDINGS.has(verb))) return links
  return [said[0] ?? NO_OUTPUT]
}

/** Longer lines are data, such as a minified file. */
const MAX_CODE_CHARS = 400
/** Unchanged lines that are kept before and after a change. */
const CONTEXT_LINES = 1
const MAX_HUNK_LINES = 400
const DELETED = '-(file deleted)'

function editPassages({ path, change, hunks, content }: EditedFile): PassageContent[] {
  const written =
    content === null
      ? []
      : [
          {
            lines: content
              .split('\n')
              .slice(0, MAX_HUNK_LINES)
              .map((line) => `+${line}`),
            heading: null,
          },
        ]
  const pieces = [...hunks, ...written].flatMap(({ lines, heading }) =>
    cutLines(changedLines(lines), MAX_EDIT_PASSAGES, heading === null ? null : HUNK_HEADING + heading),
  )
  const texts = change === 'deleted' ? [DELETED] : pieces.slice(0, MAX_EDIT_PASSAGES)
  return texts.map((text) => ({ kind: 'edit', subject: path, outcome: null, text }))
}

/** Changed lines, each with the unchanged line next to it; empty and overlong lines left out. */
function changedLines(lines: readonly string[]): string[] {
  const bounded = lines.slice(0, MAX_HUNK_LINES)
  const isChange = (line: string | undefined) => line?.startsWith('+') || line?.startsWith('-')
  return bounded
    .filter((line, i) => {
      if (line.length > MAX_CODE_CHARS || line.slice(1).trim() === '') return false
      if (isChange(line)) return true
      for (let distance = 1; distance <= CONTEXT_LINES; distance++) {
        if (isChange(bounded[i - distance]) || isChange(bounded[i + distance])) return true
      }
      return false
    })
    .map((line) => stripControlCharacters(line).trimEnd())
}

const PROSE_FILE = /\.(?:md|mdx|markdown|txt|rst|adoc|org)$/i
const MAX_PROSE_PIECES = 3
const HEAD_CHARS = 300
const MAX_OUTLINE_LINES = 400
const EMPTY_FILE = '(empty file)'

/** The head of a new file and the names that it declares; of prose its first sections. */
function newFilePassages({ path, content }: EditedFile): PassageContent[] {
  const text = content ?? ''
  const pieces = PROSE_FILE.test(path)
    ? cutProse(text.slice(0, MAX_PASSAGE_CHARS * 4), MAX_PROSE_PIECES)
    : cutLines(outline(path, text), 2)
  const shown = pieces.length === 0 ? [EMPTY_FILE] : pieces
  return shown.map((piece) => ({ kind: 'file', subject: path, outcome: null, text: piece }))
}

function outline(path: string, content: string): string[] {
  const lines = stripControlCharacters(content.slice(0, 40_000))
    .split('\n')
    .slice(0, MAX_OUTLINE_LINES)
    .filter((line) => line.length <= MAX_CODE_CHARS && line.trim() !== '')
    .map((line) => line.trimEnd())
  const head: string[] = []
  let chars = 0
  for (const line of lines) {
    chars += line.length + 1
    if (chars > HEAD_CHARS) break
    head.push(line)
  }
  const declared = lines.slice(head.length).filter((line) => declaredName(path, line) !== null)
  return [...head, ...declared.map((line) => line.slice(0, 120))]
}
