/** What a session has under way, how long already, and how long it may take: a bar that shrinks. */
import { useEffect, useState } from 'preact/hooks'
import type { Effect } from '../../../machines/session/types.ts'
import { counted, duration, exactTime } from '../times.ts'
import { safeLine } from './safe-text.ts'
import './flight.css'

/** In ms. */
const TICK_MS = 1_000

export function Flight({ effect }: { effect: Effect }) {
  const now = useSeconds()
  const since = effect.deadline - effect.timeoutMs
  const left = Math.max(0, Math.min(1, (effect.deadline - now) / effect.timeoutMs))
  return (
    <div class="flight" data-effect={effect.kind}>
      <div class="flight-words">
        <span>{wordsOf(effect)}</span>
        <span class="figure soft" title={`Given up at ${exactTime(effect.deadline)}`}>
          {duration(Math.max(0, now - since))} of {duration(effect.timeoutMs)}
        </span>
      </div>
      <div class="flight-track">
        <div class="flight-bar" style={{ transform: `scaleX(${left})` }} />
      </div>
      {effect.offline === null ? null : <p class="soft">Without a model: {safeLine(effect.offline)}</p>}
    </div>
  )
}

function wordsOf(effect: Effect): string {
  switch (effect.kind) {
    case 'observe':
      return `Observing turn ${effect.prompt}, up to ${counted(effect.limit, 'message')}`
    case 'summarize':
      return `Summarizing turn ${effect.prompt}`
    case 'compact':
      return 'Compacting its conversation'
  }
}

function useSeconds(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
