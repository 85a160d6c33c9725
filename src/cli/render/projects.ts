/** `claude-mem projects` for people. */
import type { ProjectView } from '../../channel/project-list.ts'
import type { MergeReport } from '../../channel/projects.ts'
import type { Look } from '../style.ts'
import { type Cell, table } from '../table.ts'
import { clean, counted } from '../text.ts'
import { ago } from '../times.ts'

export interface ShownProject extends ProjectView {
  excluded: boolean
}

export interface ProjectList {
  projects: readonly ShownProject[]
  /** Excluded directories of which nothing is remembered. */
  excluded: readonly string[]
}

export function projectLines({ projects, excluded }: ProjectList, look: Look): string[] {
  const rows = projects.map((project): Cell[] => [
    { text: project.name || project.key, paint: look.style.bold },
    String(project.observations),
    String(project.sessions),
    ago(project.updatedAt, look.now),
    project.place ?? '',
    { text: project.key, paint: look.style.dim },
    { text: noteOf(project), paint: look.style.yellow },
  ])
  const lines = table(
    [
      { title: 'PROJECT', narrow: 'cut' },
      { title: 'OBS', align: 'right' },
      { title: 'SESSIONS', align: 'right' },
      { title: 'LAST' },
      { title: 'PLACE', narrow: 'cut' },
      { title: 'KEY', narrow: 'cut' },
      { title: '' },
    ],
    rows,
    look,
  )
  return [
    ...(projects.length === 0 ? ['No project yet: one begins with its first session.'] : lines),
    ...(excluded.length === 0 ? [] : ['', look.style.dim('Excluded, with everything below:')]),
    ...excluded.map((place) => `  ${clean(place)}`),
  ]
}

function noteOf({ gone, excluded, merged }: ShownProject): string {
  const notes = [
    ...(gone ? ['gone'] : []),
    ...(excluded ? ['excluded'] : []),
    ...(merged.length === 0 ? [] : [`with ${merged.length} merged`]),
  ]
  return notes.join(', ')
}

export function wouldMergeLines(report: MergeReport, { style }: Look): string[] {
  const { from, into } = report
  return [
    style.bold(`To be merged: ${clean(from.name)} into ${clean(into.name)}`),
    `  ${style.dim(clean(from.key))}`,
    `  ${style.dim(clean(into.key))}`,
    `${amountText(report)} of ${clean(from.name)} would belong to ${clean(into.name)}, and whatever is learned in either place from then on.`,
    style.dim('It cannot be taken apart again; a backup from before has them apart: claude-mem backup'),
  ]
}

export function mergedText(report: MergeReport): string {
  return `${clean(report.from.name)} is part of ${clean(report.into.name)} now: ${amountText(report)}`
}

function amountText({ observations, summaries, prompts, sessions }: MergeReport): string {
  return [
    counted(observations, 'observation'),
    summaries === 1 ? '1 summary' : `${summaries} summaries`,
    counted(prompts, 'prompt'),
    counted(sessions, 'session'),
  ].join(', ')
}
