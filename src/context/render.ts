/** The selection as text: newest day first, within a day by file, within a file newest first. */
import { dayLine } from './lines.ts'
import type { ContextEntry, ContextSelection } from './select.ts'

/** Empty where there is nothing to say. */
export function renderContext(selection: ContextSelection | null): string {
  if (selection === null) return ''
  const { head, summary, entries, foot } = selection
  return [...head, ...summary, ...timeline(entries), ...foot].join('\n')
}

function timeline(entries: readonly ContextEntry[]): string[] {
  return groupedBy(entries, ({ day }) => day).flatMap(([day, ofDay]) => [
    '',
    dayLine(day),
    ...groupedBy(ofDay, ({ group }) => group).flatMap(([group, ofGroup]) => [
      group,
      ...ofGroup.flatMap(({ row, detail }) => (detail === null ? [row] : [row, detail])),
    ]),
  ])
}

/** In the order in which the groups first appear. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups]
}
