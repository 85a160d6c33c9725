/**
 * Keeps each project's context beside the database, so that a hook can deliver it while no daemon runs. The files are
 * derived: one that is lost comes back with the next change or session of its project.
 */
import type { Project } from '../memory/project.ts'
import type { Reader } from '../store/port.ts'
import { keptFile, NOTHING_SAID, readKept, removeOldTexts, type SessionContext, writeKept } from './kept-file.ts'
import { type ContextPreview, type ContextReader, previewOf } from './load.ts'
import { NO_TROUBLE, type Trouble } from './message.ts'
import type { ContextSettings } from './options.ts'
import { Settling } from './settling.ts'

/** A turn's observations and its summary are committed one after the other: one file for all of them, in ms. */
const SETTLE_MS = 200
/** A session that starts does not wait longer for its memory, in ms. */
const ANSWER_MS = 300
/** Projects looked after at a start: those that a killed daemon may have left behind. */
const REFRESHED = 5

export interface KeeperOptions {
  reader: ContextReader & Pick<Reader, 'projects' | 'aliases' | 'queueStats'>
  directory: string
  settings: () => ContextSettings
  /** The key under which a project's memory is kept. */
  keyOf?: (project: string) => string
  /** Why the model is not asked, and whether the offline observer goes on without it; null while it is. */
  waiting?: () => { reason: string; offline: boolean } | null
  /** Something went wrong that people should know of. */
  notice: (text: string, error: unknown) => void
  now?: () => number
}

export class ContextKeeper {
  readonly #options: KeeperOptions
  readonly #settling: Settling
  /** Why a project's sessions wait, as last heard. */
  readonly #reasons = new Map<string, string>()

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#settling = new Settling(SETTLE_MS, (project) => this.#write(project))
  }

  fileOf(project: string): string {
    return keptFile(this.#options.directory, project)
  }

  /** What a session of this project would get now, with other settings where they are given. */
  async preview(project: Project, over: Partial<ContextSettings> = {}): Promise<ContextPreview> {
    const { reader, settings, now = Date.now } = this.#options
    const options = { ...settings(), ...over, now: now() }
    return await previewOf(reader, project, options, options.message === 'off' ? NO_TROUBLE : await this.#trouble())
  }

  async render(project: string): Promise<SessionContext> {
    const { context, message } = await this.preview({ key: project, name: project })
    return { context, message }
  }

  /**
   * For a session that starts: what is known now, or what was rendered last where that takes too long or fails.
   *
   * However it starts: after `clear` and `compact` what an earlier start was given is gone from the client's
   * conversation, and what a session that is resumed was given may be days old.
   */
  async forSession(project: string): Promise<SessionContext> {
    this.changed(project)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not rendered within ${ANSWER_MS} ms`)), ANSWER_MS)
    })
    try {
      return await Promise.race([this.render(project), late])
    } catch (error) {
      this.#options.notice('a session started without its newest memory', error)
      return (await readKept(this.#options.directory, project)) ?? NOTHING_SAID
    } finally {
      clearTimeout(timer)
    }
  }

  /** Something was learned about the project, or its file may be missing. */
  changed(project: string): void {
    this.#settling.changed(this.#home(project))
  }

  /** A session of the project waits for the model, or (null) does not any more: its person should know. */
  waits(project: string, reason: string | null): void {
    if ((this.#reasons.get(project) ?? null) === reason) return
    if (reason === null) this.#reasons.delete(project)
    else this.#reasons.set(project, reason)
    this.changed(project)
  }

  async refresh(): Promise<void> {
    try {
      await removeOldTexts(this.#options.directory)
      for (const { key } of await this.#options.reader.projects({ limit: REFRESHED })) this.changed(key)
    } catch (error) {
      this.#options.notice('the rendered memory could not be looked after', error)
    }
  }

  /** Everything that waits to be written is. */
  flush(): Promise<void> {
    return this.#settling.flush()
  }

  async #trouble(): Promise<Trouble> {
    const { reader, waiting } = this.#options
    const { pending, failed } = await reader.queueStats()
    return { pending, failed, ...(waiting?.() ?? { reason: null, offline: false }) }
  }

  #home(project: string): string {
    return this.#options.keyOf?.(project) ?? project
  }

  async #write(project: string): Promise<void> {
    // Merged since it changed: the other one's text is for it too, and must not be followed by an older one.
    if (this.#home(project) !== project) return
    try {
      await this.#renderFiles(project)
    } catch (error) {
      this.#options.notice('the memory could not be rendered to a file', error)
    }
  }

  /**
   * A hook knows only the key of where it runs: projects that were merged into this one have its text too. A place that
   * it moved away from has none: the next repository there is another one.
   */
  async #renderFiles(project: string): Promise<void> {
    const { reader, directory } = this.#options
    const [rendered, aliases] = await Promise.all([this.render(project), reader.aliases(project)])
    await writeKept(directory, project, rendered)
    for (const { key, moved } of aliases) await writeKept(directory, key, moved ? NOTHING_SAID : rendered)
  }
}
