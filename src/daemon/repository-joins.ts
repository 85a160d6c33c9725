/**
 * Which directories belong to one repository. A directory names its repository with its remote, but anybody can write a
 * `config` that names another's, and fetch its commits, so nothing that an archive can contain gives access to a memory that
 * exists. Worktrees of a clone have its key already: the clone lists them (src/domain/project.ts).
 *
 * 1. The first directory of a repository of which nothing is known here joins it at once.
 * 2. A further one joins when the user says so (`projects link`). Until then it is a project of its own, and the user is asked
 *    once.
 * 3. A directory that joined stays, also without a remote. If its git directory was created anew, it is another one: it
 *    leaves, and rules 1 and 2 decide.
 * 4. A clone whose remote changes to a repository of which nothing is known takes the memory along if it is alone in the old
 *    one; else what was learned before stays there. To a known one it changes by the user's word.
 * 5. What the user decided (`projects link`, `projects split`, `projects merge`) is never changed here.
 */
import { projectKeyPath } from '../domain/project.ts'
import { nameSpan } from '../domain/quotation.ts'
import { travellingIdentity } from '../domain/repository.ts'
import type { DirectoryRow, Store } from '../store/port.ts'
import { readClaim, readCreationTime } from './git-directory.ts'

export interface DirectoryQuestion {
  key: string
  /** What was decided before; undefined: nothing. */
  directory: DirectoryRow | undefined
  /** Under which key its memory is kept; null: under its own. */
  mergedInto: string | null
  /** All that were decided. */
  directories: readonly DirectoryRow[]
  /** Whether further clones may join a repository. */
  together: boolean
}

/** `moves`: whose memory becomes the repository's. `left`: the repository that it was part of. */
export type RepositoryDecision =
  | { type: 'none' }
  | { type: 'join'; repository: string; moves: string; left: string | null }
  | { type: 'ask'; repository: string; left: string | null }
  | { type: 'leave'; left: string }
  /** Its remote names another repository, whose memory exists; it stays where it is. */
  | { type: 'stay'; repository: string; claim: string }

const NONE: RepositoryDecision = { type: 'none' }

/** What the rules need to know. */
export interface RepositoryFacts {
  /** As `readClaim`. */
  claim: string | null
  /** The key under which a project's memory is kept, after merges. */
  keyOf(key: string): string
  /** As `readCreationTime`. */
  createdAt: number | null
  /** Whether anything is known of a repository: a directory of it, or memories. */
  isKnown(repository: string): Promise<boolean>
  /** Whether other machines have the memory of a repository. */
  isShared(repository: string): Promise<boolean>
}

export async function decideRepository(
  question: DirectoryQuestion,
  facts: RepositoryFacts,
): Promise<RepositoryDecision> {
  const { key, directory, mergedInto } = question
  if (directory?.state === 'linked' || directory?.state === 'apart') return NONE
  const joined = directory?.state === 'joined' ? directory.repository : null
  if (joined === null || mergedInto === null) {
    // Merged by hand.
    if (mergedInto !== null) return NONE
    return await decideNew(question, facts, null)
  }
  if (wasReplaced(directory, facts)) return await decideNew(question, facts, mergedInto)
  // The repository as a whole was merged by hand.
  if (mergedInto !== joined) return NONE
  const { claim } = facts
  if (claim === null || facts.keyOf(claim) === joined) return NONE
  if (await facts.isKnown(claim)) return { type: 'stay', repository: joined, claim }
  const isAlone = clonesOf(joined, key, question.directories).length === 0
  const takesAll = isAlone && !(await facts.isShared(joined))
  return { type: 'join', repository: claim, moves: takesAll ? joined : key, left: joined }
}

/** Where a file system does not say when, the path decides. */
function wasReplaced(directory: DirectoryRow | undefined, { createdAt }: RepositoryFacts): boolean {
  const before = directory?.createdAt ?? null
  return before !== null && createdAt !== null && before !== createdAt
}

