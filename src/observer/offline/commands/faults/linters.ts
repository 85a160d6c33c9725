/** What linters point at. */
import { allLines, type Output } from '../output.ts'
import { type Fault, fault } from '../reading.ts'

/** eslint and stylelint print the file once, then its lines. */
function stylish(out: Output): Fault[] {
  let file = ''
  const errors: Fault[] = []
  for (const line of out.lines) {
    const head = /^((?:\/|[A-Za-z]:|\.{0,2}\/?[\w@-])[^\s:]{0,250}\.\w{1,8})$/.exec(line)
    if (head) file = head[1] ?? ''
    const row = /^\s+(\d+):(\d+)\s+(?:error|✖)\s+(.+?)(?:\s{2,}(\S+))?$/.exec(line)
    if (row && file !== '')
      errors.push(fault(row[4] ? `${row[3]} (${row[4]})` : (row[3] ?? ''), `${file}:${row[1]}:${row[2]}`))
  }
  return errors
}

/** `file:line:column: message`, with what marks the message as a linter's. */
const ROWS: RegExp[] = [
  /^([^\s:]{1,250}\.\w+:\d+(?::\d+)?): (?:error: )?([A-Z]{1,5}\d{2,5}:? .+)$/, // ruff, flake8, pylint
  /^([^\s:]{1,250}\.pyi?:\d+(?::\d+)?): error: (.+)$/, // mypy
  /^\s*(\/?[^\s:]{1,250}\.pyi?:\d+:\d+) - error: (.+)$/, // pyright
  /^([^\s:]{1,250}\.(?:rb|rake):\d+:\d+): ([CWEF]: .+)$/, // rubocop
  /^([^\s:]{1,250}\.\w+:\d+:\d+) (lint\/\S+|parse|format|assist\/\S+)(?: .*)?$/, // biome
]

export function linters(out: Output): Fault[] {
  const rows = ROWS.flatMap((rule) =>
    allLines(out, rule).map(([, place = '', said = '']) => fault(said.replace(/\s*[━─]+$/, ''), place)),
  )
  const ruff = out.lines.flatMap((line, i) => {
    const head = /^([A-Z]{1,4}\d{3,4} .+)$/.exec(line)
    const place = /^\s*--> (\S+:\d+:\d+)/.exec(out.lines[i + 1] ?? '')
    return head && place ? [fault(head[1] ?? '', place[1] ?? null)] : []
  })
  const shellcheck = out.lines.flatMap((line, i) => {
    const head = /^In (\S+) line (\d+):$/.exec(line)
    const said = head
      ? out.lines.slice(i + 1, i + 5).flatMap((next) => /(SC\d{4}.+)$/.exec(next)?.[1] ?? [])[0]
      : undefined
    return head && said ? [fault(said, `${head[1]}:${head[2]}`)] : []
  })
  const flow = out.lines.flatMap((line, i) => {
    const head = /^Error -{3,} (\S+:\d+:\d+)$/.exec(line)
    return head ? [fault((out.lines[i + 2] ?? '').trim(), head[1] ?? null)] : []
  })
  const unformatted = allLines(out, /^(?:\[warn\] |would reformat |Would reformat: )((?!Code style)\S+\.\w+)$/).map(
    ([, file = '']) => fault('not formatted', file),
  )
  return [...stylish(out), ...rows, ...ruff, ...shellcheck, ...flow, ...unformatted]
}
