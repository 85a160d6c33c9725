/** Answers that cannot be used: a message's fault each, until it is plain that the model never gives another. */
import { ObserverError } from '../port.ts'
import type { ChatReply } from './chat.ts'

/** In a row, after which it may be the model. Halving a batch of 500 until the culprit is alone takes ten. */
const HOPELESS_AFTER = 12
/** The first words of what came instead: they say most about why. */
const QUOTED_CHARS = 120

export class Unusable {
  readonly #model: string
  readonly #sessions = new Set<string>()
  #inARow = 0
  #everUsable = false

  constructor(model: string) {
    this.#model = model
  }

  /** An answer could be used. */
  forget(): void {
    this.#everUsable = true
    this.#start()
  }

  /**
   * A refusal is about what was asked. Anything else, again and again, from a model that never gave a usable answer or
   * to several sessions, is the model; then the row begins anew, so that one session's content never blocks the others.
   */
  failure(fault: string, { stop, usage }: ChatReply, session: string): ObserverError {
    if (stop === 'refused') return new ObserverError('message', fault, { usage })
    this.#inARow += 1
    this.#sessions.add(session)
    const isModel = this.#inARow >= HOPELESS_AFTER && (!this.#everUsable || this.#sessions.size > 1)
    if (!isModel) return new ObserverError('message', fault, { usage })
    const inARow = this.#inARow
    this.#start()
    return new ObserverError(
      'provider',
      `${this.#model} gave ${inARow} answers in a row that cannot be used; choose another model: claude-mem config set model NAME. The last: ${fault}`,
      { usage },
    )
  }

  #start(): void {
    this.#inARow = 0
    this.#sessions.clear()
  }
}

export function faultOf({ text, stop }: ChatReply): string {
  if (stop === 'refused') return 'the model refused to answer'
  if (stop === 'length') return 'the answer was cut off before it said anything'
  const words = text.replace(/\s+/g, ' ').trim()
  if (words === '') return 'the answer was empty'
  const shown = words.length > QUOTED_CHARS ? `${words.slice(0, QUOTED_CHARS)}…` : words
  return `the answer is not in the asked format: "${shown}"`
}
