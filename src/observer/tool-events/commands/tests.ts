/** Test runs. The runner is recognised by its summary, because `npm test` does not name the one it calls. */
import { lastMatch, type OutputReading, type ProgramOutput, type ShellRun } from './output.ts'
import { countBefore, type TestReader, type TestReport, testReading, testReport } from './test-report.ts'
import * as compiled from './test-runners-compiled.ts'
import * as javascript from './test-runners-javascript.ts'
import * as scripting from './test-runners-scripting.ts'

/** The first that recognises its summary wins: runners with a distinctive summary are before those with a common one. */
const RUNNERS: TestReader[] = [
  javascript.vitest,
  scripting.pest,
  javascript.jest,
  scripting.pytest,
  scripting.unittest,
  compiled.cargo,
  javascript.nodeTest,
  javascript.bun,
  javascript.deno,
  javascript.playwright,
  javascript.mocha,
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
  javascript.bats,
  compiled.exUnit,
  compiled.swiftTest,
  compiled.dartTest,
  javascript.karma,
  compiled.goTest,
  javascript.ava,
  javascript.tap,
  plainSummary,
]

export function readTests(run: ShellRun, out: ProgramOutput): OutputReading | null {
  for (const runner of RUNNERS) {
    const report = runner(out)
    if (report !== null) return testReading(run, report, coverage(out))
  }
  return null
}

/** The summary of an unknown runner: `12 passed`, `3 tests failed, 40 passed`. */
function plainSummary(out: ProgramOutput): TestReport | null {
  const [line] = lastMatch(out, /^.{0,200}\b\d{1,7} (?:tests? )?(?:passed|failed|passing|failing)\b.{0,200}$/i) ?? []
  if (line === undefined) return null
  return testReport({
    passed: countBefore(line, '(?:tests? )?pass(?:ed|ing)'),
    failed: countBefore(line, '(?:tests? )?fail(?:ed|ing|ures?)'),
    skipped: countBefore(line, '(?:tests? )?skipped'),
  })
}

const COVERAGE: RegExp[] = [
  /^All files\s*\|\s*([\d.]+)/,
  /^TOTAL(?:\s+\d+){2,5}\s+([\d.]+)%/,
  /coverage: ([\d.]+)% of statements/,
  /^Line Coverage: ([\d.]+)%/,
  /^(?:Total )?[Cc]overage:? ([\d.]+)%/,
  /^\s*Lines:\s+([\d.]+)%/,
  /^([\d.]+)% coverage, \d+\/\d+ lines covered/,
]

function coverage(out: ProgramOutput): string | null {
  for (const rule of COVERAGE) {
    const percent = lastMatch(out, rule)?.[1]
    if (percent !== undefined) return `${percent} %`
  }
  return null
}
