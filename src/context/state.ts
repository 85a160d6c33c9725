/**
 * The state when the last session ended, computed: whether it was finished or cut off, what git itself said, the newest outcome
 * of each check, addresses that tools reported. What is not certain is left out.
 */
import type { Passage } from '../domain/passage.ts'
import { nameSpan } from '../domain/quotation.ts'
import { trimEndMatching } from '../lib/trim.ts'
import { editedSince, NO_OUTPUT, readGitState } from '../reading/git.ts'
import { readTotals } from '../reading/output.ts'
import { checkName, commandAlone, readCommandLine } from '../reading/shell.ts'
import { type Moment, momentAfter } from './moment.ts'
import { quoteBegin } from './quote.ts'
import { endOfTurn, type PastTurn } from './turns.ts'

const MAX_CHECKS = 4
const MAX_LINKS = 2
const MAX_FILES = 6
/** Files that were edited since a check and are named with it. */
const MAX_SINCE = 2
const MAX_COMMAND_CHARS = 90
/** A shorter line is a name that the runner printed. */
const MIN_TELLING_CHARS = 10
const MAX_TELLING_CHARS = 140

export interface EndState {
  /** One sentence: how the session ended. */
  ended: string
  isFinished: boolean
  /** What is known beside that. */
  lines: string[]
  at: number
}

/** `turns`: newest first, of the session that is continued. */
export function sessionState(turns: readonly PastTurn[], now: Moment): EndState | null {
  const last = turns.find((turn) => turn.request !== null || turn.steps.length > 0 || turn.closing !== null)
  if (last === undefined) return null
  const at = endOfTurn(last)
  const newest = turns.flatMap(({ steps }) => steps).sort((a, b) => b.at - a.at || b.position - a.position)
  return {
    ended: endOfSession(last, at, now),
    isFinished: isFinished(last),
    at,
    lines: [
      ...gitLines(newest, isFinished(last) ? undefined : last.steps.at(-1), at, now),
      ...checkLines(newest, at, now),
      ...linkLines(newest, at, now),
    ],
  }
}

export const isFinished = ({ closing, steps }: PastTurn): boolean =>
  closing !== null && (steps.at(-1)?.at ?? 0) <= closing.at

function endOfSession(turn: PastTurn, at: number, now: Moment): string {
  const { steps, request } = turn
  const step = steps.at(-1)
  if (isFinished(turn)) return 'Finished: the last request has its closing message.'
  if (step !== undefined)
    return `Cut off: no closing message after the last step, ${stepText(step)} at ${momentAfter(step.at, at, now)}.`
  if (request === null) return 'Cut off: there is no closing message.'
  return 'Cut off: the last request has no answer.'
}

export function stepText({ kind, subject, text }: Passage): string {
  if (kind === 'edit' || kind === 'file') return `an edit of ${code(endOfPath(subject ?? 'a file'))}`
  if (kind === 'commit') return `the commit ${quoteBegin(text.split('\n')[0] ?? '', MAX_TELLING_CHARS)}`
  return code(commandAlone(subject ?? 'a command'))
}

/** A command or a name. */
const code = (text: string): string => nameSpan(text, MAX_COMMAND_CHARS)

/** `cutAt`: the step that is named already. */
function gitLines(newest: readonly Passage[], cutAt: Passage | undefined, at: number, now: Moment): string[] {
  const { branch, commit, uncommitted, pushed } = readGitState(newest)
  const when = (time: number) => momentAfter(time, at, now)
  const known = [
    ...(branch === null ? [] : [`branch ${code(branch.name)}`]),
    ...(commit === null
      ? []
      : [
          `last commit ${commit.hash === null ? '' : `${commit.hash} `}${quoteBegin(commit.subject, MAX_TELLING_CHARS)} (${when(commit.at)})`,
        ]),
  ]
  // A list that is older than the last commit says nothing about now.
  const listed = uncommitted === null || uncommitted.at < (commit?.at ?? 0) ? null : uncommitted
  const since = Math.max(commit?.at ?? 0, listed?.at ?? 0)
  const edited = editedSince(newest, since)
  const isKnown = edited.length === 1 && edited[0] === cutAt?.subject
  const open = listed === null ? '' : uncommittedText(listed.files, when(listed.at))
  const isBefore = since > 0
  // A push before the last commit says nothing about it.
  const isPushed = pushed !== null && pushed.at >= (commit?.at ?? 0)
  return [
    ...(known.length === 0 ? [] : [sentence(known.join(', '))]),
    ...(isPushed ? [`Pushed ${when(pushed.at)}: ${quoteBegin(pushed.text, MAX_TELLING_CHARS)}`] : []),
    ...(open === '' ? [] : [sentence(open)]),
    ...(edited.length === 0 || isKnown
      ? []
      : [`Edited ${isBefore ? 'after that' : 'in it'}: ${fileList(edited, false)}.`]),
  ]
}

