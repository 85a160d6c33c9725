/** Observations about commits: a commit message is written on purpose, so its body is the narrative. */
import type { ObservationDraft, ObservationType } from '../../domain/observation.ts'
import { tidyTitle } from '../title-format.ts'
import { clipAtWord } from '../tool-events/text.ts'
import type { ActionOf } from '../tool-events/tool-action.ts'
import { composeDraft } from './drafts.ts'
import type { EditedFile, ToldCommit } from './memo.ts'
import { capitalized } from './statement-roles.ts'
import { readStatements } from './statements.ts'

type CommandAction = ActionOf<'command'>

/** One commit with its own message. */
export interface MadeCommit {
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
export function readCommits(action: CommandAction): MadeCommit[] {
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
    const isOwn = sameSubject(subject, shown)
    return { ...common, hash, branch, subject: isOwn ? subject : shown, body: isOwn || made.length === 1 ? body : '' }
  })
}

/** git prints the subject clipped. */
function sameSubject(message: string, shown: string): boolean {
  const [a, b] = [message.trim(), shown.replace(/…$/, '').trim()]
  return a !== '' && b !== '' && (a.startsWith(b) || b.startsWith(a))
}

export type FinalCommit = MadeCommit & { replaces: ToldCommit | null }

/** An amended commit is told by its final hash; without a new message it keeps the one before. */
export function mergeAmended(commits: readonly MadeCommit[], before: ToldCommit | null): FinalCommit[] {
  const merged: FinalCommit[] = []
  for (const commit of commits) {
    const last = commit.amends ? merged.pop() : undefined
    if (last !== undefined) merged.push({ ...withMessage(commit, last), replaces: last.replaces })
    else if (!commit.amends) merged.push({ ...commit, replaces: null })
    else merged.push(amendedEarlier(commit, before))
  }
  return merged
}

function amendedEarlier(commit: MadeCommit, before: ToldCommit | null): FinalCommit {
  const [subject = '', ...body] = (before?.message ?? '').split('\n')
  // Another commit may have been made in between, by somebody else.
  const isSame = commit.action.result.message !== null || sameSubject(subject, commit.subject)
  if (before === null || !isSame) return { ...commit, replaces: null }
  return { ...withMessage(commit, { subject, body: body.join('\n').trim() }), replaces: before }
}

function withMessage(commit: MadeCommit, last: Pick<MadeCommit, 'subject' | 'body'>): MadeCommit {
  const keeps = commit.action.result.message === null && sameSubject(last.subject, commit.subject)
  return keeps ? { ...commit, subject: last.subject, body: last.body } : commit
}

/** The edits that a commit is made of, as far as that is known. */
export function committedEdits({ action, filesChanged }: MadeCommit, edits: readonly EditedFile[]): EditedFile[] {
  const staged = action.result.staged ?? null
  if (staged === null) return filesChanged === null || edits.length <= filesChanged ? [...edits] : []
  return edits.filter(({ file }) =>
    staged.some(
      (path) => file === path || file.endsWith(`/${path}`) || file.includes(`${path}/`) || path.endsWith(`/${file}`),
    ),
  )
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

/** `Commit 1a2b3c4 on main is titled “…” and changes 3 files.` */
export function commitSentence({ hash, branch, subject, filesChanged }: MadeCommit): string {
  const name = hash === null ? 'The commit' : `Commit ${hash} on ${branch}`
  const size = filesChanged === null ? '' : ` and changes ${filesChanged} ${filesChanged === 1 ? 'file' : 'files'}`
  return `${name} is titled “${plainSubject(subject)}”${size}.`
}

function plainSubject(subject: string): string {
  return clipAtWord(stripCommitPrefix(subject), MAX_SUBJECT_CHARS)
}

/** What the body of the message says. Empty: the commit is told at the end of the turn, with the closing words. */
export function commitStatements({ body }: MadeCommit): string[] {
  return readStatements(body, 'The commit')
    .filter(({ role }) => role !== 'question' && role !== 'option' && role !== 'next')
    .map(({ text }) => text)
}

/** `edits` are those it is made of, `files` also those of the commit that it amends. */
export function composeCommit(
  commit: MadeCommit,
  statements: readonly string[],
  edits: readonly EditedFile[],
  files: readonly string[],
): ObservationDraft {
  const { hash, subject, action } = commit
  return composeDraft({
    type: commitType(subject),
    title: tidyTitle(capitalized(plainSubject(subject))),
    statements,
    facts: [commitSentence(commit)],
    subtitle: hash === null ? null : `commit ${hash}`,
    concepts: ['what-changed'],
    filesModified: files,
    functionsChanged: edits.flatMap((edit) => edit.functions),
    agent: action.agent,
    chars: action.size,
    sources: [action.id, ...edits.map((edit) => edit.id)],
    saidBy: 'agent',
  })
}
