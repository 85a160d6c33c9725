/** Both sides of an edit, from whatever the tool said: whole texts, hunks, or hunks alone. */
import type { FileEdit, Hunk } from '../types.ts'
import type { Side } from './language.ts'
import { countLines, cutLine, FILE_MAX, splitLines } from './text.ts'

export interface Sides {
  old: Side
  new: Side
  added: number
  removed: number
}

/** Lines a side may have; what lies beyond is counted, not read. */
const SCAN_MAX = 4_000

type Mark = '+' | '-' | ' '
interface PatchLine {
  mark: Mark
  text: string
  change: number
}

export function sidesOf(edit: FileEdit): Sides {
  const before = usable(edit.before)
  const after = usable(edit.after)
  const { hunks, added, removed } = readHunks(edit.hunks)
  if (hunks.length > 0) {
    const oldLines = before === null ? null : aligned(splitLines(before), hunks, 'oldStart', '-')
    const newLines = after === null ? null : aligned(splitLines(after), hunks, 'newStart', '+')
    return {
      old: oldLines ?? (newLines && rebuilt(newLines, hunks, 'newStart', '-')) ?? fragments(hunks, '-'),
      new: newLines ?? (oldLines && rebuilt(oldLines, hunks, 'oldStart', '+')) ?? fragments(hunks, '+'),
      added,
      removed,
    }
  }
  if (before !== null && after !== null) return compared(splitLines(before), splitLines(after))
  const oldText = edit.before ?? ''
  const newText = edit.after ?? ''
  return {
    old: all(splitLines(oldText.slice(0, FILE_MAX))),
    new: all(splitLines(newText.slice(0, FILE_MAX))),
    added: countLines(newText),
    removed: countLines(oldText),
  }
}

function usable(text: string | null | undefined): string | null {
  return typeof text === 'string' && text.length <= FILE_MAX ? text : null
}

interface Patch {
  oldStart: number
  newStart: number
  lines: PatchLine[]
}

function readHunks(hunks: Hunk[]): { hunks: Patch[]; added: number; removed: number } {
  const patches: Patch[] = []
  let added = 0
  let removed = 0
  let change = 0
  let kept = 0
  for (const hunk of hunks) {
    const lines: PatchLine[] = []
    let inChange = false
    for (const raw of hunk.lines) {
      const mark: Mark = raw.startsWith('+') ? '+' : raw.startsWith('-') ? '-' : ' '
      if (mark === ' ' && raw.startsWith('\\')) continue
      if (mark === '+') added++
      if (mark === '-') removed++
      if (kept++ >= SCAN_MAX * 2) continue
      if (mark !== ' ' && !inChange) change++
      inChange = mark !== ' '
      const text = raw === '' ? '' : cutLine(raw.length > 600 ? raw.slice(1, 600) : raw.slice(1))
      lines.push({ mark, text, change: mark === ' ' ? 0 : change })
    }
    if (lines.length > 0) patches.push({ oldStart: hunk.oldStart, newStart: hunk.newStart, lines })
  }
  return { hunks: patches, added, removed }
}

function side(lines: string[], change: Int32Array, starts: Iterable<number> = [0]): Side {
  if (lines.length <= SCAN_MAX) return { lines, change, starts: new Set(starts) }
  const first = change.findIndex((one) => one > 0)
  const from = Math.max(0, Math.min(first - SCAN_MAX / 2, lines.length - SCAN_MAX))
  return {
    lines: lines.slice(from, from + SCAN_MAX),
    change: change.slice(from, from + SCAN_MAX),
    starts: new Set([0, ...[...starts].map((start) => start - from)]),
  }
}

function all(lines: string[]): Side {
  return side(lines, new Int32Array(lines.length).fill(1))
}

/** The file's lines with the hunks' changes marked on them; null where the two do not fit. */
function aligned(lines: string[], hunks: Patch[], start: 'oldStart' | 'newStart', own: Mark): Side | null {
  const change = new Int32Array(lines.length)
  for (const hunk of hunks) {
    let at = hunk[start] - 1
    // An empty side has its start one line early.
    if (at < 0) at = 0
    for (const line of hunk.lines) {
      if (line.mark !== ' ' && line.mark !== own) continue
      const there = lines[at] ?? (at === lines.length ? '' : undefined)
      // Leading blanks differ: the client shows tabs as blanks.
      if (there === undefined || there.trim() !== line.text.trim()) return null
      change[at] = line.change
      at++
    }
  }
  return side(lines, change)
}

/** The other side of a whole file, made by applying the hunks to it. */
function rebuilt(known: Side, hunks: Patch[], start: 'oldStart' | 'newStart', own: Mark): Side | null {
  if (known.lines.length >= SCAN_MAX) return null
  const lines: string[] = []
  const change: number[] = []
  let next = 0
  for (const hunk of hunks) {
    const empty = hunk.lines.every((line) => line.mark === own)
    const from = Math.max(0, empty ? hunk[start] : hunk[start] - 1)
    if (from < next) return null
    for (; next < from && next < known.lines.length; next++) {
      lines.push(known.lines[next] ?? '')
      change.push(0)
    }
    const tabs = usesTabs(known.lines, hunk, from, own)
    for (const line of hunk.lines) {
      if (line.mark === ' ') lines.push(known.lines[next] ?? line.text)
      else if (line.mark === own)
        lines.push(tabs ? line.text.replace(/^(?: {2})+/, (blanks) => '\t'.repeat(blanks.length / 2)) : line.text)
      if (line.mark === ' ' || line.mark === own) change.push(line.change)
      if (line.mark !== own) next++
    }
  }
  for (; next < known.lines.length; next++) {
    lines.push(known.lines[next] ?? '')
    change.push(0)
  }
  return side(lines, Int32Array.from(change))
}

/** Whether the hunk shows as blanks what the file has as tabs. */
function usesTabs(lines: string[], hunk: Patch, from: number, own: Mark): boolean {
  let at = from
  for (const line of hunk.lines) {
    if (line.mark === own) continue
    if (lines[at]?.startsWith('\t') && line.text.startsWith('  ')) return true
    at++
  }
  return false
}

function fragments(hunks: Patch[], own: Mark): Side {
  const lines: string[] = []
  const change: number[] = []
  const starts: number[] = []
  for (const hunk of hunks) {
    starts.push(lines.length)
    for (const line of hunk.lines) {
      if (line.mark !== ' ' && line.mark !== own) continue
      lines.push(line.text)
      change.push(line.change)
    }
  }
  return side(lines, Int32Array.from(change), starts)
}

/** Without hunks: what is left between the common beginning and end, less the lines both sides have there. */
function compared(before: string[], after: string[]): Sides {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const mark = (lines: string[], other: string[]): { change: Int32Array; count: number } => {
    const there = new Set(other.slice(head, other.length - tail))
    const change = new Int32Array(lines.length)
    let count = 0
    for (let i = head; i < lines.length - tail; i++) {
      if (there.has(lines[i] ?? '')) continue
      change[i] = 1
      count++
    }
    return { change, count }
  }
  const old = mark(before, after)
  const fresh = mark(after, before)
  return { old: side(before, old.change), new: side(after, fresh.change), added: fresh.count, removed: old.count }
}
