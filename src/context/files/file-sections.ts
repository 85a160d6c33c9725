/**
 * Writes the memory of a project into files of the user (CLAUDE.md, a Cursor rule) if the user switched that on. The
 * files follow every change of the memory. Each path is stored before the file is written, so that every section can be
 * found and removed again, even after a crash in between.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type CoalescedWork, coalescePerKey } from '../../lib/coalesce.ts'
import { errorMessage } from '../../lib/errors.ts'
import { SerialQueue } from '../../lib/serial-queue.ts'
import type { Store, StoreReader } from '../../store/port.ts'
import type { ContextReader } from '../build.ts'
import { changeFile, type FileOutcome, fileState, removeDirectories, removeTemporaryFile } from './edit-file.ts'
import { withoutSection, withSection } from './section.ts'
import {
  CURSOR_DIRECTORIES,
  CURSOR_FILE,
  type FileLimits,
  fileHeader,
  isGeneratedFolder,
  MEMORY_FILE,
  type SectionFile,
  sectionFiles,
} from './section-content.ts'
import {
  belongsToOtherProject,
  encodeTreeSections,
  type FilePart,
  locateTreeSections,
  type TreeSections,
  type TreeSectionsRow,
  treeSectionsIn,
} from './tree-sections.ts'

/** A turn's observations and its summary are committed one after the other; they are written together. */
const COALESCE_MS = 500
const DEFAULT_PARTS: readonly FilePart[] = ['project']

interface FileSectionsOptions {
  store: ContextReader & Pick<Store, 'projectSettings' | 'updateProjects'>
  limits: () => FileLimits
  /** The name of this machine's user in a team; null: there is none. */
  me?: () => string | null
  /** Reports a problem to the user. */
  notice: (text: string) => void
  now?: () => number
}

export interface FileSectionsResult {
  /** Null if nothing is written for the project. */
  sections: TreeSections | null
  files: FileOutcome[]
}

interface SectionsOwner {
  key: string
  /** The project whose memory is written: another key if this one was merged. */
  project: string
}

interface TurnOnRequest extends SectionsOwner {
  /** A working tree of the project, without symbolic links. */
  root: string
  /** Null: the previous parts, or the default. */
  parts: readonly FilePart[] | null
  dryRun: boolean
}

export class FileSections {
  readonly #options: FileSectionsOptions
  readonly #pending: CoalescedWork
  /** Reported problems per file: each is reported once, until the file can be written again. */
  readonly #reported = new Map<string, string>()
  /** The last operation: they run one after the other. */
  readonly #queue = new SerialQueue()

  constructor(options: FileSectionsOptions) {
    this.#options = options
    this.#pending = coalescePerKey(COALESCE_MS, (project) => this.#writeChanges(project))
  }

  /** The memory of the project changed. */
  changed(project: string): void {
    this.#pending.changed(project)
  }

  /** Writes everything that is scheduled. */
  flush(): Promise<void> {
    return this.#pending.flush()
  }

  /** At start: a daemon that was killed may have left outdated files. */
  async refresh(): Promise<void> {
    try {
      for (const { project } of await this.#rows()) this.changed(project)
    } catch (error) {
      this.#options.notice(`the files that show the memory could not be refreshed at start: ${errorMessage(error)}`)
    }
  }

  /** What is written, and what the next change of the memory would do to each file. */
  status(owner: SectionsOwner): Promise<FileSectionsResult> {
    return this.#queue.run(async () => {
      const row = await this.#rowOf(owner)
      if (row === null) return { sections: null, files: [] }
      return { sections: row, files: await this.#update(row, true) }
    })
  }

