/** Builds, type checks and linters: whether they succeeded, how long they took, how many errors and warnings. */
import { pluralize } from '../../../lib/format.ts'
import { joinNames, unique } from '../text.ts'
import {
  allMatches,
  clipLine,
  firstRuleMatch,
  hasMatch,
  lastMatch,
  type OutputReader,
  outputReading,
  parseCount,
  parseSeconds,
  showSeconds,
} from './output.ts'

const BUILD_FAILED: RegExp[] = [
  /^(?:\[\w+\] )?BUILD FAIL(?:ED|URE)/,
  /^error: could not compile/,
  /^(?:webpack|rspack) .*compiled with \d+ errors?/,
  /^(?:✗ Build failed|error during build:|Build failed)/i,
  /^(?:> )?Failed to compile/,
  /: \*\*\* \[.+\] Error \d+/,
  /^\d+ errors?$/,
  /^collect2: error|^ninja: build stopped/,
  /^✘ \[ERROR\] /,
  /: error TS\d+: /,
  /^[^\s:]{1,250}:\d+:\d+: (?:fatal )?error: /,
]
/** Group 1 is the time, where the line has it. */
const BUILD_DONE: RegExp[] = [
  /^✓ built in (.+)$/,
  /^(?:webpack|rspack) .*compiled (?:successfully|with \d+ warnings?) in (.+)$/,
  /^⚡ Done in (.+)$/,
  /Build success in (.+)$/,
  /^\s*Finished .*target\(s\) in (.+)$/,
  /^BUILD SUCCESSFUL in (.+)$/,
  /^\[INFO\] Total time:\s+(.+)$/,
  /^Time Elapsed (.+)$/,
  /^Build complete! \((.+)\)$/,
  /^\s*Time:\s+([\d.]+m?s)\s*(?:>>>.*)?$/,
  /^\[\+\] Building ([\d.]+s)/,
  /^created .+ in (.+)$/,
  /Compiled successfully(?: in (.+))?$/,
  /^(?:\[INFO\] )?BUILD SUCCESS()/,
  /^Build succeeded()/,
  /^\[100%\] Built target ()/,
  /^-- Build files have been written to: ()/,
]

export const readBuild: OutputReader = (run, lines) => {
  const failed = BUILD_FAILED.some((rule) => hasMatch(lines, rule))
  // '' where the line that reports the end of a build has no time.
  const time = failed ? undefined : firstRuleMatch(lines, BUILD_DONE)?.[1]
  const files = builtFiles(lines)
  const warnings = warningCount(lines)
  if (!failed && time === undefined && files.length === 0 && warnings === 0) return null
  const seconds = parseSeconds(time ?? '')
  const warned = warnings > 0 ? `, ${pluralize(warnings, 'warning')}` : ''
  const errors = parseCount(firstRuleMatch(lines, [/^\s+(\d+) Error\(s\)/, /^(\d+) errors?$/])?.[1])
  const result = failed
    ? `failed${errors > 0 ? `, ${pluralize(errors, 'error')}` : ''}${warned}`
    : `succeeded${seconds === null ? '' : ` in ${showSeconds(seconds)}`}${warned}`
  const facts = [`Build: ${result} (${clipLine(run.shown, 80)})`]
  if (!failed && files.length > 0) facts.push(`Build output: ${joinNames(files, 6)}`)
  return outputReading({ headline: `build ${result}`, facts, failed })
}

/** Groups: file, size, compressed size. */
const BUILT_FILES: RegExp[] = [
  /^(?:\w{3} )?\s*((?:[\w@.-]+\/)+[\w@.[\]-]+\.\w{1,5})\s+([\d.,]+ ?(?:[kKMG]i?)?[bB])\b(?:.*?gzip:\s+([\d.,]+ ?[kKM]?B))?/,
  /^asset (\S+) ([\d.]+ [KM]?i?B|[\d.]+ bytes)/,
  /Building (?:jar|war): (\S+)/,
  /^Successfully built (\S+\.(?:whl|tar\.gz)(?: and \S+)?)/,
  /^\s+\S+ -> (\S+\.(?:dll|exe))$/,
]

function builtFiles(lines: string[]): string[] {
  const files = BUILT_FILES.flatMap((rule) =>
    allMatches(lines, rule).map(
      ([, file, size, gzip]) => `${file}${size ? ` ${size}` : ''}${gzip ? ` (gzip ${gzip})` : ''}`,
    ),
  )
  return unique(files)
}

