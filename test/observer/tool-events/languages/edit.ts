/** Edits as the client sends them, made from two texts. */
import type { FileEdit, Hunk } from '../../../../src/observer/tool-events/types.ts'

const CONTEXT = 3

export function edited(file: string, before: string, after: string): FileEdit {
  return { file, before, after, hunks: hunksOf(before.split('\n'), after.split('\n')) }
}

export function created(file: string, after: string): FileEdit {
  return { file, before: null, after, hunks: [] }
}

/** A patch without the texts before and after. */
export function patched(file: string, ...lines: string[]): FileEdit {
  return { file, before: undefined, after: undefined, hunks: [{ oldStart: 1, newStart: 1, lines }] }
}

function hunksOf(a: string[], b: string[]): Hunk[] {
  const ops = diff(a, b)
  const hunks: Hunk[] = []
  let last = -1
  let oldLine = 1
  let newLine = 1
  const starts = ops.map((op) => {
    const at = { old: oldLine, new: newLine }
    if (op[0] !== '+') oldLine++
    if (op[0] !== '-') newLine++
    return at
  })
  for (let i = 0; i < ops.length; i++) {
    if (ops[i]?.[0] === ' ') continue
    let end = i
    for (let j = i; j < Math.min(ops.length, end + CONTEXT * 2 + 1); j++) if (ops[j]?.[0] !== ' ') end = j
    const from = Math.max(last + 1, i - CONTEXT)
    const to = Math.min(ops.length - 1, end + CONTEXT)
    hunks.push({ oldStart: starts[from]?.old ?? 1, newStart: starts[from]?.new ?? 1, lines: ops.slice(from, to + 1) })
    last = to
    i = to
  }
  return hunks
}

function diff(a: string[], b: string[]): string[] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  const at = (i: number, j: number): number => table[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    const row = table[i] ?? []
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const ops: string[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      ops.push(` ${a[i]}`)
      i++
      j++
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) ops.push(`-${a[i++]}`)
    else ops.push(`+${b[j++]}`)
  }
  return ops
}
