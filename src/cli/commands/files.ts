/** `claude-mem files`: keeps a section with the memory in CLAUDE.md and in a Cursor rule. */
import { isAbsolute, relative, resolve } from 'node:path'
import type { FilesReport } from '../../api/operations/projects.ts'
import type { FileAction } from '../../context/files/edit-file.ts'
import { FILE_PARTS, FILES_ACTIONS, type FilePart } from '../../context/files/tree-sections.ts'
import { commaList, oneOf, refuseIf } from '../arguments.ts'
import { printResult } from '../cli.ts'
import { defineCommand, EXIT_FAILED, stringOption } from '../command.ts'
import { parseProject } from '../filters.ts'
import { withDaemon } from '../memory-client.ts'
import type { Display, Paint } from '../style.ts'
import { padEnd, terminalSafe } from '../text.ts'

/** `clean` walks the whole working tree, which may be large. */
const REQUEST_TIMEOUT_MS = 300_000

export const filesCommand = defineCommand({
  usage: 'files [action]',
  group: 'Integrations',
  summary: 'Keep a section with the memory in CLAUDE.md, or for Cursor',
  about:
    'Writes what is remembered into files of a project that an agent reads by itself: a marked section of its CLAUDE.md ' +
    '(project), of the CLAUDE.md of recently used folders (folders), and a rule for Cursor (cursor). Nothing is written ' +
    'before you turn it on. The section is updated when something is learned or forgotten; the rest of the file is not ' +
    'changed. status prints what is written, off stops it and removes the sections, clean also searches the whole working ' +
    'tree for sections that are no longer known. A repository with several working trees has one memory: the working tree ' +
    'where you turn it on is written to. Starts the daemon if it is not running.',
  examples: [
    ['claude-mem files on --dry-run', 'which files it would write'],
    ['claude-mem files on', "a section in this project's CLAUDE.md"],
    ['claude-mem files on --parts project,folders,cursor', 'everything'],
    ['claude-mem files off', 'remove the sections again'],
  ],
  positionals: {
    action: { type: 'string', describe: FILES_ACTIONS.join(', '), default: 'status' },
  },
  options: {
    project: stringOption('Name or key; default: current directory', 'p'),
    path: stringOption('A directory inside the working tree; default: current directory'),
    parts: stringOption(`What is written, of ${FILE_PARTS.join(',')}`),
    'dry-run': { type: 'boolean', describe: 'Print what would be done, change nothing' },
  },
  run: async ({ action, project, path, parts, 'dry-run': dryRun }, cli) => {
    const request = {
      action: oneOf('action', action, FILES_ACTIONS),
      project: project === undefined ? null : parseProject(project, cli.env),
      root: path === undefined && project !== undefined ? null : resolve(path ?? '.'),
      parts: parts === undefined ? null : parseParts(parts),
      dryRun,
    }
    refuseIf(request.parts !== null && request.action !== 'on', '--parts is an option of: claude-mem files on')
    const { report } = await withDaemon(cli, (client) => client.call('files', request, REQUEST_TIMEOUT_MS))
    printResult(cli, report, () => filesLines(report, cli.display()))
    const failed = report.action !== 'status' && report.files.some(({ what }) => what === 'left')
    return failed ? EXIT_FAILED : 0
  },
})

function parseParts(given: string): FilePart[] {
  return [...new Set(commaList(given).map((word) => oneOf('part', word, FILE_PARTS)))]
}

type ActionTexts = Record<FileAction, string>

const DONE: ActionTexts = {
  made: 'created',
  changed: 'changed',
  cleaned: 'section removed',
  deleted: 'removed',
  unchanged: 'unchanged',
  absent: 'not there',
  left: 'skipped',
}
const PLANNED: ActionTexts = {
  ...DONE,
  made: 'would be created',
  changed: 'would change',
  cleaned: 'section would be removed',
  deleted: 'would be removed',
}
const STATUS: ActionTexts = { ...PLANNED, unchanged: 'up to date', made: 'missing', changed: 'outdated' }

export function filesLines(report: FilesReport, display: Display): string[] {
  const texts = report.action === 'status' ? STATUS : report.dryRun ? PLANNED : DONE
  return [display.style.bold(headline(report)), ...fileLines(report, texts, display), ...hintLines(report)]
}

function headline({ action, dryRun, project, root, parts }: FilesReport): string {
  const name = terminalSafe(project.name)
  if (action === 'on' || (action === 'status' && root !== null && parts.length > 0)) {
    const verb = action === 'on' && dryRun ? 'would be' : 'is'
    return `The memory of ${name} ${verb} written into files of ${terminalSafe(root ?? '')}: ${parts.join(', ')}`
  }
  if (root !== null && !dryRun)
    return `No files are written for ${name} any more, but some sections could not be removed`
  return `No files ${dryRun ? 'would be' : 'are'} written for ${name}`
}

function fileLines({ root, files }: FilesReport, texts: ActionTexts, { style }: Display): string[] {
  const paints: Partial<Record<FileAction, Paint>> = { left: style.yellow, unchanged: style.dim, absent: style.dim }
  const width = Math.max(0, ...files.map(({ what }) => texts[what].length))
  return files.map(({ file, what, why }) => {
    const paint = paints[what] ?? style.green
    const path = terminalSafe(relativeTo(root, file))
    return `  ${paint(padEnd(texts[what], width))}  ${path}${why === null ? '' : `: ${terminalSafe(why)}`}`
  })
}

/** A file outside the working tree keeps its absolute path. */
function relativeTo(root: string | null, file: string): string {
  const path = root === null ? '' : relative(root, file)
  return path === '' || path.startsWith('..') || isAbsolute(path) ? file : path
}

function hintLines({ action, root, files, dryRun }: FilesReport): string[] {
  if (dryRun) return []
  if (action === 'on') {
    const empty = files.length === 0 ? ['Nothing is remembered yet: the first observation creates them.'] : []
    return [...empty, 'They are updated as the memory changes. To undo it: claude-mem files off']
  }
  if (action === 'status') return root === null ? ['To turn it on: claude-mem files on'] : []
  return root === null ? [] : ['Fix the files named above, then run: claude-mem files clean']
}
