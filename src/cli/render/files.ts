/** What became of the files that the memory is written into. */
import { isAbsolute, relative } from 'node:path'
import type { FilesReport } from '../../channel/files.ts'
import type { FileOutcome, What } from '../../context/files/change.ts'
import type { Look, Paint } from '../style.ts'
import { clean, padEnd } from '../text.ts'

type Words = Record<What, string>

const DONE: Words = {
  made: 'made',
  changed: 'changed',
  cleaned: 'section removed',
  deleted: 'removed',
  unchanged: 'as it was',
  absent: 'not there',
  left: 'left alone',
}
const PLANNED: Words = {
  ...DONE,
  made: 'would be made',
  changed: 'would change',
  cleaned: 'section would go',
  deleted: 'would be removed',
}
const FOUND: Words = { ...PLANNED, unchanged: 'up to date', made: 'missing', changed: 'behind' }

export function filesLines(report: FilesReport, look: Look): string[] {
  const { bold } = look.style
  const words = report.action === 'status' ? FOUND : report.dryRun ? PLANNED : DONE
  return [bold(headline(report)), ...outcomeLines(report, words, look), ...hints(report)]
}

function headline({ action, dryRun, project, root, parts }: FilesReport): string {
  const name = clean(project.name)
  if (action === 'on') {
    return `The memory of ${name} ${dryRun ? 'would be' : 'is'} written into files of ${clean(root ?? '')}: ${parts.join(', ')}`
  }
  if (action === 'status' && root !== null && parts.length > 0) {
    return `The memory of ${name} is written into files of ${clean(root)}: ${parts.join(', ')}`
  }
  if (root !== null && !dryRun) return `No files are written for ${name} any more, but not all could be cleaned`
  return `No files ${dryRun ? 'would be' : 'are'} written for ${name}`
}

function outcomeLines({ root, files }: FilesReport, words: Words, look: Look): string[] {
  const { green, yellow, dim } = look.style
  const paints: Partial<Record<What, Paint>> = { left: yellow, unchanged: dim, absent: dim }
  const width = Math.max(0, ...files.map(({ what }) => words[what].length))
  return files.map(({ file, what, why }) => {
    const paint = paints[what] ?? green
    return `  ${paint(padEnd(words[what], width))}  ${clean(shortened(file, root))}${why === null ? '' : `: ${clean(why)}`}`
  })
}

/** As seen from the working tree, where it lies inside. */
function shortened(file: FileOutcome['file'], root: string | null): string {
  const way = root === null ? '' : relative(root, file)
  return way === '' || way.startsWith('..') || isAbsolute(way) ? file : way
}

function hints({ action, root, files, dryRun }: FilesReport): string[] {
  if (dryRun) return []
  if (action === 'on') {
    const none = files.length === 0 ? ['Nothing is known yet: they come with the first observation.'] : []
    return [...none, 'They follow what is learned. Undo it with: claude-mem files off']
  }
  if (action === 'status') return root === null ? ['Turn it on with: claude-mem files on'] : []
  return root === null ? [] : ['Mend what is named above, then run it again: claude-mem files clean']
}
