/** What an export or an import came to, for people. */
import type { Counts, ImportReport } from '../../exchange/importer.ts'
import type { MappedProject } from '../../exchange/project-map.ts'
import { bar } from '../bar.ts'
import type { Look } from '../style.ts'
import { clean, counted, padEnd } from '../text.ts'

const BAR_COLUMNS = 24
/** Enough to see what kind of trouble it is; --json has more. */
const SHOWN_PROBLEMS = 10

export function exchangeProgress(what: string, done: number, total: number): string {
  const percent = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : 0
  return `${what} ▕${padEnd(bar(done, total, BAR_COLUMNS), BAR_COLUMNS)}▏ ${percent} %`
}

/** `12 observations, 3 summaries`; `nothing`. */
export function countsText({ observation, summary, prompt, link, pin }: Counts): string {
  const parts = [
    [observation, counted(observation, 'observation')],
    [summary, `${summary} ${summary === 1 ? 'summary' : 'summaries'}`],
    [prompt, counted(prompt, 'prompt')],
    [link, counted(link, 'link')],
    [pin, counted(pin, 'pin')],
  ] as const
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([, text]) => text)
      .join(', ') || 'nothing'
  )
}

export function importLines(
  report: ImportReport,
  projects: readonly MappedProject[],
  dryRun: boolean,
  { style }: Look,
): string[] {
  const { added, known, refused, excluded } = report
  const has = Object.values(known).some((count) => count > 0)
  return [
    `${dryRun ? 'Would import' : 'Imported'} ${style.bold(countsText(added))}`,
    ...(has ? [style.dim(`${countsText(known)} ${dryRun ? 'are' : 'were'} there already`)] : []),
    ...projectLines(projects),
    ...(excluded === 0 ? [] : [`${excluded} of excluded projects left out (claude-mem projects lists them)`]),
    ...(refused === 0 ? [] : problemLines(report, style.yellow)),
  ]
}

/** Only what is filed under another name than the file has, or under one that no repository has. */
function projectLines(projects: readonly MappedProject[]): string[] {
  const moved = projects.filter(({ from, to }) => from.key !== to.key)
  const adrift = projects.filter(({ from, to }) => from.key === to.key && to.key.startsWith('import:'))
  return [
    ...moved.map(({ from, to }) => `${clean(from.name)} goes to ${clean(to.name)} (${clean(to.key)})`),
    ...adrift.map(({ to }) => `${clean(to.name)} is no project here; it goes to ${clean(to.key)}`),
    ...(adrift.length === 0 ? [] : ['  claude-mem projects merge brings it together with the repository later']),
  ]
}

function problemLines({ refused, problems }: ImportReport, warn: (text: string) => string): string[] {
  const shown = problems.slice(0, SHOWN_PROBLEMS)
  const more = refused - shown.length
  return [
    warn(`${refused} could not be taken in; everything else was`),
    ...shown.map(({ at, problem }) => `  ${clean(at)}: ${clean(problem)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ]
}
