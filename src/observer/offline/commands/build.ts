/** Builds: whether, how long, what came out, how many warnings. */

import { plural, unique } from '../text.ts'
import { allLines, clip, int, lastLine, listed, type Output, parseSeconds, showSeconds } from './output.ts'
import { type Reader, reading } from './reading.ts'

const FAILED: RegExp[] = [
  /^(?:\[\w+\] )?BUILD FAIL(?:ED|URE)/,
  /^Build FAILED/,
  /^error: could not compile/,
  /^(?:webpack|rspack) .*compiled with (\d+) errors?/,
  /^(?:✗ Build failed|error during build:|Build failed)/i,
  /^(?:> )?Failed to compile/,
  /: \*\*\* \[.+\] Error \d+/,
  /^\d+ errors?$/,
  /^collect2: error|^ninja: build stopped/,
  /^✘ \[ERROR\] /,
  /: error TS\d+: /,
  /^[^\s:]{1,250}:\d+:\d+: (?:fatal )?error: /,
]
const DONE: RegExp[] = [
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

export const readBuild: Reader = (run, out) => {
  const broken = FAILED.some((rule) => lastLine(out, rule) !== null)
  const done = broken ? null : firstOf(out, DONE)
  const made = artefacts(out)
  const warnings = warningCount(out)
  if (!broken && done === null && made.length === 0 && warnings === 0) return null
  const seconds = done === null || done === '' ? null : parseSeconds(done)
  const time = seconds === null ? '' : ` in ${showSeconds(seconds)}`
  const warned = warnings > 0 ? `, ${plural(warnings, 'warning')}` : ''
  const errors = int((lastLine(out, /^\s+(\d+) Error\(s\)/) ?? lastLine(out, /^(\d+) errors?$/))?.[1])
  const headline = broken
    ? `build failed${errors > 0 ? `, ${plural(errors, 'error')}` : ''}${warned}`
    : `build succeeded${time}${warned}`
  const facts = [`Build: ${headline.replace(/^build /, '')} (${clip(run.shown, 80)})`]
  if (!broken && made.length > 0) facts.push(`Build output: ${listed(made, 6)}`)
  return reading({ headline, facts, failed: broken })
}

function firstOf(out: Output, rules: RegExp[]): string | null {
  for (const rule of rules) {
    const found = lastLine(out, rule)
    if (found) return found[1] ?? ''
  }
  return null
}

function artefacts(out: Output): string[] {
  const sized = allLines(
    out,
    /^(?:\w{3} )?\s*((?:[\w@.-]+\/)+[\w@.[\]-]+\.\w{1,5})\s+([\d.,]+ ?(?:[kKMG]i?)?[bB])\b(?:.*?gzip:\s+([\d.,]+ ?[kKM]?B))?/,
  ).map(([, file, size, gzip]) => `${file} ${size}${gzip ? ` (gzip ${gzip})` : ''}`)
  const assets = allLines(out, /^asset (\S+) ([\d.]+ [KM]?i?B|[\d.]+ bytes)/).map(([, file, size]) => `${file} ${size}`)
  const jars = allLines(out, /Building (?:jar|war): (\S+)/).map(([, file = '']) => file)
  const wheels = allLines(out, /^Successfully built (\S+\.(?:whl|tar\.gz)(?: and \S+)?)/).map(([, file = '']) => file)
  const dlls = allLines(out, /^\s+\S+ -> (\S+\.(?:dll|exe))$/).map(([, file = '']) => file)
  return unique([...sized, ...assets, ...jars, ...wheels, ...dlls])
}

function warningCount(out: Output): number {
  const stated =
    lastLine(out, /^\s+(\d+) Warning\(s\)/) ??
    lastLine(out, /compiled with (\d+) warnings?/) ??
    lastLine(out, /generated (\d+) warnings?/)
  return stated ? int(stated[1]) : allLines(out, /^[^\s:]{1,250}:\d+:(?:\d+:)? warning: /).length
}
