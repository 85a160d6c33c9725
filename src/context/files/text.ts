/**
 * What a section says: short, for models and people, and the same for as long as the memory is. It stands in a code
 * block: Markdown in a memory, such as an image or an `@import`, stays letters.
 */
import type { Observation, Summary } from '../../memory/observation.ts'
import { ICONS } from '../lines.ts'
import { plain, shorten } from '../text.ts'
import { dayOf } from '../times.ts'

const TITLE_CHARS = 120
const NEXT_CHARS = 320

const HEADING = '## Recent Memory'
const FENCE = '```'
/** Marks of ours in a memory would end the section. */
const MARKS = /claude-mem:(?=begin|end)/gi

/** What makes Cursor read a file with every request. */
export const CURSOR_HEADER: readonly string[] = [
  '---',
  'description: What earlier sessions learned about this project (written by claude-mem)',
  'alwaysApply: true',
  '---',
]

/** Null where there is nothing to say. */
export function projectLines(rows: readonly Observation[], summaries: readonly Summary[]): string[] | null {
  const next = nextOf(summaries)
  const lines = [...(next === '' ? [] : [`Next: ${next}`]), ...rows.map(rowLine)]
  return lines.length === 0 ? null : block('What earlier sessions learned about this project', lines)
}

export function folderLines(rows: readonly Observation[]): string[] | null {
  return rows.length === 0 ? null : block('What earlier sessions learned about this folder', rows.map(rowLine))
}

/** Of the newest turn that came to something: what an older one left to do may be done. */
function nextOf(summaries: readonly Summary[]): string {
  const telling = summaries.find(({ learned, completed, nextSteps }) =>
    [learned, completed, nextSteps].some((text) => plain(text ?? '') !== ''),
  )
  return shown(telling?.nextSteps ?? '', NEXT_CHARS)
}

function block(about: string, lines: readonly string[]): string[] {
  // No line can end the code block: each begins with words of ours.
  return [HEADING, `${about}; \`claude-mem show ID\` tells more.`, `${FENCE}text`, ...lines, FENCE]
}

function rowLine(observation: Observation): string {
  return `#${observation.id} ${dayOf(observation.createdAt)} ${ICONS[observation.type]} ${titleOf(observation)}`
}

export function titleOf({ title, subtitle, narrative }: Observation): string {
  const told = [title, subtitle, narrative].map((text) => shown(text ?? '', TITLE_CHARS))
  return told.find((text) => text !== '') ?? '(untitled)'
}

function shown(text: string, max: number): string {
  return shorten(plain(text).replace(MARKS, 'claude-mem '), max)
}
