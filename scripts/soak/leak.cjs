/**
 * Loaded into the daemon by `soak --sabotage` (`node --require`): leaks memory and open files, to verify that the soak
 * detects both.
 */
const { openSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

const EVERY_MS = 1_000
const BYTES = 256 * 1024

const kept = []

if (isMainThread && process.env.SOAK_LEAK === '1') {
  setInterval(() => {
    kept.push(Buffer.alloc(BYTES, 1))
    openSync('/dev/null', 'r')
  }, EVERY_MS).unref()
}
