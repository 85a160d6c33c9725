/** `claude-mem doctor` for people. */
import type { Check, State } from '../../doctor/check.ts'
import type { Look, Paint } from '../style.ts'
import { clean, counted, padEnd, wrap } from '../text.ts'

const MARKS: Record<State, string> = { ok: '✓', advice: '!', problem: '✗' }
/** As wide as the longest title. */
const TITLE_COLUMNS = 20
const INDENT = ' '.repeat(TITLE_COLUMNS + 3)
/** Below this a line that is broken says nothing. */
const LEAST_COLUMNS = 24

export function checkLines({ title, state, detail, fix }: Check, look: Look): string[] {
  const { style } = look
  const paint: Paint = { ok: style.green, advice: style.yellow, problem: style.red }[state]
  const width = look.columns === null ? Number.POSITIVE_INFINITY : Math.max(LEAST_COLUMNS, look.columns - INDENT.length)
  const [first = '', ...rest] = wrap(clean(detail), width)
  const mended = fix === null ? [] : wrap(`→ ${clean(fix)}`, width)
  return [
    `${paint(MARKS[state])} ${padEnd(clean(title), TITLE_COLUMNS)} ${first}`,
    ...rest.map((line) => INDENT + line),
    ...mended.map((line) => INDENT + style.bold(line)),
  ]
}

export function verdictLine(checks: readonly Check[], { style }: Look): string {
  const count = (state: State) => checks.filter((check) => check.state === state).length
  const problems = count('problem')
  const advised = count('advice')
  if (problems > 0) return style.red(`${counted(problems, 'problem')}; what to do stands behind the arrows`)
  if (advised > 0) return style.yellow(`It works; ${counted(advised, 'thing')} could be better`)
  return style.green('All is well')
}
