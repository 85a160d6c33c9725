/** Times and amounts in the language of the browser, as text and as elements. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' })
export const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }).format
export const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format
export const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' }).format
export const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }).format

function relativeTime(at: number, now: number): string {
  const ms = at - now
  const size = Math.abs(ms)
  if (size < 5 * SECOND) return 'just now'
  if (size < MINUTE) return relativeFormat.format(Math.round(ms / SECOND), 'second')
  if (size < HOUR) return relativeFormat.format(Math.round(ms / MINUTE), 'minute')
  if (size < DAY) return relativeFormat.format(Math.round(ms / HOUR), 'hour')
  if (size < 30 * DAY) return relativeFormat.format(Math.round(ms / DAY), 'day')
  return shortDay(at)
}

export function durationText(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`
  return `${(ms / HOUR).toFixed(1)} h`
}

export const compactCount = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 }).format
export const fullCount = new Intl.NumberFormat().format

/** `1 session`, `2,000 sessions`. */
export function countOf(n: number, one: string, many = `${one}s`): string {
  return `${fullCount(n)} ${n === 1 ? one : many}`
}

export function usdText(usd: number): string {
  if (usd === 0) return '$0'
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`
}

/** The current time, updated every `stepMs`. */
export function useNow(stepMs = 10 * SECOND): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), stepMs)
    return () => clearInterval(timer)
  }, [stepMs])
  return now
}

/** A point in time in any format, with the exact time as tooltip. */
export function Time({ at, class: className, children }: { at: number; class?: string; children: ComponentChildren }) {
  return (
    <time class={className} dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {children}
    </time>
  )
}

/** `2 min ago` */
export function RelativeTime({ at }: { at: number }) {
  const now = Math.max(useNow(), at)
  return <Time at={at}>{relativeTime(at, now)}</Time>
}

const secondsFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** `14:03:59`, for lines that follow each other closely. */
export function ClockTime({ at }: { at: number }) {
  return (
    <Time at={at} class="clock smaller figure soft">
      {secondsFormat.format(at)}
    </Time>
  )
}
