/**
 * Preloaded into daemons and hooks of a chaos run (NODE_OPTIONS=--require): shifts their wall clock by the milliseconds
 * in the file CHAOS_CLOCK, as if somebody had set the clock of the machine. Timers go on in real time.
 */
const { readFileSync } = require('node:fs')

/** How long an offset is used before the file is read again, in ms. */
const READ_EVERY_MS = 20
const file = process.env.CHAOS_CLOCK
const realNow = Date.now
let offset = 0
let readAt = Number.NEGATIVE_INFINITY

function shift() {
  const at = performance.now()
  if (at - readAt < READ_EVERY_MS) return offset
  readAt = at
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    // Not written yet: the last offset stays.
  }
  return offset
}

if (file !== undefined) {
  Date.now = () => realNow() + shift()
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
  })
}
