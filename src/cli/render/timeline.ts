/** `claude-mem timeline` for people: day by day, what stands around a moment. */
import type { Timeline, TimelineItem } from '../../channel/memory.ts'
import { dayOf, timeOf } from '../../context/times.ts'
import { tokens } from '../amounts.ts'
import type { Look } from '../style.ts'
import { clean, cut, padEnd, padStart, widthOf } from '../text.ts'
import { iconOf, labelOf } from './memory-label.ts'

const MARK = '▶'
/** Mark, id, time and icon with their gaps; a title needs some room besides. */
const LEAST_TITLE = 20

export function timelineLines({ anchor, items }: Timeline, look: Look): string[] {
  const { style } = look
  const ids = items.map(labelOf)
  const width = Math.max(0, ...ids.map(widthOf))
  const manyProjects = new Set(items.map(({ project }) => project)).size > 1
  let day = ''
  const lines = items.flatMap((item, i) => {
    const itsDay = dayOf(item.createdAt)
    const heading = itsDay === day ? [] : [...(day === '' ? [] : ['']), style.bold(itsDay)]
    day = itsDay
    const isAnchor = item.kind === 'observation' && item.id === anchor
    return [...heading, rowLine(item, padStart(ids[i] ?? '', width), isAnchor, manyProjects, look)]
  })
  const total = items.reduce((sum, item) => sum + item.tokens, 0)
  return [...lines, '', style.dim(`${items.length} in all, ~${tokens(total)} tokens to read; claude-mem show ID`)]
}

function rowLine(item: TimelineItem, id: string, isAnchor: boolean, manyProjects: boolean, look: Look): string {
  const { style, columns } = look
  const icon = padEnd(iconOf(item), 2)
  const project = manyProjects ? `  ${clean(item.projectName || item.project)}` : ''
  const cost = `  ~${tokens(item.tokens)}`
  const head = `${isAnchor ? MARK : ' '} ${id}  ${timeOf(item.createdAt)}  ${icon} `
  const room = columns === null ? Number.POSITIVE_INFINITY : columns - widthOf(head + project + cost)
  const title = cut(clean(item.title), Math.max(LEAST_TITLE, room))
  const front = `${isAnchor ? style.yellow(MARK) : ' '} ${style.cyan(id)}  ${style.dim(timeOf(item.createdAt))}`
  return `${front}  ${icon} ${isAnchor ? style.bold(title) : title}${style.dim(project + cost)}`
}
