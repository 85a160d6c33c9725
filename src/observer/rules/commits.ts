/** Observations about commits: a commit message is written on purpose, so its body is the narrative. */
import type { FunctionChange, ObservationDraft, ObservationType } from '../../domain/observation.ts'
import { tidyTitle } from '../title-format.ts'
import { clipAtWord } from '../tool-events/text.ts'
import type { ActionOf } from '../tool-events/tool-action.ts'
import { composeDraft } from './drafts.ts'
import type { EditedFile, ToldCommit } from './memo.ts'
import { readStatements } from './statements.ts'

type CommandAction = ActionOf<'command'>

/** One commit with its own message. */
export interface Commit {
  action: CommandAction
  hash: string | null
  branch: string | null
  subject: string
  /** Without the subject and trailers. */
  body: string
  amends: boolean
  filesChanged: number | null
}

const COMMITTED = /^Committed ([0-9a-f]{7,40}) on (.{1,100}?): (.+)$/
const FILES_CHANGED = /\((\d{1,7}) files? changed/
const TRAILER = /^(?:[A-Z][\w-]{1,40}-(?:by|with|on)|Change-Id|Refs?|Fixes|Closes): |^\W*Generated (?:with|by)\b/i

/** The commits that a command made. A message belongs to the commit with its subject, and to no other. */
export function commitsOf(action: CommandAction): Commit[] {
  const { result } = action
  if (!result.ok || result.message === undefined) return []
  const [subject = '', ...rest] = (result.message ?? '').split('\n')
  const body = rest
    .filter((line) => !TRAILER.test(line.trim()))
    .join('\n')
    .trim()
  const made = result.facts.flatMap((fact) => {
    const [, hash, branch, shown] = COMMITTED.exec(fact) ?? []
    return hash === undefined || branch === undefined || shown === undefined ? [] : [{ hash, branch, shown }]
  })
  const filesChanged = Number(FILES_CHANGED.exec(result.headline ?? '')?.[1] ?? Number.NaN)
  const common = {
    action,
    amends: result.amends === true,
    filesChanged: Number.isNaN(filesChanged) ? null : filesChanged,
  }
  if (made.length === 0) {
    const isSilent = subject !== '' && result.kind === 'commit' && result.headline !== 'nothing to commit'
    return isSilent ? [{ ...common, hash: null, branch: null, subject, body }] : []
  }
  return made.map(({ hash, branch, shown }) => {
    const isOwn = subject !== '' && sameSubject(subject, shown)
    return { ...common, hash, branch, subject: isOwn ? subject : shown, body: isOwn || made.length === 1 ? body : '' }
  })
}

/** git prints the subject clipped. */
function sameSubject(message: string, shown: string): boolean {
  const [a, b] = [message.trim(), shown.replace(/…$/, '').trim()]
  return a.startsWith(b) || b.startsWith(a)
}

/** An amended commit is told by its final hash; without a new message it keeps the one before. */
export function mergeAmended(
  commits: readonly Commit[],
  before: ToldCommit | null,
): (Commit & { replaces: ToldCommit | null })[] {
  const merged: (Commit & { replaces: ToldCommit | null })[] = []
  for (const commit of commits) {
    const last = merged.at(-1)
    if (!commit.amends) merged.push({ ...commit, replaces: null })
    else if (last !== undefined) {
      const hasMessage = commit.action.result.message !== null
      merged[merged.length - 1] = hasMessage
        ? { ...commit, replaces: last.replaces }
        : { ...commit, subject: last.subject, body: last.body, replaces: last.replaces }
    } else merged.push(withMessageOf(commit, before))
  }
  return merged
}

function withMessageOf(commit: Commit, before: ToldCommit | null): Commit & { replaces: ToldCommit | null } {
  if (before === null || commit.action.result.message !== null) return { ...commit, replaces: before }
  const [subject = commit.subject, ...body] = before.message.split('\n')
  return { ...commit, subject, body: body.join('\n').trim(), replaces: before }
}

/** `add totals` for `feat(cart): add totals`. */
export function stripCommitPrefix(subject: string): string {
  return subject.replace(
    /^(?:feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert|wip)(?:\([^()]{0,80}\))?!?:\s*/i,
    '',
  )
}

const TYPE_BY_PREFIX: readonly (readonly [RegExp, ObservationType])[] = [
  [/^fix\b|^(?:fix|repair|resolve|correct|prevent|handle)(?:e[sd]|s)?\b/i, 'bugfix'],
  [/^feat\b|^(?:add|implement|introduce|support|create)(?:e[sd]|s)?\b|^initial\b/i, 'feature'],
  [
    /^refactor\b|^(?:refactor|rename|extract|move|simplify|split|restructure|clean ?up|inline|deduplicate)\w{0,2}\b/i,
    'refactor',
  ],
]

function commitType(subject: string): ObservationType {
  return TYPE_BY_PREFIX.find(([pattern]) => pattern.test(subject))?.[1] ?? 'change'
}

const MAX_SUBJECT_CHARS = 200

/** `edits` are the changes since the commit before. */
export function composeCommit(
  commit: Commit,
  edits: readonly EditedFile[],
  facts: readonly string[],
): ObservationDraft {
  const { hash, branch, subject, body, filesChanged, action } = commit
  const plain = clipAtWord(stripCommitPrefix(subject), MAX_SUBJECT_CHARS)
  const statements = readStatements(body)
    .filter(({ role }) => role !== 'question' && role !== 'option' && role !== 'next')
    .map(({ text }) => text)
  const files = filesChanged === null ? '' : ` and changes ${filesChanged} ${filesChanged === 1 ? 'file' : 'files'}`
  const identity =
    hash === null
      ? `The commit is titled “${plain}”${files}.`
      : `Commit ${hash} on ${branch} is titled “${plain}”${files}.`
  const functionsChanged: FunctionChange[] = edits.flatMap((edit) => edit.functions)
  return composeDraft({
    type: commitType(subject),
    title: tidyTitle(plain.charAt(0).toUpperCase() + plain.slice(1)),
    statements: statements.length > 0 ? statements : [identity],
    facts: [identity, ...facts],
    subtitle: hash === null ? null : `commit ${hash}`,
    concepts: ['what-changed'],
    filesModified: edits.map((edit) => edit.file),
    functionsChanged,
    agent: action.agent,
    chars: action.size,
    sources: [action.id, ...edits.map((edit) => edit.id)],
    saidBy: 'agent',
  })
}
