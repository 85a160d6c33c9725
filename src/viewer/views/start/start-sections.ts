/** The text of the next start as the page lists it: sections with entries, each with what it rests on. */
import type { OutputOf } from '../../../api/index.ts'

type StartLine = OutputOf<'context'>['lines'][number]
export type LineSource = StartLine['from']
type StartPart = StartLine['part']

export interface StartEntry {
  text: string
  from: LineSource
}

export interface StartSection {
  part: StartPart
  title: string
  entries: StartEntry[]
}

/** Parts that are one thing, told in several lines. */
const WHOLE_PARTS: readonly StartPart[] = ['state', 'exchange']
const HEADING = /^## /

/** Without the frame around the text. */
export function startSections(lines: readonly StartLine[]): StartSection[] {
  const sections: StartSection[] = []
  for (const { part, text, from } of lines) {
    if (part === 'frame' || text === '') continue
    let section = sections.at(-1)
    if (section?.part !== part) {
      section = { part, title: '', entries: [] }
      sections.push(section)
    }
    if (HEADING.test(text) && from === null) section.title = text.replace(HEADING, '')
    else addEntry(section, { text: withoutDash(text), from })
  }
  return sections
}

function addEntry({ part, entries }: StartSection, entry: StartEntry): void {
  const last = entries.at(-1)
  if (last !== undefined && WHOLE_PARTS.includes(part)) last.text += `\n${entry.text}`
  else entries.push(entry)
}

const withoutDash = (text: string): string => text.replace(/^- /, '').replace(/^ {2}/gm, '')
