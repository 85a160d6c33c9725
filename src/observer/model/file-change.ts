/** What an editing tool did, as a model should read it: the lines that changed, and the names of what they belong to. */
import type { ToolUseEvent } from '../../memory/event.ts'
import { edited } from '../offline/edits.ts'
import { type Fields, linesOf, numberIn, recordOf, textIn } from '../offline/fields.ts'

/** The client's own patch where there is one, else what was replaced by what. */
export function changeText(input: Fields, response: Fields): string {
  const patch = patchLines(response.structuredPatch)
  return (patch.length > 0 ? patch : replacements(input)).join('\n')
}

function patchLines(patch: unknown): string[] {
  if (!Array.isArray(patch)) return []
  return patch.map(recordOf).flatMap((hunk) => {
    const lines = Array.isArray(hunk.lines) ? hunk.lines.filter((line): line is string => typeof line === 'string') : []
    return lines.length === 0 ? [] : [`@@ line ${numberIn(hunk, 'newStart')}`, ...lines]
  })
}

function replacements(input: Fields): string[] {
  const edits = Array.isArray(input.edits) ? input.edits.map(recordOf) : [input]
  return edits.flatMap((edit, i) => {
    const lines = replaced(linesOf(textIn(edit, 'old_string')), linesOf(textIn(edit, 'new_string')))
    const everywhere = edit.replace_all === true ? ' (everywhere)' : ''
    return edits.length > 1 || everywhere !== '' ? [`@@ edit ${i + 1}${everywhere}`, ...lines] : lines
  })
}

/** An old and a new text mostly share their ends, there to make the place unique; one line of them is enough. */
function replaced(before: readonly string[], after: readonly string[]): string[] {
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return [
    ...before.slice(Math.max(0, head - 1), head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...after.slice(after.length - tail, after.length - tail + 1).map((line) => ` ${line}`),
  ]
}

const MAX_SYMBOLS = 15 // a new file's whole outline stands in its content

/** `new parseTotal`, `modified Cart.discount`: the rules know whose lines they are, a model would have to guess. */
export function symbolsOf(event: ToolUseEvent): string[] {
  const { symbols } = edited(event, recordOf(event.input)).change
  return symbols.slice(0, MAX_SYMBOLS).map(({ action, name }) => `${action} ${name}`)
}

/** Relative to the project where it lies inside it, else whole. */
export function placeIn(path: string, projectDir: string): string {
  const slashed = path.replaceAll('\\', '/')
  const base = projectDir.replaceAll('\\', '/').replace(/\/+$/, '')
  if (base === '') return path
  if (slashed.replace(/\/+$/, '') === base) return '.'
  return slashed.startsWith(`${base}/`) ? slashed.slice(base.length + 1) : path
}
