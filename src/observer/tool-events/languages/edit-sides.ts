/** Both sides of an edit, from what the tool reported: whole texts with or without hunks, or hunks alone. */
import type { FileEdit, Hunk } from '../types.ts'
import { countLines, cutLine, MAX_FILE_CHARS, splitCodeLines } from './code-text.ts'
import type { EditSide } from './language.ts'

interface EditSides {
  old: EditSide
  new: EditSide
  added: number
  removed: number
}

/** Lines of a side that are read; further lines are only counted. */
const MAX_SIDE_LINES = 4_000

type Mark = '+' | '-' | ' '

interface Patch {
  oldStart: number
  newStart: number
  lines: { mark: Mark; text: string; change: number }[]
}

export function readEditSides(edit: FileEdit): EditSides {
  const before = readableText(edit.before)
  const after = readableText(edit.after)
  const { patches, added, removed } = readHunks(edit.hunks)
  if (patches.length > 0) {
    const oldSide = before === null ? null : markChanges(splitCodeLines(before), patches, 'oldStart', '-')
    const newSide = after === null ? null : markChanges(splitCodeLines(after), patches, 'newStart', '+')
    return {
      old: oldSide ?? (newSide && applyPatches(newSide, patches, 'newStart', '-')) ?? fragments(patches, '-'),
      new: newSide ?? (oldSide && applyPatches(oldSide, patches, 'oldStart', '+')) ?? fragments(patches, '+'),
      added,
      removed,
    }
  }
  if (before !== null && after !== null) return compareTexts(splitCodeLines(before), splitCodeLines(after))
  const oldText = edit.before ?? ''
  const newText = edit.after ?? ''
  return {
    old: allChanged(splitCodeLines(oldText.slice(0, MAX_FILE_CHARS))),
    new: allChanged(splitCodeLines(newText.slice(0, MAX_FILE_CHARS))),
    added: countLines(newText),
    removed: countLines(oldText),
  }
}

function readableText(text: string | null | undefined): string | null {
  return typeof text === 'string' && text.length <= MAX_FILE_CHARS ? text : null
}

/** Adjacent changed lines have the same change number. */
function readHunks(hunks: Hunk[]): { patches: Patch[]; added: number; removed: number } {
  const patches: Patch[] = []
  const count = { '+': 0, '-': 0, ' ': 0 }
  let change = 0
  let read = 0
  for (const { oldStart, newStart, lines: rawLines } of hunks) {
    const lines: Patch['lines'] = []
    let inChange = false
    for (const raw of rawLines) {
      const mark: Mark = raw.startsWith('+') ? '+' : raw.startsWith('-') ? '-' : ' '
      // `\ No newline at end of file`.
      if (raw.startsWith('\\')) continue
      count[mark]++
      if (read++ >= MAX_SIDE_LINES * 2) continue
      if (mark !== ' ' && !inChange) change++
      inChange = mark !== ' '
      // Enough of the line to see whether it is over the limit and ends with a carriage return.
      lines.push({ mark, text: cutLine(raw.slice(1, 600)), change: inChange ? change : 0 })
    }
    if (lines.length > 0) patches.push({ oldStart, newStart, lines })
  }
  return { patches, added: count['+'], removed: count['-'] }
}

/** A long side is cut around its first change. */
function makeSide(lines: string[], change: Int32Array, starts: Iterable<number> = [0]): EditSide {
  if (lines.length <= MAX_SIDE_LINES) return { lines, change, starts: new Set(starts) }
  const first = change.findIndex((one) => one > 0)
  const from = Math.max(0, Math.min(first - MAX_SIDE_LINES / 2, lines.length - MAX_SIDE_LINES))
  return {
    lines: lines.slice(from, from + MAX_SIDE_LINES),
    change: change.slice(from, from + MAX_SIDE_LINES),
    starts: new Set([0, ...[...starts].map((start) => start - from)]),
  }
}

function allChanged(lines: string[]): EditSide {
  return makeSide(lines, new Int32Array(lines.length).fill(1))
}

/** The lines of the file with the changes of the hunks; null where the hunks do not fit the file. */
function markChanges(lines: string[], patches: Patch[], start: 'oldStart' | 'newStart', own: Mark): EditSide | null {
  const change = new Int32Array(lines.length)
  for (const patch of patches) {
    // The start of an empty side is one line early.
    let at = Math.max(0, patch[start] - 1)
    for (const { mark, text, change: number } of patch.lines) {
      if (mark !== ' ' && mark !== own) continue
      const line = lines[at] ?? (at === lines.length ? '' : undefined)
      // Without leading blanks, because the client shows tabs as blanks.
      if (line === undefined || line.trim() !== text.trim()) return null
      change[at++] = number
    }
  }
  return makeSide(lines, change)
}

/** The other side of a whole file, made by applying the hunks to it. */
function applyPatches(known: EditSide, patches: Patch[], start: 'oldStart' | 'newStart', own: Mark): EditSide | null {
  if (known.lines.length >= MAX_SIDE_LINES) return null
  const lines: string[] = []
  const change: number[] = []
  let next = 0
  const copyUntil = (end: number) => {
    for (; next < end && next < known.lines.length; next++) {
      lines.push(known.lines[next] ?? '')
      change.push(0)
    }
  }
  for (const patch of patches) {
    const onlyAdds = patch.lines.every((line) => line.mark === own)
    const from = Math.max(0, onlyAdds ? patch[start] : patch[start] - 1)
    if (from < next) return null
    copyUntil(from)
    const tabs = showsTabsAsBlanks(known.lines, patch, from, own)
    for (const { mark, text, change: number } of patch.lines) {
      if (mark === ' ') lines.push(known.lines[next] ?? text)
      else if (mark === own)
        lines.push(tabs ? text.replace(/^(?: {2})+/, (blanks) => '\t'.repeat(blanks.length / 2)) : text)
      if (mark === ' ' || mark === own) change.push(number)
      if (mark !== own) next++
    }
  }
  copyUntil(known.lines.length)
  return makeSide(lines, Int32Array.from(change))
}

function showsTabsAsBlanks(lines: string[], patch: Patch, from: number, own: Mark): boolean {
  return patch.lines
    .filter((line) => line.mark !== own)
    .some((line, i) => lines[from + i]?.startsWith('\t') && line.text.startsWith('  '))
}

function fragments(patches: Patch[], own: Mark): EditSide {
  const starts: number[] = []
  const lines: Patch['lines'] = []
  for (const patch of patches) {
    starts.push(lines.length)
    lines.push(...patch.lines.filter(({ mark }) => mark === ' ' || mark === own))
  }
  return makeSide(
    lines.map(({ text }) => text),
    Int32Array.from(lines, ({ change }) => change),
    starts,
  )
}

/** Without hunks: the lines between the common beginning and end that the other side does not have there. */
function compareTexts(before: string[], after: string[]): EditSides {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const changedLines = (lines: string[], other: string[]): Int32Array => {
    const otherLines = new Set(other.slice(head, other.length - tail))
    return Int32Array.from(lines, (line, i) => (i >= head && i < lines.length - tail && !otherLines.has(line) ? 1 : 0))
  }
  const old = changedLines(before, after)
  const now = changedLines(after, before)
  const count = (change: Int32Array) => change.reduce((sum, one) => sum + one, 0)
  return { old: makeSide(before, old), new: makeSide(after, now), added: count(now), removed: count(old) }
}
