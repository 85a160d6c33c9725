/**
 * The memory as people ask for it: projects by their names, sessions by their first characters, and what they write
 * down cleaned like everything else that is kept. Behind it there are only keys and full ids.
 */
import { chosenProject } from '../context/project.ts'
import { plain, shorten } from '../context/text.ts'
import { MemError } from '../errors.ts'
import { cleanText } from '../memory/clean.ts'
import type { Summary } from '../memory/observation.ts'
import { isWhollyPrivate } from '../memory/privacy.ts'
import type { Project } from '../memory/project.ts'
import { MEMORY_KINDS, NO_FILTERS, type SearchAnswer, type SearchFilters, type SearchRequest } from '../search/query.ts'
import { sessionNamed } from '../store/named.ts'
import type { Reader } from '../store/port.ts'
import type {
  CorrectRequest,
  ForgetReport,
  ForgetRequest,
  IndexProgress,
  Memory,
  MemoryStats,
  ObservationView,
  ReadableMemory,
  ReindexPart,
  RememberRequest,
  SummaryFilter,
  Timeline,
  TimelineRequest,
} from './memory.ts'

/** As long as titles of observations are. */
const TITLE_CHARS = 90

type Names = Pick<Reader, 'projects' | 'observations' | 'summaries' | 'findSessions'>

export class NamedReadableMemory implements ReadableMemory {
  readonly #memory: ReadableMemory
  readonly #names: Names

  constructor(memory: ReadableMemory, names: Names) {
    this.#memory = memory
    this.#names = names
  }

  /** `given`: a project's key or name. */
  project(given: string): Promise<Project> {
    return chosenProject(this.#names, given)
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    return await this.#memory.search({ ...request, filters: await this.resolved(request.filters) })
  }

  observations(ids: readonly number[]): Promise<{ observations: ObservationView[]; missing: number[] }> {
    return this.#memory.observations([...new Set(ids)])
  }

  async timeline(request: TimelineRequest): Promise<Timeline> {
    return await this.#memory.timeline({ ...request, project: await this.#key(request.project) })
  }

  async summaries({ session, project, limit }: SummaryFilter): Promise<Summary[]> {
    const filter = { session: await this.#session(session), project: await this.#key(project), limit }
    return await this.#memory.summaries(filter)
  }

  async stats(project: string | null): Promise<MemoryStats> {
    return await this.#memory.stats(await this.#key(project))
  }

  protected async resolved(filters: SearchFilters): Promise<SearchFilters> {
    const { since, until } = filters
    if (since !== null && until !== null && since > until)
      throw new MemError('bad_request', 'nothing lies between since and until: the first is the later one')
    const [project, session] = await Promise.all([this.#key(filters.project), this.#session(filters.session)])
    return { ...filters, project, session }
  }

  async #key(given: string | null): Promise<string | null> {
    return given === null ? null : (await this.project(given)).key
  }

  async #session(prefix: string | null): Promise<string | null> {
    return prefix === null ? null : await sessionNamed(this.#names, prefix)
  }
}

export class NamedMemory extends NamedReadableMemory {
  readonly #memory: Memory

  constructor(memory: Memory, names: Names) {
    super(memory, names)
    this.#memory = memory
  }

  /** Without a title, the first words of the text. */
  async remember(request: Omit<RememberRequest, 'title'> & { title: string | null }): Promise<{ id: number }> {
    const text = cleanedText(request.text)
    const title = cleanedTitle(request.title ?? '') || titleFrom(text)
    const { concepts, files } = request
    return await this.#memory.remember({ ...request, title, text, concepts: cleaned(concepts), files: cleaned(files) })
  }

  async correct({ observation, kind, title, text, facts, concepts }: CorrectRequest): Promise<{ id: number }> {
    const named = title === undefined ? undefined : cleanedTitle(title)
    if (named === '') throw new MemError('bad_request', 'the title is empty')
    return await this.#memory.correct({
      observation,
      ...(kind === undefined ? {} : { kind }),
      ...(named === undefined ? {} : { title: named }),
      ...(text === undefined ? {} : { text: cleanedText(text) }),
      ...(facts === undefined ? {} : { facts: cleaned(facts) }),
      ...(concepts === undefined ? {} : { concepts: cleaned(concepts) }),
    })
  }

  async forget({ ids, filters, confirm }: ForgetRequest): Promise<ForgetReport> {
    if (ids.length > 0 && filters !== null)
      throw new MemError('bad_request', 'forget takes ids or filters, not both at once')
    if (ids.length === 0 && (filters === null || !narrows(filters))) {
      throw new MemError('bad_request', 'say what to forget: ids, or a filter such as a project, a session or dates')
    }
    const resolved = filters === null ? null : await this.resolved(filters)
    return await this.#memory.forget({ ids: [...new Set(ids)], filters: resolved, confirm })
  }

  /** Everything that a session left behind. `session`: its whole id. */
  forgetSession(session: string): Promise<ForgetReport> {
    return this.#memory.forget({ ids: [], filters: { ...NO_FILTERS, kinds: MEMORY_KINDS, session }, confirm: true })
  }

  pin(ids: readonly number[], on: boolean): Promise<{ changed: number; missing: number[] }> {
    return this.#memory.pin([...new Set(ids)], on)
  }

  /** `from` is the newer one. */
  async link(from: number, to: number, kind: 'supersedes', on: boolean): Promise<void> {
    if (from === to) throw new MemError('bad_request', `observation ${from} cannot replace itself`)
    await this.#memory.link(from, to, kind, on)
  }

  async reindex(what: ReindexPart): Promise<IndexProgress | null> {
    await this.#memory.reindex(what)
    return this.#memory.indexing()
  }

  indexing(): IndexProgress | null {
    return this.#memory.indexing()
  }
}

/** A filter that everything passes would empty the memory by mistake. */
function narrows({ kinds: _, pinned, ...filters }: SearchFilters): boolean {
  return pinned || Object.values(filters).some((value) => (Array.isArray(value) ? value.length > 0 : value !== null))
}

function cleanedText(given: string): string {
  if (isWhollyPrivate(given)) throw new MemError('bad_request', 'all of it is private: nothing was remembered')
  const text = cleanText(given).trim()
  if (text === '') throw new MemError('bad_request', 'there is nothing to remember: the text is empty')
  return text
}

function cleanedTitle(given: string): string {
  return shorten(plain(cleanText(given)), TITLE_CHARS)
}

/** Each once, and none that is empty. */
function cleaned(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => cleanText(word).trim()))].filter(Boolean)
}

/** The first sentence, or as much of it as a title holds. */
function titleFrom(text: string): string {
  const words = plain(text)
  const sentence = /^.*?[.!?。！？](?=\s|$)/u.exec(words)?.[0] ?? words
  return shorten(sentence.replace(/\.$/, ''), TITLE_CHARS)
}
