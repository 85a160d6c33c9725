/** The awake sessions. All others sleep in their rows and cost no memory. */
import { SessionActor, type SessionHost } from './session-actor.ts'

export class Registry {
  readonly #awake = new Map<string, SessionActor>()
  readonly #host: SessionHost

  constructor(host: SessionHost) {
    this.#host = host
  }

  get size(): number {
    return this.#awake.size
  }

  get(session: string): SessionActor {
    const known = this.#awake.get(session)
    if (known !== undefined) return known
    const woken = new SessionActor(session, this.#host)
    this.#awake.set(session, woken)
    return woken
  }

  /** Lets sessions sleep that had nothing to do since `idleBefore`. */
  sleep(idleBefore: number): void {
    for (const [session, actor] of this.#awake) {
      const since = actor.idleSince
      if (since !== null && since <= idleBefore) this.#awake.delete(session)
    }
  }
}
