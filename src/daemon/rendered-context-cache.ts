/**
 * Renders the context of each project after every change (changes are coalesced): into memory for the next session that
 * starts, and into a file, so that a hook can deliver it while no daemon runs. Both are derived: what is missing or
 * outdated when a session starts is rendered then.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BuiltContext,
  buildContext,
  type ContextPreview,
  type ContextReader,
  withMessage,
} from '../context/build.ts'
import { MORE_HINT, nameCommandInHint } from '../context/lines.ts'
import { NO_OBSERVER_PROBLEMS, type ObserverProblems } from '../context/message.ts'
import type { ContextOptions, ContextSettings } from '../context/options.ts'
import type { Project } from '../domain/project.ts'
import {
  decodeRenderedContext,
  EMPTY_CONTEXT,
  encodeRenderedContext,
  type RenderedContext,
  renderedContextPath,
} from '../domain/rendered-context.ts'
import { type CoalescedWork, coalescePerKey } from '../lib/coalesce.ts'
import { makeSubdirectory, moveFile } from '../lib/files.ts'
import { COMMAND_NAME } from '../lib/names.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { StoreReader } from '../store/port.ts'

/** A turn's observations and its summary are committed one after the other; they are rendered together. */
const COALESCE_MS = 200
/** Longest time that a session start waits for its context. */
const RENDER_TIMEOUT_MS = 300
/** Newest projects rendered again at start: a daemon that was killed may have left their files outdated. */
const REFRESHED_PROJECTS = 5
/** Kept in memory, each with some 100 KB: more projects than people work on in a day. */
const MAX_KEPT = 20

export interface RenderedContextCacheOptions {
  reader: ContextReader & Pick<StoreReader, 'projects' | 'aliases' | 'queueStats'>
  /** Where the rendered files are. */
  directory: string
  settings: () => ContextSettings
  /** How a shell of this machine runs our command line. */
  command?: () => string
  /** The name of this machine's user in a team; null: there is none. */
  me?: () => string | null
  /** The key that a project key was merged into, or the key itself. */
  keyOf?: (project: string) => string
  /** Why the model is not called, and whether the offline observer replaces it; null while it is called. */
  waiting?: () => { reason: string; offline: boolean } | null
  /** Reports a problem to the user. */
  notice: (text: string, error: unknown) => void
  now?: () => number
}

export class RenderedContextCache {
  readonly #options: RenderedContextCacheOptions
  readonly #pending: CoalescedWork
  /** One file after the other: two projects may write the file of the same key while it changes from one to the other. */
  readonly #writes = new SerialQueue()
  /** Why the sessions of a project wait for the model, as last reported. */
  readonly #waitReasons = new Map<string, string>()
  /** The context of each project, being rendered or rendered since its last change. The oldest is the first. */
  readonly #kept = new Map<string, { options: string; built: Promise<BuiltContext> }>()

  constructor(options: RenderedContextCacheOptions) {
    this.#options = options
    this.#pending = coalescePerKey(COALESCE_MS, (project) => this.#write(project))
  }

