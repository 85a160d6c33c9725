/** The difference of two texts, line by line, as `diff -u` writes it. */

const CONTEXT_LINES = 3

interface Line {
  mark: ' ' | '-' | '+'
  text: string
}

/** Null stands for a file that is not there. Empty when nothing differs. */
export function unifiedDiff(before: string | null, after: string | null, file: string): string[] {
  const lines = compare(linesOf(before), linesOf(after))
  if (!lines.some(({ mark }) => mark !== ' ')) return []
  return [
    `--- ${before === null ? '/dev/null' : file}`,
    `+++ ${after === null ? '/dev/null' : file}`,
    ...hunks(lines).flatMap(([start, end]) => {
      const shown = lines.slice(start, end)
      return [header(lines.slice(0, start), shown), ...shown.map(({ mark, text }) => mark + text)]
    }),
  ]
}

const NO_LINE_END = '\\ No newline at end of file'

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return []
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  return text.endsWith('\n') ? lines.slice(0, -1) : [...lines.slice(0, -1), `${lines.at(-1)}\n${NO_LINE_END}`]
}

/** The longest common subsequence, between the lines that both have at their start and at their end. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const middle = changes(before.slice(head, before.length - tail), after.slice(head, after.length - tail))
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ mark: ' ', text }))
  return [...same(before.slice(0, head)), ...middle, ...same(before.slice(before.length - tail))]
}

function changes(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]]
    if (old !== undefined && old === fresh) {
      lines.push({ mark: ' ', text: old })
      i++
      j++
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: '-', text: old })
      i++
    } else if (fresh !== undefined) {
      lines.push({ mark: '+', text: fresh })
      j++
    }
  }
  return lines
}

/** Stretches of changed lines with what stands around them. */
function hunks(lines: readonly Line[]): [start: number, end: number][] {
  const found: [number, number][] = []
  lines.forEach(({ mark }, index) => {
    if (mark === ' ') return
    const start = Math.max(0, index - CONTEXT_LINES)
    const end = Math.min(lines.length, index + CONTEXT_LINES + 1)
    const last = found.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = end
    else found.push([start, end])
  })
  return found
}

function header(above: readonly Line[], shown: readonly Line[]): string {
  const range = (other: '-' | '+') => {
    const own = (lines: readonly Line[]) => lines.filter(({ mark }) => mark === ' ' || mark === other).length
    const length = own(shown)
    return `${other}${own(above) + (length === 0 ? 0 : 1)},${length}`
  }
  return `@@ ${range('-')} ${range('+')} @@`
}