function uncommittedText(files: readonly string[], at: string): string {
  return files.length === 0
    ? `working tree clean by git at ${at}`
    : `uncommitted by git at ${at}: ${fileList(files, true)}`
}

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`

/** Of many edits only the newest are known: `isAll` is false, and the others are not counted. */
function fileList(files: readonly string[], isAll: boolean): string {
  const shown = files
    .slice(0, MAX_FILES)
    .map((file) => code(endOfPath(file)))
    .join(', ')
  return files.length <= MAX_FILES ? shown : `${shown} and ${isAll ? `${files.length - MAX_FILES} ` : ''}more`
}

const MAX_PATH_CHARS = 60

/** The end of a long path says which file it is. */
function endOfPath(file: string): string {
  if (file.length <= MAX_PATH_CHARS) return file
  const from = file.indexOf('/', file.length - MAX_PATH_CHARS)
  return from === -1 ? file : `…${file.slice(from)}`
}

/** The newest run of each check; a line that ran several counts for each of them. */
function checkLines(newest: readonly Passage[], at: number, now: Moment): string[] {
  const known = new Set<string>()
  const runs = newest.filter(({ kind, position, subject }) => {
    if (kind !== 'check' || position > 0) return false
    const parts = (checkName(subject ?? '') || (subject ?? '')).split(' && ')
    const isNewest = parts.some((part) => !known.has(part))
    for (const part of parts) known.add(part)
    return isNewest
  })
  const hasNewRun = runs.some(({ at: ran }) => editedSince(newest, ran).length === 0)
  return runs.slice(0, MAX_CHECKS).flatMap(({ subject, outcome, text, at: ran }) => {
    const telling = tellingLine(text, outcome)
    // What a program prints about itself is quoted; only its exit code says how it ended.
    const result =
      outcome === null || readCommandLine(subject ?? '').hidesExit ? '' : outcome === 'ok' ? ' passed' : ' failed'
    if (result === '' && telling === '') return []
    const edits = editedSince(newest, ran)
    const isOld = edits.length > 0
    // What passed before the last edit says little beside a newer run.
    if (isOld && outcome !== 'failed' && hasNewRun) return []
    const since = isOld
      ? ` (edited since: ${edits.length > MAX_SINCE ? `${edits.length} files` : fileList(edits, false)})`
      : ''
    return [`${code(commandAlone(subject ?? ''))}${result} at ${momentAfter(ran, at, now)}${since}${telling}`]
  })
}

/** The program's own totals; of a run that failed without any its first line. */
function tellingLine(text: string, outcome: Passage['outcome']): string {
  const lines = text.split('\n').map((line) => trimEndMatching(line.replace(/^[=\s-]+/, ''), /[=\s-]/))
  const line = readTotals(lines).lines.at(-1) ?? (outcome === 'failed' ? (lines[0] ?? '') : '')
  return line === NO_OUTPUT || line.length < MIN_TELLING_CHARS ? '' : `: ${quoteBegin(line, MAX_TELLING_CHARS)}`
}

const ENDINGS = { ok: ' succeeded', failed: ' failed', unknown: '' }

function linkLines(newest: readonly Passage[], at: number, now: Moment): string[] {
  const links = newest.filter(({ kind }) => kind === 'link')
  return links.slice(0, MAX_LINKS).map(({ subject, text, outcome, at: reported }) => {
    const when = momentAfter(reported, at, now)
    const said = text === NO_OUTPUT ? '' : `: ${quoteBegin(text, MAX_TELLING_CHARS)}`
    return `${code(commandAlone(subject ?? ''))}${ENDINGS[outcome ?? 'unknown']} at ${when}${said}`
  })
}