function warningCount(lines: string[]): number {
  const stated = firstRuleMatch(lines, [
    /^\s+(\d+) Warning\(s\)/,
    /compiled with (\d+) warnings?/,
    /generated (\d+) warnings?/,
  ])
  return stated ? parseCount(stated[1]) : allMatches(lines, /^[^\s:]{1,250}:\d+:(?:\d+:)? warning: /).length
}

interface LintCounts {
  errors: number
  warnings: number
  /** The headline of a tool that counts something else: `3 files would be reformatted`. */
  headline?: string
}

/** Summaries of linters and type checkers, with the groups `errors` and `warnings` where they count. */
const LINT_SUMMARIES: [RegExp, ((groups: Record<string, string | undefined>) => Partial<LintCounts>)?][] = [
  [/^✖ \d+ problems? \((?<errors>\d+) errors?, (?<warnings>\d+) warnings?\)/],
  [/^(?<errors>\d+) errors?, (?<warnings>\d+) warnings?, \d+ (?:informations?|notes?)/],
  [/^Found (?<warnings>\d+) warnings? and (?<errors>\d+) errors?/],
  [
    /^\d+ files? inspected, (?:(?<errors>\d+) offenses?|no offenses) detected/,
    ({ errors }) => ({ headline: `${parseCount(errors)} offenses` }),
  ],
  [/^(?:Found|Fixed) .*\(\d+ fixed, (?<errors>\d+) remaining\)/],
  [/^\s*(?:\[ERROR\] )?Found (?<errors>\d+) errors?(?: in (?:.+))?/],
  [/^(?<errors>\d+) issues?(?::|$)/],
  [
    /^(?<errors>\d+) files? would be reformatted/,
    ({ errors }) => ({ headline: `${pluralize(parseCount(errors), 'file')} would be reformatted` }),
  ],
  [
    /^(?<files>\d+) files? reformatted/,
    ({ files }) => ({ headline: `${pluralize(parseCount(files), 'file')} reformatted` }),
  ],
  [
    /^\[warn\] Code style issues (?:found )?in (?<where>\d+ files|the above file|.+?)(?:\.|$)/,
    ({ where }) => ({ errors: 1, headline: `code style issues in ${where}` }),
  ],
  [
    /^error: could not compile .+ due to (?:(?<errors>\d+) previous errors?|previous error)/,
    ({ errors }) => ({ errors: Math.max(1, parseCount(errors)) }),
  ],
  [
    /^(?:All checks passed!|Success: no issues found|No (?:lint )?errors!?|All matched files use Prettier|All done! .*|✔ No (?:issues|ESLint).*|\s*\[OK\] No errors|0 issues\.)/,
  ],
  [/^Checked \d+ files? in .+\. (?:No fixes applied|Fixed \d+ files?)/],
]

const ERROR_LINE =
  /: error TS\d+: | - error TS\d+: |^[^\s:]{1,250}\.py:\d+: error: |^[^\s:]{1,250}\.\w+:\d+:\d+: [A-Z]{1,3}\d{3,4} |^error(?:\[E\d+\])?: (?!could not compile|aborting)/

/** Linters and type checkers. */
export const readChecks: OutputReader = (run, lines) => {
  const counts = lintCounts(lines)
  if (counts === null) return null
  const { errors, warnings } = counts
  const counted =
    warnings > 0 ? `${pluralize(errors, 'error')}, ${pluralize(warnings, 'warning')}` : pluralize(errors, 'error')
  const rating = lastMatch(lines, /^Your code has been rated at ([\d.-]+\/10)/)?.[1]
  const result = counts.headline ?? (errors === 0 && warnings === 0 ? 'no errors' : counted)
  const headline = result + (rating ? `, rated ${rating}` : '')
  const subject = run.kind === 'typecheck' ? 'Type check' : 'Lint'
  return outputReading({ headline, facts: [`${subject}: ${headline} (${run.shown})`], failed: errors > 0 })
}

function lintCounts(lines: string[]): LintCounts | null {
  for (const [rule, more] of LINT_SUMMARIES) {
    const line = lines.findLast((text) => rule.test(text))
    if (line === undefined) continue
    const groups: Record<string, string | undefined> = rule.exec(line)?.groups ?? {}
    return { errors: parseCount(groups.errors), warnings: parseCount(groups.warnings), ...more?.(groups) }
  }
  const errors = lines.filter((line) => ERROR_LINE.test(line)).length
  if (errors > 0) return { errors, warnings: 0 }
  return hasMatch(lines, /^Your code has been rated/) ? { errors: 0, warnings: 0 } : null
}
