/**
 * The entry for events over WebSocket and REST; spooled events go to the supervisor directly, because their hook no longer
 * waits. An event is durable before `accept` resolves; a session start also gets its context, and a prompt its memories.
 */
import type { Recall } from '../context/recall.ts'
import { type FileContextQuery, isTranscriptId, type MemoryEvent } from '../domain/event.ts'
import { faultPoint } from '../lib/faults.ts'
import type { Supervisor } from './actors/supervisor.ts'
import type { RenderedContextCache } from './rendered-context-cache.ts'

interface EventIntakeOptions {
  supervisor: Pick<Supervisor, 'accept'>
  contextCache: Pick<RenderedContextCache, 'forSession'>
  /** Null: prompts and files get no memories. */
  recall: Recall | null
  /** The key under which a project's memory is kept, after merges. */
  keyOf: (project: string) => string
}

export class EventIntake {
  readonly #options: EventIntakeOptions

  constructor(options: EventIntakeOptions) {
    this.#options = options
  }

  /** `context` is for the agent, `message` for the user; both are empty for most events. */
  async accept(event: MemoryEvent): Promise<{ duplicate: boolean; context: string; message: string }> {
    const { supervisor, contextCache, recall, keyOf } = this.#options
    const accepted = supervisor.accept(event)
    // Searched while the prompt is being stored.
    const recalled = this.#recallForPrompt(event, accepted)
    const { duplicate } = await accepted
    faultPoint('ack')
    // Events read from a transcript belong to a session of the past, which needs no context.
    if (event.kind !== 'session_start' || isTranscriptId(event.id)) {
      return { duplicate, context: await recalled, message: '' }
    }
    await recall?.sessionStarts(event.session, event.source)
    return { duplicate, ...(await contextCache.forSession(keyOf(event.project.key))) }
  }

  /** What is known about a file that is about to be read; empty where nothing is. */
  async fileContext(question: FileContextQuery): Promise<string> {
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