  fileOf(project: string): string {
    return renderedContextPath(this.#options.directory, project)
  }

  /** What a session of this project would get now. `overrides` replace settings. */
  async preview(project: Project, overrides: Partial<ContextSettings> = {}): Promise<ContextPreview> {
    const { reader } = this.#options
    const options = { ...this.#contextOptions(), ...overrides }
    return await this.#withMessage(buildContext(reader, project, options), options)
  }

  async render(project: string): Promise<RenderedContext> {
    const options = this.#contextOptions()
    const { context, message } = await this.#withMessage(this.#current(project, options), options)
    return { context, message }
  }

  #contextOptions(): ContextOptions {
    const { settings, me, now = Date.now, command } = this.#options
    nameCommandInHint(command?.() ?? COMMAND_NAME)
    return { ...settings(), now: now(), me: me?.() ?? null }
  }

  /** Rendered since the last change, with these settings and on this day; otherwise now. */
  #current(project: string, options: ContextOptions): Promise<BuiltContext> {
    // Only the date of the time is visible in a context.
    const sameOptions = JSON.stringify({ ...options, now: new Date(options.now).toDateString(), MORE_HINT })
    const kept = this.#kept.get(project)
    if (kept?.options === sameOptions) return kept.built
    const made = {
      options: sameOptions,
      built: buildContext(this.#options.reader, { key: project, name: project }, options),
    }
    this.#kept.delete(project)
    for (const oldest of [...this.#kept.keys()].slice(0, this.#kept.size + 1 - MAX_KEPT)) this.#kept.delete(oldest)
    this.#kept.set(project, made)
    made.built.catch(() => {
      if (this.#kept.get(project) === made) this.#kept.delete(project)
    })
    return made.built
  }

  async #withMessage(building: Promise<BuiltContext>, options: ContextOptions): Promise<ContextPreview> {
    const problems = options.message === 'off' ? NO_OBSERVER_PROBLEMS : this.#observerProblems()
    const [built, problem] = await Promise.all([building, problems])
    return withMessage(built, options, problem)
  }

  /**
   * The context of a session that starts: as of the last change, or the last file if rendering fails or times out. Every kind of
   * start gets it: `clear` and `compact` removed the earlier context from the conversation, and the one of a resumed
   * session may be days old.
   */
  async forSession(project: string): Promise<RenderedContext> {
    this.#pending.changed(this.#mergedKey(project))
    try {
      const rendered = await withTimeout(RENDER_TIMEOUT_MS, this.render(project), null)
      if (rendered !== null) return rendered
      throw new Error(`not rendered within ${RENDER_TIMEOUT_MS} ms`)
    } catch (error) {
      this.#options.notice(`a session of ${project} started with the context that was rendered last`, error)
      return (await readRenderedContext(this.#options.directory, project)) ?? EMPTY_CONTEXT
    }
  }

  /** The memory of the project changed, or its file may be missing. */
  changed(project: string): void {
    this.outdated(project)
    this.#pending.changed(this.#mergedKey(project))
  }

  /** Something that the context may show changed, but not enough to render it before a session needs it. */
  outdated(project: string | null = null): void {
    if (project === null) this.#kept.clear()
    else this.#kept.delete(this.#mergedKey(project))
  }

  /** Why a session of the project waits for the model; null if it no longer waits. The message shows it. */
  setWaitReason(project: string, reason: string | null): void {
    if ((this.#waitReasons.get(project) ?? null) === reason) return
    if (reason === null) this.#waitReasons.delete(project)
    else this.#waitReasons.set(project, reason)
    this.changed(project)
  }

  async refresh(): Promise<void> {
    this.outdated()
    try {
      await removeLegacyTexts(this.#options.directory)
      for (const { key } of await this.#options.reader.projects({ limit: REFRESHED_PROJECTS })) this.changed(key)
    } catch (error) {
      this.#options.notice('the rendered contexts could not be refreshed at start', error)
    }
  }

  /** Writes everything that is scheduled. */
  flush(): Promise<void> {
    return this.#pending.flush()
  }

  async #observerProblems(): Promise<ObserverProblems> {
    const { reader, waiting } = this.#options
    const { pending, failed } = await reader.queueStats()
    return { pending, failed, ...(waiting?.() ?? { reason: null, offline: false }) }
  }

  #mergedKey(project: string): string {
    return this.#options.keyOf?.(project) ?? project
  }

  async #write(project: string): Promise<void> {
    // Merged since the change: its file is now written with the other project and must not be overwritten.
    if (this.#mergedKey(project) !== project) return
    try {
      await this.#writeFiles(project)
    } catch (error) {
      this.#options.notice(`the context of ${project} could not be written to its file`, error)
    }
  }

  /**
   * A hook only knows the key of its directory, so every key that was merged into this project has a copy of the file.
   * A directory that the project moved away from has none: the next repository there is a different project.
   */
  async #writeFiles(project: string): Promise<void> {
    const { reader, directory } = this.#options
    const [rendered, aliases] = await Promise.all([this.render(project), reader.aliases(project)])
    await this.#writes.run(() => writeRenderedContext(directory, project, rendered))
    for (const { key, moved } of aliases) {
      await this.#writes.run(async () => {
        // Split off since the aliases were read: its own file must not be overwritten with this memory.
        if (this.#options.keyOf !== undefined && this.#mergedKey(key) !== project) return
        await writeRenderedContext(directory, key, moved ? EMPTY_CONTEXT : rendered)
      })
    }
  }
}

/** Null if there is no file, or it cannot be read. */
export async function readRenderedContext(directory: string, project: string): Promise<RenderedContext | null> {
  try {
    return decodeRenderedContext(await readFile(renderedContextPath(directory, project), 'utf8'))
  } catch {
    return null
  }
}

/** Writes only if something changed. An empty context removes the file. */
export async function writeRenderedContext(
  directory: string,
  project: string,
  rendered: RenderedContext,
): Promise<void> {
  const file = renderedContextPath(directory, project)
  if (rendered.context === '' && rendered.message === '') return await rm(file, { force: true })
  const old = await readRenderedContext(directory, project)
  if (old?.context === rendered.context && old.message === rendered.message) return
  makeSubdirectory(directory)
  // Renamed into place: a hook that reads meanwhile gets the whole old text or the whole new one.
  const temporary = `${file}.new`
  try {
    await writeFile(temporary, encodeRenderedContext(rendered), { mode: 0o600 })
    await moveFile(temporary, file)
  } catch (error) {
    // The old text may contain a forgotten memory. On a full disk no context is better than that.
    await rm(file, { force: true })
    throw error
  }
}

/** Earlier versions wrote plain text files. They would keep memories that are forgotten later. */
async function removeLegacyTexts(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((one) => one.endsWith('.txt'))) await rm(join(directory, name), { force: true })
}
