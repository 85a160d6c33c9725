/** A working tree with a repository, and a store whose memory is projected into it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FileSections } from '../../../src/context/files/file-sections.ts'
import type { FilePart } from '../../../src/context/files/tree-sections.ts'
import type { MemoryOrigin, ObservationDraft, SummaryDraft } from '../../../src/domain/observation.ts'
import { projectOfDirectory } from '../../../src/domain/project.ts'
import type { Store } from '../../../src/store/port.ts'
import { openLocalStore } from '../../../src/store/sqlite/store.ts'
import { commitOf, NOW, observationOf, stateOf, summaryOf } from '../../store/samples.ts'
import { temporaryDirectory } from '../../support/directories.ts'

export class WorkingTreeFixture {
  readonly directory = temporaryDirectory('files')
  readonly root = join(this.directory, 'shop')
  readonly notices: string[] = []
  limits = { rows: 8, folders: 3 }
  /** Of the repository, wherever it goes. */
  key = ''
  #store: Store | null = null
  #revision = 0

  static async make(): Promise<WorkingTreeFixture> {
    const tree = new WorkingTreeFixture()
    tree.repository('')
    tree.key = projectOfDirectory(tree.root).key
    const databaseFile = join(tree.directory, 'db.sqlite')
    tree.#store = await openLocalStore({ databaseFile, backupsDir: join(tree.directory, 'backups') })
    return tree
  }

  get store(): Store {
    if (this.#store === null) throw new Error('not made')
    return this.#store
  }
  get owner() {
    return { key: this.key, project: this.key }
  }

  sections(): FileSections {
    return new FileSections({
      store: this.store,
      limits: () => this.limits,
      notice: (text) => this.notices.push(text),
      now: () => NOW,
    })
  }

  turnOn(sections: FileSections, parts: FilePart[] | null = null, root = this.root) {
    return sections.turnOn({ ...this.owner, root, parts, dryRun: false })
  }

  /** A directory with a `.git` as git would know it. */
  repository(path: string): void {
    this.write(join(path, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  }

  write(path: string, text: string | Buffer): void {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  /** The new observation's id. */
  async learn(
    title: string,
    draft: Partial<ObservationDraft & MemoryOrigin> = {},
    summary: Partial<SummaryDraft & MemoryOrigin> | null = null,
  ) {
    this.#revision += 1
    const at = NOW + this.#revision * 60_000
    const commit = commitOf('s', this.#revision, {
      state: stateOf({ project: { key: this.key, name: 'shop' } }),
      observations: [{ ...observationOf([]), createdAt: at, title, ...draft }],
      summaries: summary === null ? [] : [{ ...summaryOf(), createdAt: at, ...summary }],
    })
    const [result] = await this.store.commit([commit])
    if (result?.ok !== true) throw new Error(JSON.stringify(result))
    return result.observationIds[0] ?? 0
  }

  async follow(sections: FileSections): Promise<void> {
    sections.changed(this.key)
    await sections.flush()
  }

  async dispose(): Promise<void> {
    await this.store.close()
  }
}
