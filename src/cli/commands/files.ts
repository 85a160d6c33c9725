import { resolve } from 'node:path'
import type { FilesReport, FilesRequest } from '../../channel/files.ts'
import { FILE_PARTS, FILES_ACTIONS, type FilePart } from '../../context/files/projection.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { EXIT_FAILED, oneOf, UsageError } from '../failure.ts'
import { projectAsked } from '../project.ts'

/** A large working tree is looked through folder by folder, in ms. */
const ANSWER_MS = 300_000

export const files = command({
  usage: 'files [action]',
  group: 'Connect it',
  summary: 'Keep a section with the memory in CLAUDE.md, or for Cursor',
  about:
    'Writes what is remembered into files of a project that an agent reads by itself: a marked section of its CLAUDE.md ' +
    '(project), of those of the folders that were worked on last (folders), and a rule for Cursor (cursor). Nothing is ' +
    'written before you turn it on. The section follows what is learned and forgotten; everything else in the file stays as ' +
    'it is, to the byte. status says what is written, off stops it and takes the sections out again, clean also looks ' +
    'through the whole working tree for any that nobody remembers. A repository with several working trees has one memory: ' +
    'the one where you turn it on is written to. Starts the daemon if none runs.',
  examples: [
    ['claude-mem files on --dry-run', 'which files it would write'],
    ['claude-mem files on', "a section in this project's CLAUDE.md"],
    ['claude-mem files on --parts project,folders,cursor', 'all there is'],
    ['claude-mem files off', 'as if it had never been'],
  ],
  positionals: {
    action: { type: 'string', describe: FILES_ACTIONS.join(', '), default: 'status' },
  },
  options: {
    project: { type: 'string', requiresArg: true, alias: 'p', describe: 'Its name or key; default: where you are' },
    path: {
      type: 'string',
      requiresArg: true,
      describe: 'A directory inside the working tree; default: where you are',
    },
    parts: { type: 'string', requiresArg: true, describe: `What is written, of ${FILE_PARTS.join(',')}` },
    'dry-run': { type: 'boolean', describe: 'Say what would be done, touch nothing' },
    json: jsonOption,
  },
  run: async ({ action, project, path, parts, 'dry-run': dryRun, json }, cli) => {
    const request: FilesRequest = {
      type: 'files',
      action: oneOf('action', action, FILES_ACTIONS),
      project: project === undefined ? null : projectAsked(project, cli.env),
      root: path === undefined && project !== undefined ? null : resolve(path ?? '.'),
      parts: parts === undefined ? null : partsOf(parts),
      dryRun: dryRun === true,
    }
    if (request.parts !== null && request.action !== 'on')
      throw new UsageError('--parts goes with: claude-mem files on')
    const { report } = await withDaemon(cli, (client) => client.request('files', request, ANSWER_MS))
    return await show(report, json === true, cli)
  },
})

function partsOf(given: string): FilePart[] {
  const words = given.split(',').map((word) => word.trim())
  return [...new Set(words.map((word) => oneOf('part', word, FILE_PARTS)))]
}

async function show(report: FilesReport, json: boolean, cli: Cli): Promise<number> {
  const { filesLines } = await import('../render/files.ts')
  if (json) cli.printJson(report)
  else cli.print(...filesLines(report, cli.look()))
  const failed = report.action !== 'status' && report.files.some(({ what }) => what === 'left')
  return failed ? EXIT_FAILED : 0
}
