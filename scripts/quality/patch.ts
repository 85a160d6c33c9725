/** The `structuredPatch` of Claude Code's Edit and Write: hunks of a line diff with three lines of context. */
export interface Hunk {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  lines: string[]
}

const CONTEXT_LINES = 3

interface Step {
  mark: ' ' | '-' | '+'
  text: string
}

export function structuredPatch(before: string, after: string): Hunk[] {
  if (before === after) return []
  const steps = diff(linesOf(before), linesOf(after))
  const changed = steps.flatMap((step, index) => (step.mark === ' ' ? [] : [index]))
  const ranges: { from: number; to: number }[] = []
  for (const index of changed) {
    const from = Math.max(0, index - CONTEXT_LINES)
    const to = Math.min(steps.length, index + CONTEXT_LINES + 1)
    const last = ranges.at(-1)
    if (last !== undefined && from <= last.to) last.to = to
    else ranges.push({ from, to })
  }
  return ranges.map(({ from, to }) => hunkOf(steps, from, to))
}

function hunkOf(steps: readonly Step[], from: number, to: number): Hunk {
  const ahead = steps.slice(0, from)
  const own = steps.slice(from, to)
  const count = (list: readonly Step[], not: string) => list.filter((step) => step.mark !== not).length
  return {
    oldStart: count(ahead, '+') + 1,
    oldLines: count(own, '+'),
    newStart: count(ahead, '-') + 1,
    newLines: count(own, '-'),
    lines: own.map((step) => step.mark + step.text),
  }
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Longest common subsequence between the common head and tail: the files recorded here are small. */
function diff(before: readonly string[], after: readonly string[]): Step[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const shorter = Math.min(before.length, after.length) - head
  while (tail < shorter && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const kept = (list: readonly string[]): Step[] => list.map((text) => ({ mark: ' ', text }))
  return [
    ...kept(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...kept(before.slice(before.length - tail)),
  ]
}

function middle(before: readonly string[], after: readonly string[]): Step[] {
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const steps: Step[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const old = before[i]
    const fresh = after[j]
    if (old !== undefined && old === fresh) {
      steps.push({ mark: ' ', text: old })
      i++
      j++
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      steps.push({ mark: '-', text: old })
      i++
    } else if (fresh !== undefined) {
      steps.push({ mark: '+', text: fresh })
      j++
    }
  }
  return steps
}
