/** ctest, GoogleTest, Catch2 and doctest. */
import { allLines, int, lastLine, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { detail, failure, report, type TestReport } from './report.ts'

export function ctest(out: Output): TestReport | null {
  const found = lastLine(out, /^\d+% tests passed, (\d+) tests? failed out of (\d+)/)
  if (!found) return null
  const faults = allLines(
    out,
    /^\s+\d+ - (\S.{0,120}?) \((Failed|Timeout|SEGFAULT|Not Run|Subprocess aborted|\w[\w ]*)\)/,
  ).map(([, name, how]) => fault(`${name}: ${how}`))
  const failed = int(found[1])
  return report({
    passed: int(found[2]) - failed,
    failed,
    seconds: parseSeconds(lastLine(out, /^Total Test time \(real\) =\s+([\d.]+)/)?.[1]),
    faults,
  })
}

export function googleTest(out: Output): TestReport | null {
  const ran = lastLine(out, /^\[=+\] (\d+) tests? from .+ ran\. \((\d+) ms total\)/)
  if (!ran) return null
  const failed = int(lastLine(out, /^\[ {2}FAILED {2}\] (\d+) tests?, listed below/)?.[1])
  const faults = out.lines.flatMap((line, i) => {
    const place = /^(\S{1,200}\.\w+:\d+): Failure$/.exec(line)
    if (!place) return []
    const name =
      out.lines
        .slice(Math.max(0, i - 20), i)
        .reverse()
        .flatMap((above) => /^\[ RUN {6}\] (\S+)/.exec(above)?.[1] ?? [])[0] ?? 'test'
    const said = out.lines
      .slice(i + 1, i + 6)
      .filter((next) => !/^\[/.test(next))
      .map((next) => next.trim())
      .join(' ')
    return [fault(`${name}: ${said}`, place[1] ?? null)]
  })
  const skipped = int(lastLine(out, /^\[ {2}SKIPPED \] (\d+) tests?/)?.[1])
  return report({
    passed: Math.max(0, int(ran[1]) - failed - skipped),
    failed,
    skipped,
    seconds: int(ran[2]) / 1000,
    faults,
  })
}

export function catch2(out: Output): TestReport | null {
  const clean = lastLine(out, /^All tests passed \(\d+ assertions? in (\d+) test cases?\)/)
  if (clean) return report({ passed: int(clean[1]) })
  const found = lastLine(out, /^(?:\[doctest\] )?test cases:\s+\d+ \|\s+(?:(\d+) passed)?(?: \|\s+)?(?:(\d+) failed)?/)
  if (!found) return null
  const faults = out.lines.flatMap((line, i) => {
    const place = /^(\S{1,200}\.\w+)[:(](\d+)\)?: (?:FAILED|ERROR)/.exec(line)
    return place
      ? [
          failure('assertion', {
            ...detail(out.lines, i + 1, /^(?:={5}|-{5})/, /$^/),
            place: `${place[1]}:${place[2]}`,
          }),
        ]
      : []
  })
  return report({ passed: int(found[1]), failed: int(found[2]), faults })
}
