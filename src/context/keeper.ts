/**
 * Keeps each project's context beside the database, so that a hook can deliver it while no daemon runs. The files are
 * derived: one that is lost comes back with the next change or session of its project.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shortHash } from '../paths.ts'
import { type ContextReader, contextOf } from './load.ts'

/** A turn's observations and its summary are committed one after the other: one file for all of them, in ms. */
const SETTLE_MS = 200
/** A session that starts does not wait longer for its memory, in ms. */
const ANSWER_MS = 300
/** Projects looked after at a start: those that a killed daemon may have left behind. */
const REFRESHED = 5

export interface KeeperOptions {
  reader: ContextReader
  directory: string
  tokens: () => number
  /** Something went wrong that people should know of. */
  notice: (text: string, error: unknown) => void
  now?: () => number
}

export class ContextKeeper {
  readonly #options: KeeperOptions
  readonly #waiting = new Map<string, NodeJS.Timeout>()
  /** The last write of each project: an older text must not come after a newer one. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  fileOf(project: string): string {
    return join(this.#options.directory, `${shortHash(project)}.txt`)
  }

  /** What a session of this project would get now. */
  render(project: string): Promise<string> {
    const { reader, tokens, now = Date.now } = this.#options
    return contextOf(reader, project, { tokens: tokens(), now: now() })
  }

  /** For a session that starts: what is known now, or what was rendered last where that takes too long or fails. */
  async forSession(project: string): Promise<string> {
    this.changed(project)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not rendered within ${ANSWER_MS} ms`)), ANSWER_MS)
    })
    try {
      return await Promise.race([this.render(project), late])
    } catch (error) {
      this.#options.notice('a session started without its newest memory', error)
      return (await this.#written(project)) ?? ''
    } finally {
      clearTimeout(timer)
    }
  }

  /** Something was learned about the project, or its file may be missing. */
  changed(project: string): void {
    if (this.#waiting.has(project)) return
    const timer = setTimeout(() => void this.#write(project), SETTLE_MS)
    this.#waiting.set(project, timer)
  }

  async refresh(): Promise<void> {
    try {
      for (const { key } of await this.#options.reader.projects({ limit: REFRESHED })) this.changed(key)
    } catch (error) {
      this.#options.notice('the rendered memory could not be looked after', error)
    }
  }

  /** Everything that waits to be written is. */
  async flush(): Promise<void> {
    for (const project of [...this.#waiting.keys()]) void this.#write(project)
    await Promise.all(this.#writing.values())
  }

  #write(project: string): Promise<void> {
    clearTimeout(this.#waiting.get(project))
    this.#waiting.delete(project)
    const before = this.#writing.get(project) ?? Promise.resolve()
    const written = before
      .then(() => this.#renderFile(project))
      .catch((error: unknown) => this.#options.notice('the memory could not be rendered to a file', error))
      .finally(() => {
        if (this.#writing.get(project) === written) this.#writing.delete(project)
      })
    this.#writing.set(project, written)
    return written
  }

  async #renderFile(project: string): Promise<void> {
    const text = await this.render(project)
    const file = this.fileOf(project)
    const old = await this.#written(project)
    if (old === (text === '' ? null : text)) return
    if (text === '') return await rm(file, { force: true })
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 })
    // A hook may read at any moment: it sees the old text or the new one.
    const beside = `${file}.new`
    await writeFile(beside, text, { mode: 0o600 })
    await rename(beside, file)
  }

  async #written(project: string): Promise<string | null> {
    try {
      return await readFile(this.fileOf(project), 'utf8')
    } catch {
      // Not there, or not readable: it is written again.
      return null
    }
  }
}
