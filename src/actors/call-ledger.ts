/** The calls that one effect makes. What is still open when the effect ends was sent, but never answered. */
import type { Effect } from '../../machines/session/types.ts'
import type { CallEnd, CallLedger, CallStart, ModelCall } from '../memory/call.ts'

interface Entry {
  call: CallStart
  at: number
  end: (CallEnd & { at: number }) | null
}

export class EffectCalls implements CallLedger {
  readonly #effect: Effect
  readonly #now: () => number
  readonly #calls: Entry[] = []

  constructor(effect: Effect, now: () => number) {
    this.#effect = effect
    this.#now = now
  }

  begin(call: CallStart): (end: CallEnd) => void {
    const entry: Entry = { call, at: this.#now(), end: null }
    this.#calls.push(entry)
    return (end) => {
      entry.end = { ...end, at: this.#now() }
    }
  }

  /** `failure`: why the effect as a whole did not come to anything. */
  list(failure: string | null): ModelCall[] {
    const { id, kind } = this.#effect
    return this.#calls.map(({ call: { expected, ...call }, at, end }) => {
      const { at: endedAt, ...result } = end ?? {
        at: this.#now(),
        ...expected,
        error: failure ?? 'never ended',
        received: null,
      }
      return { effectId: id, kind, ...call, ...result, at, durationMs: Math.max(0, endedAt - at) }
    })
  }
}
