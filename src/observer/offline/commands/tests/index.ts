/** Test runs: the runners by the words of their summaries, because `npm test` does not say which one it calls. */
import { lastLine, type Output } from '../output.ts'
import type { Reading, Run } from '../reading.ts'
import { cargo } from './cargo.ts'
import { bun, deno } from './deno-bun.ts'
import { dotnet } from './dotnet.ts'
import { goTest } from './go.ts'
import { gradle, scalaTest, surefire } from './java.ts'
import { jest } from './jest.ts'
import { mocha } from './mocha.ts'
import { catch2, ctest, googleTest } from './native.ts'
import { ava, dart, exUnit, karma, swift } from './others.ts'
import { pest, phpunit } from './php.ts'
import { plainSummary } from './plain.ts'
import { playwright } from './playwright.ts'
import { pytest } from './pytest.ts'
import { type TestReader, toReading } from './report.ts'
import { minitest, rspec } from './ruby.ts'
import { bats, nodeTest, tap } from './tap.ts'
import { unittest } from './unittest.ts'
import { vitest } from './vitest.ts'

/** First that recognises its summary wins; the more particular stand before the more general. */
const RUNNERS: TestReader[] = [
  vitest,
  pest,
  jest,
  pytest,
  unittest,
  cargo,
  nodeTest,
  bun,
  deno,
  playwright,
  mocha,
  surefire,
  gradle,
  scalaTest,
  rspec,
  minitest,
  phpunit,
  dotnet,
  googleTest,
  catch2,
  ctest,
  bats,
  exUnit,
  swift,
  dart,
  karma,
  goTest,
  ava,
  tap,
  plainSummary,
]

export function readTests(run: Run, out: Output): Reading | null {
  for (const runner of RUNNERS) {
    const found = runner(out)
    if (found !== null) return toReading(run, found, coverage(out))
  }
  return null
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

function coverage(out: Output): string | null {
  for (const rule of COVERAGE) {
    const found = lastLine(out, rule)
    if (found) return `${found[1]} %`
  }
  return null
}
