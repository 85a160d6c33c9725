/**
 * What a session is given while it works: memories about a prompt, and what is known about a file before it is read. Each
 * is given once a session. It is read in the search's own thread, under a deadline: a late answer is none, and neither a
 * prompt nor a tool ever waits for longer.
 */
import type { PromptEvent } from '../memory/event.ts'
import type { FileQuestion } from '../memory/file-question.ts'
import type { SearchCalls } from '../search/client.ts'
import { NO_FILTERS } from '../search/query.ts'
import type { Settings } from '../settings.ts'
import type { Store } from '../store/port.ts'
import type { LinkedObservation } from '../store/search-port.ts'
import { idOf } from '../store/sqlite/search/rows.ts'
import { isSameFile, nameOf } from './known-file.ts'
import { aboutFile, aboutPrompt, recallText } from './recall-lines.ts'
import { relevance, tellingWords } from './relevance.ts'

/** Beside the second that a hook waits for its ack, and what people notice, in ms. */
const DEADLINE_MS = 300
/** The best of a search: what is further down is about something else. */
const CANDIDATES = 10
/** Of a pasted log the beginning says what it is. */
const MOST_READ_CHARS = 10_000
const FILE_ITEMS = 3
/** Observations that name such a file, newest first: some are about another one of that name. */
const FILE_CANDIDATES = 20
/** Clients that hand on what they are told about a prompt. */
const TAKES_CONTEXT: ReadonlySet<string> = new Set(['claude-code'])

export interface RecallOptions {
  store: Pick<Store, 'session' | 'shown' | 'markShown' | 'clearShown'>
  search: () => Promise<Pick<SearchCalls, 'search' | 'observations' | 'passing'>>
  settings: Pick<
    Settings,
    | 'CLAUDE_MEM_PROMPT_CONTEXT'
    | 'CLAUDE_MEM_PROMPT_CONTEXT_FLOOR'
    | 'CLAUDE_MEM_PROMPT_CONTEXT_ITEMS'
    | 'CLAUDE_MEM_FILE_CONTEXT'
  >
  /** Where what belongs to a project is filed. */
  keyOf: (project: string) => string
  /** It came to nothing, and why. */
  log: (text: string, error: unknown) => void
  now?: () => number
  deadlineMs?: number
}

export class Recall {
  readonly #options: RecallOptions

  constructor(options: RecallOptions) {
    this.#options = options
  }

  /**
   * Empty where nothing is close enough, or was given already. `stored`: whether the prompt is new, once it is durable. It
   * is looked for meanwhile.
   */
  async forPrompt(event: PromptEvent, stored: Promise<boolean>): Promise<string> {
    if (!this.#options.settings.CLAUDE_MEM_PROMPT_CONTEXT || event.private || !TAKES_CONTEXT.has(event.client))
      return ''
    if (tellingWords(event.text).length === 0) return ''
    return await this.#inTime('a prompt got no memory', async (isLate) => {
      const [found, isNew] = await Promise.all([this.#closeTo(event), stored])
      return isNew ? await this.#give(event.session, found, aboutPrompt(), isLate) : ''
    })
  }

  async forFile(question: FileQuestion): Promise<string> {
    if (!this.#options.settings.CLAUDE_MEM_FILE_CONTEXT) return ''
    return await this.#inTime('a file got no memory', async (isLate) => {
      const found = await this.#knownAbout(question)
      return await this.#give(question.session, found, aboutFile(question), isLate)
    })
  }

  /** After `source` the client's conversation is empty: what was given is gone from it. */
  async sessionStarts(session: string, source: string): Promise<void> {
    const { store, search, settings, log } = this.#options
    if (settings.CLAUDE_MEM_PROMPT_CONTEXT) {
      // Its thread may rest: the first prompt finds it awake.
      search().catch((error: unknown) => log('the search could not be opened', error))
    }
    if (source !== 'clear' && source !== 'compact') return
    try {
      await store.clearShown(session)
    } catch (error) {
      log('what a session was given could not be forgotten', error)
    }
  }

  async #closeTo({ session, project, text }: PromptEvent): Promise<LinkedObservation[]> {
    const { store, keyOf, settings } = this.#options
    const search = await this.#options.search()
    const query = text.slice(0, MOST_READ_CHARS)
    const filters = { ...NO_FILTERS, project: keyOf(project.key) }
    const [{ hits }, shown] = await Promise.all([
      search.search({ query, mode: 'hybrid', filters, limit: CANDIDATES, offset: 0 }),
      store.shown(session),
    ])
    const ids = hits
      .filter((hit) => hit.session !== session && hit.supersededBy === null && !shown.includes(hit.id))
      .filter((hit) => relevance(query, hit.explanation.matched) >= settings.CLAUDE_MEM_PROMPT_CONTEXT_FLOOR)
      .slice(0, settings.CLAUDE_MEM_PROMPT_CONTEXT_ITEMS)
      .map(({ id }) => id)
    return ids.length === 0 ? [] : await search.observations(ids)
  }

  async #knownAbout(question: FileQuestion): Promise<LinkedObservation[]> {
    const { store, keyOf } = this.#options
    const search = await this.#options.search()
    const filters = {
      ...NO_FILTERS,
      project: keyOf(question.project.key),
      files: [nameOf(question.file)],
      since: question.changedAt,
    }
    const [rows, shown] = await Promise.all([
      search.passing(filters, FILE_CANDIDATES, 0),
      store.shown(question.session),
    ])
    if (rows.length === 0) return []
    const named = (await search.observations(rows.map(idOf))).filter(
      ({ id, session, supersededBy }) => session !== question.session && supersededBy === null && !shown.includes(id),
    )
    const directories = await this.#directoriesOf(named)
    return named
      .filter(({ session, filesModified, filesRead }) =>
        [...filesModified, ...filesRead].some((path) => isSameFile(path, question, directories.get(session) ?? null)),
      )
      .slice(0, FILE_ITEMS)
  }

  /** Where each session worked: what it says about files is seen from there. */
  async #directoriesOf(observations: readonly LinkedObservation[]): Promise<Map<string, string>> {
    const directories = new Map<string, string>()
    for (const session of new Set(observations.map((observation) => observation.session))) {
      const row = await this.#options.store.session(session)
      if (row !== null) directories.set(session, row.cwd)
    }
    return directories
  }

  /** Noted before it is given: a client that dies in between misses it, and none gets it twice. */
  async #give(
    session: string,
    found: readonly LinkedObservation[],
    heading: string,
    isLate: () => boolean,
  ): Promise<string> {
    if (found.length === 0 || isLate()) return ''
    const now = (this.#options.now ?? Date.now)()
    const marked = await this.#options.store.markShown(
      session,
      found.map(({ id }) => id),
      now,
    )
    return recallText(
      heading,
      found.filter(({ id }) => marked.includes(id)),
      now,
    )
  }

  async #inTime(what: string, work: (isLate: () => boolean) => Promise<string>): Promise<string> {
    const { deadlineMs = DEADLINE_MS, log } = this.#options
    let late = false
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        late = true
        reject(new Error(`no answer within ${deadlineMs} ms`))
      }, deadlineMs)
    })
    try {
      return await Promise.race([work(() => late), deadline])
    } catch (error) {
      log(what, error)
      return ''
    } finally {
      clearTimeout(timer)
    }
  }
}