  turnOn({ key, project, root, parts, dryRun }: TurnOnRequest): Promise<FileSectionsResult> {
    return this.#queue.run(async () => {
      const old = (await this.#rows()).find((row) => row.key === key) ?? null
      const moved = old !== null && old.root !== root
      const files = moved ? await this.#remove(old, dryRun) : []
      const chosen = parts ?? (old === null || old.parts.length === 0 ? DEFAULT_PARTS : old.parts)
      const kept = old === null || moved ? { written: [], made: [] } : { written: old.written, made: old.made }
      const done = await this.#write({ key, project, root, repository: key, parts: chosen, ...kept }, dryRun)
      return { sections: done.sections, files: [...files, ...done.files] }
    })
  }

  /** `tree`: a working tree that is searched for sections that were not stored. */
  turnOff(owner: SectionsOwner, tree: string | null, dryRun: boolean): Promise<FileSectionsResult> {
    return this.#queue.run(async () => {
      const row = await this.#rowOf(owner)
      const located = row === null ? null : await locateTreeSections(row)
      const files = row === null ? [] : await this.#remove(row, dryRun)
      for (const root of tree === null ? [] : new Set([tree, located?.root ?? tree])) {
        files.push(...(await cleanTree(root, new Set(files.map(({ file }) => file)), dryRun)))
      }
      return { sections: dryRun ? row : await this.#rowOf(owner), files }
    })
  }

  async #rows(): Promise<TreeSectionsRow[]> {
    return treeSectionsIn(await this.#options.store.projectSettings())
  }

  /** A merged project may have several; the one of the given key is preferred. */
  async #rowOf({ key, project }: SectionsOwner): Promise<TreeSectionsRow | null> {
    const rows = await this.#rows()
    return rows.find((row) => row.key === key) ?? rows.find((row) => row.project === project) ?? null
  }

  async #writeChanges(project: string): Promise<void> {
    await this.#queue
      .run(async () => {
        for (const row of await this.#rows()) {
          if (row.project !== project || row.parts.length === 0) continue
          for (const outcome of await this.#update(row, false)) this.#report(outcome)
        }
      })
      .catch((error: unknown) =>
        this.#options.notice(`the memory of ${project} could not be written to files: ${errorMessage(error)}`),
      )
  }

  async #update(row: TreeSectionsRow, dryRun: boolean): Promise<FileOutcome[]> {
    const located = await locateTreeSections(row)
    if (located === null) return [unusableRoot(row, 'it is gone')]
    if (belongsToOtherProject(located)) return [unusableRoot(located, 'it belongs to another project now')]
    return (await this.#write(located, dryRun)).files
  }

  async #write(row: TreeSectionsRow, dryRun: boolean): Promise<FileSectionsResult> {
    const { store, limits, me } = this.#options
    const { root, repository, parts } = row
    const wanted = await sectionFiles(store, row.project, root, parts, limits(), me?.() ?? null)
    const { writable, missing, duplicates } = await planWrites(root, wanted)
    const names = writable.map(({ file }) => file)
    const made = [...new Set([...row.made, ...missing])]
    const intended = { root, repository, parts, written: [...new Set([...row.written, ...names])], made }
    if (!dryRun) await this.#store(row.key, intended)
    const outdated = row.written.filter((file) => !names.includes(file))
    const files = await cleanFiles(root, outdated, dryRun)
    const notCleaned = outdated.filter((_, i) => files[i]?.what === 'left')
    for (const { file, lines } of writable) {
      const edit = (old: string | null) => withSection(old, lines, fileHeader(file))
      files.push(await changeFile(root, { file, edit, done: 'changed' }, dryRun))
    }
    files.push(...duplicates)
    if (dryRun) return { sections: intended, files }
    const sections = { ...intended, written: [...names, ...notCleaned], made: await removeDirectories(root, made) }
    await this.#store(row.key, sections)
    return { sections, files }
  }

  async #remove(row: TreeSectionsRow, dryRun: boolean): Promise<FileOutcome[]> {
    const located = await locateTreeSections(row)
    const files = located === null ? [] : await cleanFiles(located.root, row.written, dryRun)
    if (dryRun) return files
    // Files that could not be cleaned stay stored: the next `off` or `clean` tries them again.
    const written = row.written.filter((_, i) => files[i]?.what === 'left')
    const made = located === null ? [] : await removeDirectories(located.root, row.made)
    await this.#store(
      row.key,
      located === null || written.length === 0 ? null : { ...located, parts: [], written, made },
    )
    return files
  }

  async #store(key: string, sections: TreeSections | null): Promise<void> {
    const { store, now = Date.now } = this.#options
    const stored = (await this.#rows()).find((row) => row.key === key) ?? null
    const files = encodeTreeSections(sections)
    if (!isDeepStrictEqual(encodeTreeSections(stored), files)) await store.updateProjects([{ key, files }], now())
  }

  #report({ file, what, why }: FileOutcome): void {
    if (what !== 'left') this.#reported.delete(file)
    else if (why !== null && this.#reported.get(file) !== why) {
      this.#reported.set(file, why)
      this.#options.notice(`${file} does not show the newest memory: ${why}`)
    }
  }
}

