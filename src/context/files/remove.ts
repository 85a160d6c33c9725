/** Takes sections out of files again, as if they had never been there. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reader } from '../../store/port.ts'
import { changeFile, type FileOutcome, removeBeside } from './change.ts'
import { removeDirectories } from './directories.ts'
import { isNotOurs } from './folders.ts'
import { projectionsIn } from './projection.ts'
import { homeOf } from './root.ts'
import { withoutSection } from './section.ts'
import { CURSOR_DIRECTORIES, CURSOR_FILE, headerOf, MEMORY_FILE } from './wanted.ts'

/** Folders of a working tree that are looked through: more than any that people edit by hand. */
const MOST_FOLDERS = 50_000

/** `files`: seen from the root. One outcome for each. */
export async function cleanFiles(root: string, files: readonly string[], dryRun: boolean): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  for (const file of files) {
    const edit = (old: string | null) => withoutSection(old, headerOf(file))
    outcomes.push(await changeFile(root, { file, edit, done: 'cleaned' }, dryRun))
    if (!dryRun) await removeBeside(root, file).catch(() => undefined)
  }
  return outcomes
}

/** Looks through the whole working tree, for what no note tells of. `known`: whole paths that were cleaned already. */
export async function cleanTree(root: string, known: ReadonlySet<string>, dryRun: boolean): Promise<FileOutcome[]> {
  const files = [CURSOR_FILE]
  for await (const folder of foldersOf(root)) files.push(folder === '' ? MEMORY_FILE : `${folder}/${MEMORY_FILE}`)
  const unknown = files.filter((file) => !known.has(join(root, file)))
  const outcomes = await cleanFiles(root, unknown, dryRun)
  // Nobody noted who made them; empty they serve nobody.
  if (!dryRun && unknown[0] === CURSOR_FILE && outcomes[0]?.what === 'deleted') {
    await removeDirectories(root, CURSOR_DIRECTORIES)
  }
  return outcomes.filter(({ what }) => what !== 'absent' && what !== 'unchanged')
}

/** Every file of every project: what `uninstall --purge` removes. Works on the database file, without a daemon. */
export async function removeProjections(
  reader: Pick<Reader, 'projectDecisions'>,
  dryRun = false,
): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  for (const row of projectionsIn(await reader.projectDecisions())) {
    const home = await homeOf(row)
    if (home === null) continue
    outcomes.push(...(await cleanFiles(home.root, home.written, dryRun)))
    if (!dryRun) await removeDirectories(home.root, home.made)
  }
  return outcomes
}

/** Folders with a file of ours, perhaps. Links are not followed. */
async function* foldersOf(root: string): AsyncGenerator<string> {
  const waiting = ['']
  for (let seen = 0; seen < MOST_FOLDERS; seen++) {
    const folder = waiting.shift()
    if (folder === undefined) return
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
    if (entries.some(({ name }) => name.toLowerCase().startsWith(MEMORY_FILE.toLowerCase()))) yield folder
    for (const entry of entries) {
      if (!entry.isDirectory() || isNotOurs(entry.name)) continue
      waiting.push(folder === '' ? entry.name : `${folder}/${entry.name}`)
    }
  }
}
