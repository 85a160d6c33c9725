/**
 * `node .ci/failed-tests.mjs RESULTS NAME`: reads Vitest's JSON report. Prints the number of tests that passed and failed. What
 * failed goes to stderr, for the end of CI's output; also tests that failed once and passed when they were run again.
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const MESSAGE_LINES = 12
const [file, name] = process.argv.slice(2)
const { numPassedTests, testResults } = JSON.parse(readFileSync(file, 'utf8'))

function print(what, path, test, message) {
  const lines = message.split('\n').slice(0, MESSAGE_LINES)
  process.stderr.write(`== ${name}: ${what}: ${path}: ${test}\n${lines.join('\n').slice(0, 2_000)}\n`)
}

let failed = 0
for (const { name: suite, status, message, assertionResults } of testResults) {
  const path = relative('.', suite)
  for (const test of assertionResults) {
    const messages = test.failureMessages.join('\n')
    if (test.status === 'failed') failed++
    if (test.status === 'failed') print('failed', path, test.fullName, messages)
    else if (messages !== '') print('UNSTABLE, passed when run again', path, test.fullName, messages)
  }
  // A file that could not be loaded, or whose worker ended, has no failed test.
  if (status === 'failed' && assertionResults.every((test) => test.status !== 'failed')) {
    failed++
    print('failed', path, '(the file)', message ?? '')
  }
}
process.stdout.write(`${numPassedTests} ${failed}\n`)