async function decideNew(
  { key, directory, together }: DirectoryQuestion,
  { claim, isKnown }: RepositoryFacts,
  left: string | null,
): Promise<RepositoryDecision> {
  const otherwise: RepositoryDecision = left === null ? NONE : { type: 'leave', left }
  if (claim === null) return otherwise
  if (!(await isKnown(claim))) return { type: 'join', repository: claim, moves: key, left }
  if (!together) return otherwise
  const isAsked = directory?.state === 'unconfirmed' && directory.repository === claim
  return isAsked ? NONE : { type: 'ask', repository: claim, left }
}

/** Directories of a repository other than this one. */
export function clonesOf(repository: string, key: string, directories: readonly DirectoryRow[]): DirectoryRow[] {
  return directories.filter(
    (other) =>
      other.key !== key && other.repository === repository && (other.state === 'joined' || other.state === 'linked'),
  )
}

interface FactSource extends Pick<RepositoryFacts, 'keyOf' | 'isShared'> {
  store: Pick<Store, 'projectContents'>
}

/** Reads the directory. Null where it cannot be read now. */
export async function readFacts(
  { key, directories }: DirectoryQuestion,
  { store, keyOf, isShared }: FactSource,
): Promise<RepositoryFacts | null> {
  const gitDir = projectKeyPath(key)
  const claim = gitDir === null ? undefined : await readClaim(gitDir)
  if (gitDir === null || claim === undefined) return null
  return {
    claim,
    createdAt: await readCreationTime(gitDir),
    keyOf,
    isShared,
    isKnown: async (repository) =>
      clonesOf(repository, key, directories).length > 0 ||
      (await store.projectContents(keyOf(repository))).sessions > 0,
  }
}

/** `github.com/acme/shop`, for people. */
export function repositoryLabel(repository: string): string {
  return travellingIdentity(repository) ?? repository
}

/** A path as an argument of a command that the user may copy: its name may come from an archive. */
function commandArgument(path: string): string {
  return /^[\w./\\:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Longest path that is shown whole in a sentence; the command has all of it. */
const MAX_PATH_CHARS = 300

/** What the user is told and asked once. `path`: of the working tree. `clones`: those of the repository that are known. */
export function questionText(path: string, repository: string, clones: readonly string[]): string {
  const argument = commandArgument(path)
  const [clone] = clones
  const like = clone === undefined ? '' : `, as ${nameSpan(clone, MAX_PATH_CHARS)} does`
  const claim = `${nameSpan(path, MAX_PATH_CHARS)} names ${repositoryLabel(repository)} as its remote${like}, which alone does not give it the memory of that repository`
  return `${claim}. Is it a clone of yours? claude-mem projects link ${argument}; if not: claude-mem projects split ${argument}`
}

/** What the user is told about a decision; null: nothing changed that anybody sees. `clones`: as for `questionText`. */
export function decisionNotice(
  path: string,
  decision: RepositoryDecision,
  clones: readonly string[],
): { level: 'info' | 'warn'; text: string } | null {
  switch (decision.type) {
    case 'none':
      return null
    case 'ask':
      return { level: 'warn', text: questionText(path, decision.repository, clones) }
    case 'leave': {
      const left = repositoryLabel(decision.left)
      return {
        level: 'info',
        text: `${path} is another repository than the clone of ${left} that was there: it is a project of its own now`,
      }
    }
    case 'stay': {
      const [claim, repository] = [repositoryLabel(decision.claim), repositoryLabel(decision.repository)]
      const text = `the remote of ${path} is now ${claim}, whose memory exists already: it stays with ${repository}`
      return { level: 'warn', text: `${text}; to change that: claude-mem projects link ${commandArgument(path)}` }
    }
    case 'join':
      return joinNotice(path, decision)
  }
}

function joinNotice(
  path: string,
  { repository, moves, left }: Extract<RepositoryDecision, { type: 'join' }>,
): { level: 'info'; text: string } | null {
  if (left === null) return null
  const label = repositoryLabel(repository)
  if (moves === left) return { level: 'info', text: `the remote of ${path} is now ${label}: its memory moved along` }
  const stays = `what was learned before stays with ${repositoryLabel(left)}`
  return { level: 'info', text: `${path} belongs to ${label} now; ${stays}` }
}
