/**
 * Loaded into a daemon by the search benchmark (`node --require`): measures how long the main thread does not reach the
 * next turn of its event loop. On SIGUSR2 it writes the longest stall since the last signal to the file in BENCH_STALLS. On
 * Linux the time in which other processes had the processor is subtracted, and the longest run without a pause is added.
 */
const { readFileSync, writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

const EVERY_MS = 2

/** Times of the main thread since its start, in ms. */
function processorTimes() {
  try {
    const [ran, waited] = readFileSync('/proc/self/schedstat', 'latin1').split(' ').map(Number)
    return { ran: ran / 1e6, waited: waited / 1e6 }
  } catch {
    return { ran: 0, waited: 0 }
  }
}

function watch(file) {
  let longest = { stall: 0, work: 0 }
  let last = performance.now()
  let before = processorTimes()
  setInterval(() => {
    const now = performance.now()
    const times = processorTimes()
    const stall = now - last - EVERY_MS - (times.waited - before.waited)
    longest = { stall: Math.max(longest.stall, stall), work: Math.max(longest.work, times.ran - before.ran) }
    before = times
    last = now
  }, EVERY_MS).unref()
  process.on('SIGUSR2', () => {
    writeFileSync(file, JSON.stringify(longest))
    longest = { stall: 0, work: 0 }
    last = performance.now()
    before = processorTimes()
  })
}

if (isMainThread && process.env.BENCH_STALLS !== undefined) watch(process.env.BENCH_STALLS)
