import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { ChannelClient } from '../../channel/client.ts'
import { MemError } from '../../errors.ts'
import type { ImportReport } from '../../exchange/importer.ts'
import type { ProjectMap } from '../../exchange/project-map.ts'
import type { Source } from '../../exchange/source.ts'
import { isExcluded } from '../../hook/excluded.ts'
import { type Project, projectOf } from '../../memory/project.ts'
import { loadSettings } from '../../settings.ts'
import type { Reader } from '../../store/port.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { EXIT_FAILED, UsageError } from '../failure.ts'
import { interruptible } from '../interruptible.ts'
import { projectAsked } from '../project.ts'

export const importMemory = command({
  usage: 'import <file>',
  group: 'Keep it in shape',
  summary: "Take in an export, or the original claude-mem's database",
  about:
    'Adds what is not there yet: run it twice and nothing is new, stop it and run it again and it goes on. The file is an ' +
    'export of this claude-mem (jsonl), or the database of the original claude-mem (usually ~/.claude-mem/claude-mem.db), ' +
    'which is only read, even while the original runs. Sessions that are here already are not changed. A project of the ' +
    'original is only a name: it goes to your project of that name where there is exactly one, else to import:NAME. Secrets ' +
    'are masked on the way in; excluded projects are left out. Memories that you have forgotten since the export come back. ' +
    'Lines that cannot be used are told at the end, and the exit code is 1. Starts the daemon if none runs.',
  examples: [
    ['claude-mem import memory.jsonl', ''],
    ['claude-mem import ~/.claude-mem/claude-mem.db --dry-run', 'what would come in'],
    ['claude-mem import memory.jsonl --project-map shop=~/work/shop', 'a project that lies elsewhere here'],
  ],
  positionals: {
    file: { type: 'string', demandOption: true, describe: 'An export, or a database of the original' },
  },
  options: {
    'dry-run': { type: 'boolean', alias: 'n', describe: 'Change nothing; say what would be added' },
    'project-map': {
      type: 'string',
      requiresArg: true,
      describe: 'OLD=NEW: a project of the file, by name or key, goes to this one here; several with commas',
    },
    json: jsonOption,
  },
  run: async ({ file, 'dry-run': dryRun, 'project-map': projectMap, json }, cli) => {
    const pairs = mappings(projectMap)
    const source = await openSource(resolve(file))
    try {
      return await interruptible((signal) =>
        withDaemon(cli, (client) =>
          imported({ source, client, pairs, dryRun: dryRun === true, json: json === true, signal }, cli),
        ),
      )
    } finally {
      cli.progress('')
      source.close()
    }
  },
})

type Pairs = ReadonlyMap<string, string>

function mappings(given: string | undefined): Pairs {
  if (process.argv.filter((arg) => /^--project-?[mM]ap(?:=|$)/.test(arg)).length > 1)
    throw new UsageError('give --project-map once: --project-map OLD=NEW,OTHER=NEW')
  if (given === undefined) return new Map()
  return new Map(
    given.split(',').map((pair) => {
      // Keys and paths hold anything but this; the last one counts, names of old projects may hold others.
      const at = pair.lastIndexOf('=')
      const [from, to] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
      if (at < 0 || from === '' || to === '') throw new UsageError(`--project-map takes OLD=NEW, not "${pair}"`)
      return [from, to] as const
    }),
  )
}

async function openSource(file: string): Promise<Source> {
  const { recognise } = await import('../../exchange/recognise.ts')
  const { is, bytes } = recognise(file)
  if (is === 'database') {
    const [{ OriginalDatabase }, { originalSource }] = await Promise.all([
      import('../../store/sqlite/import-original.ts'),
      import('../../exchange/original.ts'),
    ])
    return originalSource(OriginalDatabase.open(file))
  }
  const [{ checkExport, readExport, MAX_LINE_CHARS }, { chunksOf, linesOf }] = await Promise.all([
    import('../../exchange/export-file.ts'),
    import('../../hook/transcript/lines.ts'),
  ])
  await checkExport(linesOf(chunksOf(file), MAX_LINE_CHARS), file)
  let done = 0
  async function* followed(): AsyncGenerator<string> {
    for await (const chunk of chunksOf(file)) {
      done += Buffer.byteLength(chunk)
      yield chunk
    }
  }
  const items = () => readExport(linesOf(followed(), MAX_LINE_CHARS), file, () => done)
  return { what: 'export', total: bytes, items, close: () => undefined }
}

