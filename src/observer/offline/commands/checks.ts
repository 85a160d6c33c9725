/** Linters and type checkers: how many errors and warnings. */

import { plural } from '../text.ts'
import { int, lastLine, type Output } from './output.ts'
import { type Reader, reading } from './reading.ts'

interface Counts {
  errors: number
  warnings: number
  /** Where the tool counts something else: `3 files would be reformatted`. */
  said?: string
}

type Rule = [RegExp, (found: string[]) => Counts]

const RULES: Rule[] = [
  [
    /^✖ \d+ problems? \((\d+) errors?, (\d+) warnings?\)/,
    ([, errors, warnings]) => ({ errors: int(errors), warnings: int(warnings) }),
  ],
  [
    /^(\d+) errors?, (\d+) warnings?, \d+ (?:informations?|notes?)/,
    ([, errors, warnings]) => ({ errors: int(errors), warnings: int(warnings) }),
  ],
  [
    /^Found (\d+) warnings? and (\d+) errors?/,
    ([, warnings, errors]) => ({ errors: int(errors), warnings: int(warnings) }),
  ],
  [
    /^\d+ files? inspected, (?:(\d+) offenses?|no offenses) detected/,
    ([, errors]) => ({ errors: int(errors), warnings: 0, said: `${int(errors)} offenses` }),
  ],
  [/^(?:Found|Fixed) .*\(\d+ fixed, (\d+) remaining\)/, ([, errors]) => ({ errors: int(errors), warnings: 0 })],
  [/^\s*(?:\[ERROR\] )?Found (\d+) errors?(?: in (.+))?/, ([, errors]) => ({ errors: int(errors), warnings: 0 })],
  [/^(\d+) issues?(?::|$)/, ([, errors]) => ({ errors: int(errors), warnings: 0 })],
  [
    /^(\d+) files? would be reformatted/,
    ([, files]) => ({ errors: int(files), warnings: 0, said: `${plural(int(files), 'file')} would be reformatted` }),
  ],
  [
    /^(\d+) files? reformatted/,
    ([, files]) => ({ errors: 0, warnings: 0, said: `${plural(int(files), 'file')} reformatted` }),
  ],
  [
    /^\[warn\] Code style issues (?:found )?in (\d+ files|the above file|.+?)(?:\.|$)/,
    ([, where]) => ({ errors: 1, warnings: 0, said: `code style issues in ${where}` }),
  ],
  [
    /^error: could not compile .+ due to (?:(\d+) previous errors?|previous error)/,
    ([, errors]) => ({ errors: Math.max(1, int(errors)), warnings: 0 }),
  ],
  [
    /^(?:All checks passed!|Success: no issues found|No (?:lint )?errors!?|All matched files use Prettier|All done! .*|✔ No (?:issues|ESLint).*|\s*\[OK\] No errors|0 issues\.)/,
    () => ({ errors: 0, warnings: 0 }),
  ],
  [/^Checked \d+ files? in .+\. (?:No fixes applied|Fixed \d+ files?)/, () => ({ errors: 0, warnings: 0 })],
]

const ERROR_ROW =
  /: error TS\d+: | - error TS\d+: |^[^\s:]{1,250}\.py:\d+: error: |^[^\s:]{1,250}\.\w+:\d+:\d+: [A-Z]{1,3}\d{3,4} |^error(?:\[E\d+\])?: (?!could not compile|aborting)/

export const readChecks: Reader = (run, out) => {
  const counts = counted(out)
  if (counts === null) return null
  const warned = counts.warnings > 0 ? `, ${plural(counts.warnings, 'warning')}` : ''
  const rated = lastLine(out, /^Your code has been rated at ([\d.-]+\/10)/)?.[1]
  const headline =
    (counts.said ??
      (counts.errors === 0 && warned === '' ? 'no errors' : `${plural(counts.errors, 'error')}${warned}`)) +
    (rated ? `, rated ${rated}` : '')
  const subject = run.kind === 'typecheck' ? 'Type check' : 'Lint'
  return reading({ headline, facts: [`${subject}: ${headline} (${run.shown})`], failed: counts.errors > 0 })
}

function counted(out: Output): Counts | null {
  for (const [rule, read] of RULES) {
    const found = lastLine(out, rule)
    if (found) return read(found)
  }
  const rows = out.lines.filter((line) => ERROR_ROW.test(line)).length
  if (rows > 0) return { errors: rows, warnings: 0 }
  return lastLine(out, /^Your code has been rated/) ? { errors: 0, warnings: 0 } : null
}
