/**
 * The entry for events over WebSocket and REST; spooled events go to the supervisor directly, because their hook no longer
 * waits. Every event is cleaned before anything else happens with it. It is durable before `accept` resolves; a session
 * start also gets its context, and a prompt its memories.
 */
import type { Recall } from '../context/recall.ts'
import type { CleanedEvent } from '../domain/clean-event.ts'
import { type FileContextQuery, isTranscriptId, type MemoryEvent, type TurnEndEvent } from '../domain/event.ts'
import { MAX_DEPTH } from '../domain/private-parts.ts'
import { isExcluded } from '../domain/project.ts'
import { EMPTY_CONTEXT, type RenderedContext } from '../domain/rendered-context.ts'
import { faultPoint } from '../lib/faults.ts'
import type { Supervisor } from './actors/supervisor.ts'
import type { RenderedContextCache } from './rendered-context-cache.ts'
import { TranscriptWords } from './transcript-words.ts'

interface EventIntakeOptions {
  supervisor: Pick<Supervisor, 'accept' | 'clean'>
  contextCache: Pick<RenderedContextCache, 'forSession'>
  /** Null: prompts and files get no memories. */
  recall: Recall | null
  /** The key under which a project's memory is kept, after merges. */
  keyOf: (project: string) => string
  /** Paths of projects about which nothing is asked, told or kept. */
  excluded?: () => readonly string[]
  /** Called before the context of a starting session is rendered; bounded, and usually at once. */
  beforeContext?: (project: string) => Promise<void>
  /** Cleans a large event on another thread; the main thread serves others meanwhile. Missing: it is cleaned here. */
  cleanAside?: (event: MemoryEvent) => Promise<CleanedEvent>
  /** What the user is told or asked once, at a start in the directory with this key; null: nothing. */
  question?: (project: string) => string | null
}

export interface EventAnswer extends RenderedContext {
  duplicate: boolean
  /** Why nothing was kept of the event; null where it was kept. */
  skipped: string | null
}

/**
 * Cleaning takes about 6 ms for 100,000 characters. A hook sends less of one output, because it has cut it; other programs
 * send up to CLAUDE_MEM_MAX_MESSAGE_KB.
 */
const LARGE_EVENT_CHARS = 131_072

/** Whether the texts of a value have more characters than this. It stops counting there. */
function hasMoreText(value: unknown, most: number): boolean {
  let left = most
  const count = (part: unknown, depth: number): void => {
    if (typeof part === 'string') left -= part.length
    if (typeof part !== 'object' || part === null || depth > MAX_DEPTH) return
    for (const one of Object.values(part)) {
      if (left < 0) return
      count(one, depth + 1)
    }
  }
  count(value, 0)
  return left < 0
}

export class EventIntake {
  readonly #options: EventIntakeOptions
  readonly #words = new TranscriptWords()
  /**
   * Sessions with a turn end that waits for its words, or with a large event that is being cleaned. Their later events wait,
   * too, so that the order is kept.
   */
  readonly #waiting = new Map<string, Promise<void>>()

  constructor(options: EventIntakeOptions) {
    this.#options = options
  }

  /**
   * `context` is for the agent, `message` for the user; both are empty for most events. `startContext`: a prompt of a client
   * that took no context when its session started.
   */
  async accept(given: MemoryEvent, startContext = false): Promise<EventAnswer> {
    for (let before = this.#waiting.get(given.session); before; before = this.#waiting.get(given.session)) await before
    const { supervisor, cleanAside } = this.#options
    if (cleanAside === undefined || !hasMoreText(given, LARGE_EVENT_CHARS)) {
      return await this.#acceptCleaned(supervisor.clean(given), startContext)
    }
    // A thread that failed must not lose the event.
    const cleaning = cleanAside(given).catch(() => supervisor.clean(given))
    const { answer } = await this.#inTurn(given.session, cleaning, (cleaned) => ({
      answer: this.#acceptCleaned(cleaned, startContext),
    }))
    return await answer
  }

  /** Runs `use` with the result before any event of the session that arrived meanwhile. */
  async #inTurn<T, R>(session: string, result: Promise<T>, use: (value: T) => R): Promise<R> {
    const used = result.then(
      (value) => {
        this.#waiting.delete(session)
        return use(value)
      },
      (error: unknown) => {
        this.#waiting.delete(session)
        throw error
      },
    )
    const settled = () => undefined
    this.#waiting.set(session, used.then(settled, settled))
    return await used
  }

  async #acceptCleaned(cleaned: CleanedEvent, startContext: boolean): Promise<EventAnswer> {
    const { supervisor, recall } = this.#options
    if (cleaned.type === 'skipped') return { duplicate: false, skipped: cleaned.reason, ...EMPTY_CONTEXT }
    if (this.#words.isNeededFor(cleaned.event)) return await this.#acceptTurnEnd(cleaned.event)
    const { event } = cleaned
    const accepted = supervisor.accept(event)
    // Searched while the prompt is being stored.
    const recalled = this.#recallForPrompt(event, accepted)
    const { duplicate } = await accepted
    faultPoint('ack')
    // Events read from a transcript belong to a session of the past, which needs no context.
    if (event.kind !== 'session_start' || isTranscriptId(event.id)) {
      if (event.kind !== 'prompt' || !startContext) {
        return { duplicate, skipped: null, context: await recalled, message: '' }
      }
      const [start, memories] = await Promise.all([this.#contextOfStart(event), recalled])
      const context = [start.context, memories].filter((text) => text !== '').join('\n')
      return { duplicate, skipped: null, context, message: start.message }
    }
    await recall?.sessionStarts(event.session, event.source)
    return { duplicate, skipped: null, ...(await this.#contextOfStart(event)) }
  }

  async #contextOfStart({ project }: MemoryEvent): Promise<RenderedContext> {
    const { contextCache, keyOf } = this.#options
    await this.#options.beforeContext?.(keyOf(project.key))
    const rendered = await contextCache.forSession(keyOf(project.key))
    const question = this.#options.question?.(project.key) ?? null
    const message = question === null ? rendered.message : `${question}\n${rendered.message}`.trimEnd()
    return { ...rendered, message }
  }

  /** With what the agent wrote between tool uses, if its transcript can be read. */
  async #acceptTurnEnd(event: TurnEndEvent & { transcriptPath: string }): Promise<EventAnswer> {
    const { supervisor } = this.#options
    const reading = this.#words.read(event, this.#options.excluded?.())
    const { accepted } = await this.#inTurn(event.session, reading, (words) => {
      const cleaned = supervisor.clean({ ...event, words })
      // The result is awaited below; here only the order counts.
      return { accepted: supervisor.accept(cleaned.type === 'event' ? cleaned.event : event) }
    })
    const { duplicate } = await accepted
    faultPoint('ack')
    return { duplicate, skipped: null, ...EMPTY_CONTEXT }
  }

  /** What is known about a file that is about to be read; empty where nothing is. */
  async fileContext(question: FileContextQuery): Promise<string> {
    if (isExcluded(question.cwd, question.project, this.#options.excluded?.() ?? [])) return ''
    return (await this.#options.recall?.forFile(question)) ?? ''
  }

  async #recallForPrompt(event: MemoryEvent, accepted: Promise<{ duplicate: boolean }>): Promise<string> {
    if (event.kind !== 'prompt' || isTranscriptId(event.id)) return ''
    const isNew = accepted.then(
      ({ duplicate }) => !duplicate,
      () => false,
    )
    return (await this.#options.recall?.forPrompt(event, isNew)) ?? ''
  }
}