interface Asked {
  source: Source
  client: ChannelClient
  pairs: Pairs
  dryRun: boolean
  json: boolean
  signal: AbortSignal
}

async function imported(asked: Asked, cli: Cli): Promise<number> {
  const { source, pairs, dryRun, json } = asked
  const [{ SqliteReader }, { ProjectMap }] = await Promise.all([
    import('../../store/sqlite/reader.ts'),
    import('../../exchange/project-map.ts'),
  ])
  const reader = await SqliteReader.open(cli.paths.database)
  try {
    const projects = new ProjectMap(reader, await wantedProjects(pairs, reader, cli))
    const report = await send(asked, projects, cli)
    cli.progress('')
    const { importLines } = await import('../render/exchange.ts')
    if (json) cli.printJson({ source: source.what, dryRun, ...report, projects: projects.projects })
    else cli.print(...importLines(report, projects.projects, dryRun, cli.look()))
    return report.refused > 0 ? EXIT_FAILED : 0
  } finally {
    await reader.close()
  }
}

/** A path is a project even where nothing is remembered of it yet; a name has to be known. */
async function wantedProjects(pairs: Pairs, reader: Reader, cli: Cli): Promise<Map<string, Project>> {
  const { chosenProject } = await import('../../context/project.ts')
  const wanted = new Map<string, Project>()
  for (const [from, given] of pairs) {
    const asked = projectAsked(given, cli.env)
    const isPath = asked !== given
    const [known] = isPath ? await reader.projects({ key: asked, limit: 1 }) : []
    const path = given.replace(/^~(?=[/\\]|$)/, cli.env.HOME ?? homedir())
    wanted.set(from, known ?? (isPath ? projectOf(resolve(path)) : await chosenProject(reader, asked)))
  }
  return wanted
}

/** A request is small enough that its transaction keeps no hook waiting. */
const BATCH_BYTES = 256 * 1024
/** One batch after another hundred that are being indexed. */
const BATCH_MS = 120_000

async function send(asked: Asked, projects: ProjectMap, cli: Cli): Promise<ImportReport> {
  const { source, client, dryRun, signal } = asked
  const [{ importFrom }, { exchangeProgress }] = await Promise.all([
    import('../../exchange/importer.ts'),
    import('../render/exchange.ts'),
  ])
  const { CLAUDE_MEM_MAX_MESSAGE_KB, CLAUDE_MEM_EXCLUDED_PROJECTS } = loadSettings(cli.paths.dataDir).values
  let shown = ''
  try {
    return await importFrom(source, {
      send: async (batch) => (await client.request('imported', { type: 'import', batch }, BATCH_MS)).outcomes,
      projects,
      isExcluded: (cwd, project) => isExcluded(cwd, project, CLAUDE_MEM_EXCLUDED_PROJECTS),
      dryRun,
      // What stands around the records has room in the other half.
      batchBytes: Math.min(BATCH_BYTES, CLAUDE_MEM_MAX_MESSAGE_KB * 512),
      recordBytes: CLAUDE_MEM_MAX_MESSAGE_KB * 512,
      progress: (done, total) => {
        signal.throwIfAborted()
        const line = exchangeProgress(dryRun ? 'looking' : 'importing', done, total)
        if (line !== shown) cli.progress(line)
        shown = line
      },
    })
  } catch (error) {
    if (!(error instanceof MemError) || error.code !== 'not_running') throw error
    throw new MemError('not_running', `${error.message}; run the same command again: it goes on where it stopped`, {
      cause: error,
      retryable: true,
    })
  }
}
