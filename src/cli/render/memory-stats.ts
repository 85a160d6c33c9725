/** `claude-mem stats` for people: how much is remembered, of what, since when, and how well it can be found. */
import type { IndexStats, MemoryStats } from '../../channel/memory.ts'
import { ICONS } from '../../context/lines.ts'
import { OBSERVATION_TYPES } from '../../memory/observation.ts'
import { bar } from '../bar.ts'
import type { Look } from '../style.ts'
import { type Column, fields, table } from '../table.ts'
import { clean, counted } from '../text.ts'
import { bytes, minute } from '../times.ts'

const BAR_COLUMNS = 24
/** A longer list is for programs. */
const SHOWN_PROJECTS = 15
/** Two years. */
const SHOWN_MONTHS = 24

export function memoryStatsLines(stats: MemoryStats, look: Look): string[] {
  const { style } = look
  const { project, observations, projects } = stats
  const whose = project === null ? 'all projects' : clean(project.name || project.key)
  if (observations + stats.summaries + stats.prompts === 0) {
    return [
      `Nothing is remembered of ${whose} yet.`,
      style.dim('Everything else is at: claude-mem stats --project all'),
    ]
  }
  return [
    style.bold(`What is remembered of ${whose}`),
    ...fields([...amounts(stats), ...searchFields(stats, look)], look),
    '',
    ...chart(
      'TYPE',
      OBSERVATION_TYPES.map((type) => [`${ICONS[type]} ${type}`, stats.types[type]]),
      look,
    ),
    '',
    ...chart(
      'MONTH',
      stats.months.slice(-SHOWN_MONTHS).map(({ month, observations }) => [month, observations]),
      look,
    ),
    ...(project === null ? ['', ...projectLines(projects, look)] : []),
  ]
}

function amounts(stats: MemoryStats): [string, string][] {
  const { observations, summaries, prompts, sessions, oldestAt, newestAt, pinned, links, databaseBytes } = stats
  const times = oldestAt === null || newestAt === null ? '' : `, ${minute(oldestAt)} to ${minute(newestAt)}`
  return [
    ['observations', `${observations}${times}`],
    [
      'besides',
      `${counted(summaries, 'summary').replace('summarys', 'summaries')}, ${counted(prompts, 'prompt')} of ${counted(sessions, 'session')}`,
    ],
    [
      'marked',
      `${pinned} pinned, ${links.supersedes} replaced by newer ones, ${links.repeats} nearly the same as an earlier one`,
    ],
    ['database', bytes(databaseBytes)],
  ]
}

function searchFields({ index }: MemoryStats, look: Look): [string, string][] {
  const { lexical, vectors, embedder, method } = index
  const how = method === null ? 'not looked through now' : `${method} search`
  const made = `${counted(vectors.fragments, 'vector')}, ${bytes(vectors.bytes)}, ${how}`
  return [
    ['by words', partText(lexical, look)],
    ['by meaning', `${partText(vectors, look)}; ${made}`],
    ['embedder', embedderText(embedder, look)],
  ]
}

function partText({ done, total }: { done: number; total: number }, { style }: Look): string {
  if (done >= total) return style.green(`all ${total} can be found`)
  return style.yellow(`${done} of ${total} can be found`)
}

function embedderText(embedder: IndexStats['embedder'], { style }: Look): string {
  return embedder === null
    ? style.yellow('none yet: search goes by words alone')
    : `${clean(embedder.name)}, ${embedder.dimensions} dimensions`
}

function projectLines(projects: MemoryStats['projects'], look: Look): string[] {
  const shown = projects.slice(0, SHOWN_PROJECTS)
  const left = projects.length - shown.length
  return [
    ...chart(
      'PROJECT',
      shown.map(({ key, name, observations }) => [name || key, observations]),
      look,
    ),
    ...(left > 0 ? [look.style.dim(`and ${left} more: --json`)] : []),
  ]
}

function chart(title: string, rows: readonly (readonly [label: string, count: number])[], look: Look): string[] {
  const most = Math.max(0, ...rows.map(([, count]) => count))
  const columns: Column[] = [{ title, narrow: 'cut' }, { title: 'OBSERVATIONS', align: 'right' }, { title: '' }]
  const cells = rows.map(([label, count]) => [
    label,
    String(count),
    { text: bar(count, most, BAR_COLUMNS), paint: look.style.cyan },
  ])
  return table(columns, cells, look)
}