/** Reported like a file that cannot be written. */
function unusableRoot({ root, repository }: TreeSections, problem: string): FileOutcome {
  const off = `claude-mem files off --project ${repository}`
  return { file: root, what: 'left', why: `${problem}; \`${off}\` ends it` }
}

/** Most folders of a working tree that are searched: more than people edit by hand. */
const MAX_SEARCHED_FOLDERS = 50_000

/** Removes the sections from files, given relative to the root. One outcome per file. */
async function cleanFiles(root: string, files: readonly string[], dryRun: boolean): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  for (const file of files) {
    const edit = (old: string | null) => withoutSection(old, fileHeader(file))
    outcomes.push(await changeFile(root, { file, edit, done: 'cleaned' }, dryRun))
    if (!dryRun) await removeTemporaryFile(root, file).catch(() => undefined)
  }
  return outcomes
}

/** Removes all sections in a working tree. `known`: absolute paths that were cleaned before. */
async function cleanTree(root: string, known: ReadonlySet<string>, dryRun: boolean): Promise<FileOutcome[]> {
  const files = [CURSOR_FILE]
  for await (const folder of foldersWithMemoryFile(root))
    files.push(folder === '' ? MEMORY_FILE : `${folder}/${MEMORY_FILE}`)
  const unknown = files.filter((file) => !known.has(join(root, file)))
  const outcomes = await cleanFiles(root, unknown, dryRun)
  // It is unknown who created these directories; they are only removed if they are empty.
  if (!dryRun && unknown[0] === CURSOR_FILE && outcomes[0]?.what === 'deleted') {
    await removeDirectories(root, CURSOR_DIRECTORIES)
  }
  return outcomes.filter(({ what }) => what !== 'absent' && what !== 'unchanged')
}

/** Removes the sections of all projects, for `uninstall --purge`. Needs only the database, no daemon. */
export async function removeAllSections(
  reader: Pick<StoreReader, 'projectSettings'>,
  dryRun = false,
): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  for (const row of treeSectionsIn(await reader.projectSettings())) {
    const located = await locateTreeSections(row)
    if (located === null) continue
    outcomes.push(...(await cleanFiles(located.root, located.written, dryRun)))
    if (!dryRun) await removeDirectories(located.root, located.made)
  }
  return outcomes
}

/** Folders whose memory file may have a section, breadth first. Symbolic links are not followed. */
async function* foldersWithMemoryFile(root: string): AsyncGenerator<string> {
  const queue = ['']
  for (let searched = 0; searched < MAX_SEARCHED_FOLDERS; searched++) {
    const folder = queue.shift()
    if (folder === undefined) return
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
    if (entries.some(({ name }) => name.toLowerCase().startsWith(MEMORY_FILE.toLowerCase()))) yield folder
    for (const entry of entries) {
      if (!entry.isDirectory() || isGeneratedFolder(entry.name)) continue
      queue.push(folder === '' ? entry.name : `${folder}/${entry.name}`)
    }
  }
}

interface WritePlan {
  writable: SectionFile[]
  /** Directories that have to be created, relative to the root. */
  missing: string[]
  /** Links to another file of the plan: two sections would overwrite each other. */
  duplicates: FileOutcome[]
}

async function planWrites(root: string, files: readonly SectionFile[]): Promise<WritePlan> {
  const plan: WritePlan = { writable: [], missing: [], duplicates: [] }
  const fileByPath = new Map<string, string>()
  for (const section of files) {
    const state = await fileState(root, section.file).catch(() => null)
    const path = state?.kind === 'file' || state?.kind === 'absent' ? state.path : join(root, section.file)
    const same = fileByPath.get(path)
    if (same !== undefined) {
      plan.duplicates.push({ file: join(root, section.file), what: 'left', why: `it is the same file as ${same}` })
      continue
    }
    fileByPath.set(path, section.file)
    plan.writable.push(section)
    if (state?.kind === 'absent') plan.missing.push(...state.missing)
  }
  return plan
}
