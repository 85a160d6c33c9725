/** A turn as it happened, from its passages: what was asked and chosen, what was done, and the closing words as written. */
import type { ObservationType } from '../../domain/observation.ts'
import type { Passage } from '../../domain/passage.ts'
import { type CommitRecord, commitPrefix, commitsOf } from '../../reading/git.ts'
import { readTotals } from '../../reading/output.ts'
import { withoutBoilerplate } from '../../reading/prompt.ts'
import { checkName } from '../../reading/shell.ts'
import { isOutsidePath, unique } from '../../reading/text.ts'
import { readWords, type WordBlock } from '../../reading/words.ts'
import type { SummarizeRequest } from '../port.ts'

export interface TurnChoice {
  question: string
  /** In the user's words, with what they did not choose. */
  answer: string
  eventId: string
}

export interface ObservedTurn {
  /** In the user's words; null where there was no prompt. */
  request: string | null
  choices: TurnChoice[]
  commits: CommitRecord[]
  checks: Passage[]
  /** Edits and new files in the project. */
  edits: Passage[]
  files: string[]
  /** Files of the project were changed, something was committed, or a request or release was made. */
  hasResult: boolean
  closing: WordBlock[]
  /** Events of what was done, with the end of the turn first. */
  sources: string[]
  /** Characters of what the turn said and did. */
  chars: number
}

/** Of a closing message of any length: its beginning and its end. */
const MAX_CLOSING_CHARS = 40_000

export function readTurn(passages: readonly Passage[], { prompt, turnEnd }: SummarizeRequest): ObservedTurn {
  const ofKind = (...kinds: Passage['kind'][]) => passages.filter(({ kind }) => kinds.includes(kind))
  const edits = ofKind('edit', 'file').filter(({ subject }) => subject !== null && !isOutsidePath(subject))
  const commits = commitsOf(passages)
  const checks = ofKind('check')
  const links = ofKind('link')
  const closing = turnEnd?.lastMessage ?? ''
  return {
    request: prompt === null ? null : withoutBoilerplate(prompt) || null,
    choices: ofKind('answer').map(({ subject, text, eventId }) => ({ question: subject ?? '', answer: text, eventId })),
    commits,
    checks,
    edits,
    files: unique(edits.flatMap(({ subject }) => subject ?? [])),
    hasResult: edits.length + commits.length + links.length > 0,
    closing: readWords(boundedClosing(closing)),
    sources: unique([
      ...(turnEnd === null ? [] : [turnEnd.id]),
      ...[...edits, ...ofKind('commit'), ...checks, ...links].map(({ eventId }) => eventId),
    ]),
    chars: passages.reduce((sum, { text }) => sum + text.length, closing.length),
  }
}

function boundedClosing(text: string): string {
  if (text.length <= MAX_CLOSING_CHARS) return text
  return `${text.slice(0, MAX_CLOSING_CHARS / 2)}\n\n${text.slice(-MAX_CLOSING_CHARS / 2)}`
}

/** What a commit's prefix says that it is. */
const PREFIX_TYPES: Readonly<Record<string, ObservationType>> = {
  feat: 'feature',
  feature: 'feature',
  fix: 'bugfix',
  bugfix: 'bugfix',
  hotfix: 'bugfix',
  refactor: 'refactor',
  perf: 'refactor',
}

export function commitType(title: string): ObservationType | null {
  const prefix = commitPrefix(title)
  return Object.hasOwn(PREFIX_TYPES, prefix) ? (PREFIX_TYPES[prefix] ?? null) : null
}

/** From what happened: what the commits say they are, a check that failed and then passed, files that changed. */
export function turnType({ commits, checks, edits }: ObservedTurn): ObservationType {
  const named = commits.map(({ title }) => commitType(title)).find((type) => type !== null)
  if (named !== undefined && named !== null) return named
  if (edits.length === 0 && commits.length === 0) return 'discovery'
  if (hasRepairedCheck(checks)) return 'bugfix'
  return edits.length > 0 && edits.every(({ kind }) => kind === 'file') ? 'feature' : 'change'
}

function hasRepairedCheck(checks: readonly Passage[]): boolean {
  const failed = new Set<string>()
  for (const { subject, outcome: known, text } of checks) {
    const outcome = known ?? readTotals(text.split('\n')).outcome
    const key = checkName(subject ?? '')
    if (outcome === 'failed') failed.add(key)
    else if (outcome === 'ok' && failed.has(key)) return true
  }
  return false
}
