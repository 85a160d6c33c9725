/**
 * Loaded into a daemon by the bench (`node --require`): how long its main thread does not get to its next turn. With SIGUSR2 it
 * writes the longest of them since the last time to the file named by BENCH_STALLS. On Linux the time in which the thread
 * could have run but others had the processor is taken off, and how long it worked on end is told too.
 */
const { readFileSync, writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

const EVERY_MS = 2

/** Of the main thread, in ms since its start. */
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
