/** How filters compare: without case, with one kind of slash. The migration's SQL does the same for plain letters. */

export function foldConcept(concept: string): string {
  return concept.replace(/\s+/g, ' ').trim().toLowerCase()
}

export function foldPath(path: string): string {
  return path
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('\\', '/')
    .toLowerCase()
}

/** Each between two line breaks, so that a whole one can be looked for. */
export function foldedList(items: readonly string[]): string {
  return items.length === 0 ? '' : `\n${items.join('\n')}\n`
}
