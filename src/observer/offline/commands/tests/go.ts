/** go test: `--- FAIL: TestTotal (0.00s)`, `ok  	shop/cart	0.012s`. */

import { plural } from '../../text.ts'
import { allLines, type Output, parseSeconds } from '../output.ts'
import { fault } from '../reading.ts'
import { report, type TestReport } from './report.ts'

const PACKAGE = /^(ok|FAIL)\s+([\w.\-/~]+)\s+(?:([\d.]+)s|\(cached\)|\[(?:build|setup) failed\])/

export function goTest(out: Output): TestReport | null {
  const packages = allLines(out, PACKAGE)
  const cases = allLines(out, /^\s*--- (PASS|FAIL|SKIP): (\S+)/)
  if (packages.length === 0 && cases.length === 0) return null
  const verdict = (name: string) => cases.filter(([, said]) => said === name).length
  const seconds = packages.reduce(
    (sum, [, , , time]) => sum + (parseSeconds(time === '' ? undefined : `${time}s`) ?? 0),
    0,
  )
  const okPackages = packages.filter(([, said]) => said === 'ok').length
  const failedPackages = packages.filter(([, said]) => said === 'FAIL').length
  const counted = verdict('PASS') > 0
  const faults = failures(out)
  return report({
    passed: counted ? verdict('PASS') : okPackages,
    failed: counted ? Math.max(verdict('FAIL'), failedPackages) : failedPackages,
    skipped: verdict('SKIP'),
    seconds: seconds > 0 ? seconds : null,
    faults,
    ...(counted ? {} : { unit: 'package' }),
    ...(!counted && verdict('FAIL') > 0 ? { extra: [plural(verdict('FAIL'), 'failing test')] } : {}),
  })
}

function failures(out: Output) {
  const named = out.lines.flatMap((line, i) => {
    const head = /^\s*--- FAIL: (\S+)/.exec(line)
    if (!head) return []
    const said = below(out.lines, i + 1)
    return [fault(said.message === '' ? `${head[1]} failed` : `${head[1]}: ${said.message}`, said.place)]
  })
  // A parent only repeats that one of its subtests failed.
  const names = named.map((one) => one.message.replace(/[: ].*$/, ''))
  return named.filter(
    (one, i) => !(/ failed$/.test(one.message) && names.some((name) => name.startsWith(`${names[i]}/`))),
  )
}

function below(lines: string[], from: number): { message: string; place: string | null } {
  let place: string | null = null
  const said: string[] = []
  for (let i = from; i < Math.min(lines.length, from + 14); i++) {
    const line = lines[i] ?? ''
    if (/^\s*(?:---|===) |^(?:FAIL|PASS|ok)\b/.test(line)) break
    const log = /^\s+(\S+\.go:\d+): ?(.*)$/.exec(line)
    const labelled = /^\s+(?:Error:\s+(\S.*)|(expected|actual)\s*:\s*(.+))$/.exec(line)
    if (log && place === null) {
      place = log[1] ?? null
      if ((log[2] ?? '').trim() !== '') said.push((log[2] ?? '').trim())
    } else if (labelled) said.push(labelled[1] ?? `${labelled[2]} ${labelled[3]}`)
  }
  return { message: said.slice(0, 3).join('; '), place }
}
