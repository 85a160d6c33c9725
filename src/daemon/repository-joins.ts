/**
 * Which directories belong to one repository. A directory names its repository with its remote, but anybody can write a
 * `config` that names another's, so a name alone gives no access to a memory that exists:
 *
 * 1. The first directory of a repository of which nothing is known here joins it at once.
 * 2. A further one joins if it has a commit of the repository: one that is known of it, or one of its own that another
 *    clone has. The commit's text must be in its own object store (src/daemon/git-objects.ts).
 * 3. Otherwise it stays a project of its own, and the user is asked once.
 * 4. A clone whose remote changes takes the memory along if it is alone in the old repository; else it joins the new one by
 *    these rules, and what was learned before stays. A clone whose remote is removed stays where it is.
 * 5. Another repository at the path of a clone, without a commit of it, leaves: it is a project of its own.
 * 6. What the user decided (`projects link`, `projects split`, `projects merge`) is never changed here.
 */
import { projectKeyPath } from '../domain/project.ts'
import { travellingIdentity } from '../domain/repository.ts'
import type { DirectoryRow, Store } from '../store/port.ts'
import { readClaim, readCommitIds } from './git-directory.ts'
import { findCommit } from './git-objects.ts'

/** Other clones that are looked at, each with its own object store. */
const MAX_COMPARED_CLONES = 5

export interface DirectoryQuestion {
  key: string
  /** What was decided before; undefined: nothing. */
  directory: DirectoryRow | undefined
  /** Under which key its memory is kept; null: under its own. */
  mergedInto: string | null
  /** All that were decided. */
  directories: readonly DirectoryRow[]
  /** Whether further clones join a repository. */
  together: boolean
}

/** `moves`: whose memory becomes the repository's. `left`: the repository that it was part of. */
export type RepositoryDecision =
  | { type: 'none' }
  | { type: 'join'; repository: string; moves: string; left: string | null; isFirst: boolean }
  | { type: 'ask'; repository: string; left: string | null }
  | { type: 'leave'; left: string }
  /** Its remote names a repository of which it has no commit; it stays where it is. */
  | { type: 'stay'; repository: string; claim: string }

const NONE: RepositoryDecision = { type: 'none' }

/** What the rules need to know. */
export interface RepositoryFacts {
  /** As `readClaim`. */
  claim: string | null
  /** The key under which a project's memory is kept, after merges. */
  keyOf(key: string): string
  /** Whether anything is known of a repository: a directory of it, commits, or memories. */
  isKnown(repository: string): Promise<boolean>
  sharesCommit(repository: string): Promise<boolean>
  /** Whether commits of a repository are known. */
  hasCommits(repository: string): Promise<boolean>
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
  // The repository as a whole was merged by hand.
  if (mergedInto !== joined) return NONE
  const isAlone = !othersIn(question, joined)
  const isClone = (await facts.sharesCommit(joined)) || (isAlone && !(await facts.hasCommits(joined)))
  if (!isClone) return await decideNew(question, facts, joined)
  const { claim } = facts
  if (claim === null || facts.keyOf(claim) === joined) return NONE
  const isFirst = !(await facts.isKnown(claim))
  if (!isFirst && !(question.together && (await facts.sharesCommit(claim)))) {
    return { type: 'stay', repository: joined, claim }
  }
  const takesAll = isAlone && !(await facts.isShared(joined))
  return { type: 'join', repository: claim, moves: takesAll ? joined : key, left: joined, isFirst }
}

async function decideNew(
  { key, directory, together }: DirectoryQuestion,
  { claim, isKnown, sharesCommit }: RepositoryFacts,
  left: string | null,
): Promise<RepositoryDecision> {
  const otherwise: RepositoryDecision = left === null ? NONE : { type: 'leave', left }
  if (claim === null) return otherwise
  if (!(await isKnown(claim))) return { type: 'join', repository: claim, moves: key, left, isFirst: true }
  if (!together) return otherwise
  if (await sharesCommit(claim)) return { type: 'join', repository: claim, moves: key, left, isFirst: false }
  const isAsked = directory?.state === 'unconfirmed' && directory.repository === claim
  return isAsked ? NONE : { type: 'ask', repository: claim, left }
}

function othersIn({ key, directories }: DirectoryQuestion, repository: string): boolean {
  return clonesOf(repository, key, directories).length > 0
}

