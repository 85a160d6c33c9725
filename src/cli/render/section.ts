/** Parts of a page for people. */
import type { Look } from '../style.ts'

export function section(title: string, lines: readonly string[], { style }: Look): string[] {
  return ['', style.bold(title), ...lines]
}

/** In line with the fields above it. */
export function indented(render: (narrow: Look) => string[], look: Look): string[] {
  const columns = look.columns === null ? null : look.columns - 2
  return render({ ...look, columns }).map((line) => `  ${line}`)
}
