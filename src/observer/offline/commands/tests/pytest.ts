/** pytest: `=== 1 failed, 41 passed in 2.31s ===`. */
import { lastLine, type Output, parseSeconds } from '../output.ts'
import { type Fault, fault } from '../reading.ts'
import { count, report, type TestReport } from './report.ts'

const SUMMARY =
  /^(?:=+ )?((?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests ran) in ([\d.]+)s/
const SHORT = /^(FAILED|ERROR) (\S+?\.py(?:::\S.{0,150}?)?)(?: - (.*))?$/

export function pytest(out: Output): TestReport | null {
  const summary = lastLine(out, SUMMARY)
  if (!summary) return null
  const [, counts = '', seconds = ''] = summary
  const warnings = count(counts, 'warnings?')
  return report({
    failed: count(counts, 'failed') + count(counts, 'errors?'),
    passed: count(counts, 'passed') + count(counts, 'xpassed'),
    skipped: count(counts, 'skipped') + count(counts, 'xfailed'),
    seconds: parseSeconds(`${seconds}s`),
    faults: failures(out),
    ...(warnings > 0 ? { extra: [`${warnings} warning${warnings === 1 ? '' : 's'}`] } : {}),
  })
}

function failures(out: Output): Fault[] {
  const blocks = sections(out)
  const short = out.lines.flatMap((line) => {
    const found = SHORT.exec(line)
    if (!found) return []
    const [, , id = '', why = ''] = found
    const block = blocks.find((one) => one.name !== '' && id.endsWith(`::${one.name.replaceAll('.', '::')}`))
    // The summary line is cut at the terminal's width; the E line is whole.
    const cut = why === '' || why.endsWith('...')
    const message = cut ? (block?.message ?? why) : why
    return [fault(message === '' ? id : `${id}: ${message}`, block?.place ?? null)]
  })
  return short.length > 0 ? short : blocks.map((one) => fault(`${one.name}: ${one.message}`, one.place))
}

interface Block {
  name: string
  message: string
  place: string | null
}

function sections(out: Output): Block[] {
  const blocks: Block[] = []
  for (const line of out.lines) {
    const head = /^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(\S.{0,150}?) _{3,}$/.exec(line)
    if (head) {
      blocks.push({ name: head[1] ?? '', message: '', place: null })
      continue
    }
    const block = blocks.at(-1)
    if (block === undefined) continue
    const said = /^E {3,}(\S.*)$/.exec(line)
    if (said && block.message === '') block.message = said[1] ?? ''
    const place = /^((?:[A-Za-z]:)?[^\s:]{1,200}\.py:\d+): /.exec(line)
    if (place && !/site-packages/.test(line)) block.place = place[1] ?? null
  }
  return blocks.filter((one) => one.message !== '')
}