/** Directories of a repository other than this one. */
function clonesOf(repository: string, key: string, directories: readonly DirectoryRow[]): DirectoryRow[] {
  return directories.filter(
    (other) =>
      other.key !== key && other.repository === repository && (other.state === 'joined' || other.state === 'linked'),
  )
}

type FactStore = Pick<Store, 'repositoryCommits' | 'projectContents'>

interface FactSource extends Pick<RepositoryFacts, 'keyOf' | 'isShared'> {
  store: FactStore
}

/** Reads the directory. Null where it cannot be read now. */
export async function readFacts(
  { key, directories }: DirectoryQuestion,
  { store, keyOf, isShared }: FactSource,
): Promise<RepositoryFacts | null> {
  const gitDir = projectKeyPath(key)
  const claim = gitDir === null ? undefined : await readClaim(gitDir)
  if (gitDir === null || claim === undefined) return null
  const hasCommits = async (repository: string) => (await store.repositoryCommits(repository)).length > 0
  return {
    claim,
    keyOf,
    isShared,
    hasCommits,
    isKnown: async (repository) =>
      clonesOf(repository, key, directories).length > 0 ||
      (await hasCommits(repository)) ||
      (await store.projectContents(keyOf(repository))).sessions > 0,
    sharesCommit: async (repository) => {
      if ((await findCommit(gitDir, await store.repositoryCommits(repository))) !== null) return true
      return await isInClone(gitDir, clonesOf(repository, key, directories))
    },
  }
}

/** Whether a commit that this repository names, and has, is in one of the clones: they may have been fetched since. */
async function isInClone(gitDir: string, clones: readonly DirectoryRow[]): Promise<boolean> {
  const own = clones.length === 0 ? [] : await readCommitIds(gitDir)
  for (const { key } of clones.slice(0, MAX_COMPARED_CLONES)) {
    const path = projectKeyPath(key)
    const found = path === null ? null : await findCommit(path, own)
    if (found !== null && (await findCommit(gitDir, [found])) !== null) return true
  }
  return false
}

/** `github.com/acme/shop`, for people. */
export function repositoryLabel(repository: string): string {
  return travellingIdentity(repository) ?? repository
}

/** A path as an argument of a command that the user may copy: its name may come from an archive. */
function commandArgument(path: string): string {
  return /^[\w./\\:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** What the user is told and asked once. `path`: of the working tree. */
export function questionText(path: string, repository: string): string {
  const argument = commandArgument(path)
  const claim = `${path} names ${repositoryLabel(repository)} as its remote, but has no commit in common with the clone known here`
  return `${claim}, so it does not get its memory. Is it a clone? claude-mem projects link ${argument}; if not: claude-mem projects split ${argument}`
}

/** What the user is told about a decision; null: nothing changed that anybody sees. */
export function decisionNotice(
  path: string,
  decision: RepositoryDecision,
): { level: 'info' | 'warn'; text: string } | null {
  switch (decision.type) {
    case 'none':
      return null
    case 'ask':
      return { level: 'warn', text: questionText(path, decision.repository) }
    case 'leave':
      return {
        level: 'info',
        text: `${path} has no commit of ${repositoryLabel(decision.left)} any more: it is a project of its own now`,
      }
    case 'stay': {
      const [claim, repository] = [repositoryLabel(decision.claim), repositoryLabel(decision.repository)]
      const text = `the remote of ${path} is now ${claim}, of which it has no commit: it stays with ${repository}`
      return { level: 'warn', text: `${text}; to change that: claude-mem projects link ${commandArgument(path)}` }
    }
    case 'join':
      return joinNotice(path, decision)
  }
}

function joinNotice(
  path: string,
  { repository, moves, left, isFirst }: Extract<RepositoryDecision, { type: 'join' }>,
): { level: 'info'; text: string } | null {
  const label = repositoryLabel(repository)
  if (left !== null && moves === left) {
    return { level: 'info', text: `the remote of ${path} is now ${label}: its memory moved along` }
  }
  if (left !== null) {
    const stays = `what was learned before stays with ${repositoryLabel(left)}`
    return { level: 'info', text: `${path} belongs to ${label} now; ${stays}` }
  }
  if (isFirst) return null
  const apart = `to keep it apart: claude-mem projects split ${commandArgument(path)}`
  return { level: 'info', text: `${path} is another clone of ${label}: all its clones have one memory; ${apart}` }
}
