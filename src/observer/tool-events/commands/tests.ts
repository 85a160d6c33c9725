/** Test runs. The runner is recognised by its summary, because `npm test` does not name the one it calls. */
import { firstRuleMatch, hasMatch, type OutputReader } from './output.ts'
import { firstRecognised, summaryReader, testReading } from './test-report.ts'
import * as compiled from './test-runners-compiled.ts'
import * as scripting from './test-runners-scripting.ts'

/** The summary of an unknown runner: `12 passed`, `3 tests failed, 40 passed`. */
const plainSummary = summaryReader({
  summary: [/^(?<list>.{0,200}\b\d{1,7} (?:tests? )?(?:passed|failed|passing|failing)\b.{0,200})$/i],
  words: {
    passed: ['# (?:tests? )?pass(?:ed|ing)'],
    failed: ['# (?:tests? )?fail(?:ed|ing|ures?)'],
    skipped: ['# (?:tests? )?skipped'],
  },
})

/** The first that recognises its summary wins: runners with a distinctive summary are before those with a common one. */
const readSummary = firstRecognised(
  scripting.vitest,
  scripting.pest,
  scripting.jest,
  scripting.pytest,
  scripting.unittest,
  compiled.cargo,
  scripting.nodeTest,
  scripting.bun,
  scripting.deno,
  scripting.playwright,
  scripting.mocha,
  compiled.surefire,
  compiled.gradleTest,
  compiled.scalaTest,
  scripting.rspec,
  scripting.minitest,
  scripting.phpunit,
  compiled.dotnetTest,
  compiled.googleTest,
  compiled.catch2,
  compiled.ctest,
  scripting.bats,
  compiled.exUnit,
  compiled.swiftTest,
  compiled.dartTest,
  scripting.karma,
  compiled.goTest,
  scripting.ava,
  scripting.tap,
  plainSummary,
)

const COVERAGE: RegExp[] = [
  /^All files\s*\|\s*([\d.]+)/,
  /^TOTAL(?:\s+\d+){2,5}\s+([\d.]+)%/,
  /coverage: ([\d.]+)% of statements/,
  /^Line Coverage: ([\d.]+)%/,
  /^(?:Total )?[Cc]overage:? ([\d.]+)%/,
  /^\s*Lines:\s+([\d.]+)%/,
  /^([\d.]+)% coverage, \d+\/\d+ lines covered/,
]

/** What every summary has: an output without any of it is not tried on all of them, which takes some milliseconds. */
const MAY_BE_SUMMARY =
  /test|pass|fail|skip|example|runs,|executed|^(?:not )?ok\b|^\d+:\d\d? \+\d|\d (?:errors?|deselected|warnings?|rerun)\b/i

export const readTests: OutputReader = (run, lines) => {
  if (!hasMatch(lines, MAY_BE_SUMMARY)) return null
  const report = readSummary(lines)
  if (report === null) return null
  const percent = firstRuleMatch(lines, COVERAGE)?.[1]
  return testReading(run, report, percent === undefined ? null : `${percent} %`)
}
