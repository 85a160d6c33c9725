import { MEMORY_KINDS, type MemoryKind, type SearchFilters } from '../../search/query.ts'
import type { SqliteExport } from '../../store/sqlite/export.ts'
import { VERSION } from '../../version.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError } from '../failure.ts'
import { filterOptions, filtersOf } from '../filters.ts'
import { interruptible } from '../interruptible.ts'
import { clean, jsonLine } from '../text.ts'
import { bytes as size } from '../times.ts'

const FORMATS = ['jsonl', 'markdown'] as const
type Format = (typeof FORMATS)[number]
const STANDARD_OUTPUT = '-'

export const exportMemory = command({
  usage: 'export [output]',
  group: 'Keep it in shape',
  summary: 'Write the memory, or a part of it, to a file that you own',
  about:
    'Writes observations, summaries and prompts of all projects, or what passes the filters: as jsonl, one record a line, ' +
    'which claude-mem import reads again (docs/exchange.md describes it), or as markdown, for reading. Without a file, or ' +
    'with -, it goes to the standard output. A file is private to you, and an existing one is only replaced with --force. ' +
    'What was masked stays masked, and private prompts are left out. It only reads: a daemon may run, or not.',
  examples: [
    ['claude-mem export memory.jsonl', 'everything'],
    ['claude-mem export shop.md --format markdown --project ~/work/shop', 'one project, for reading'],
    ['claude-mem export - --since 7d --type decision | jq .title', 'for another program'],
  ],
  positionals: {
    output: { type: 'string', describe: 'A file; - is the standard output', default: STANDARD_OUTPUT },
  },
  options: {
    format: { type: 'string', requiresArg: true, describe: 'jsonl or markdown', default: 'jsonl' },
    ...filterOptions,
    project: { ...filterOptions.project, describe: 'Its name, key or path; default: all' },
    kind: { ...filterOptions.kind, default: 'all' },
    force: { type: 'boolean', describe: 'Replace the file if it is there' },
    json: { ...jsonOption, describe: 'What was exported, as one line of JSON' },
  },
  run: async ({ output, format, force, json, rest: _, ...args }, cli) => {
    const form = oneOf('format', format, FORMATS)
    if (output === '') throw new UsageError('export needs a file, or - for the standard output')
    const toFile = output !== STANDARD_OUTPUT
    if (json === true && !toFile) throw new UsageError('--json tells about a file; name one')
    const filters = filtersOf({ ...args, project: args.project ?? 'all' }, cli.env, cli.look().now)
    const { outputFile, refuseInside, writeAll, writeFileWhole } = await import('../../exchange/output-file.ts')
    const target = toFile ? outputFile(output, force === true) : null
    if (target !== null) refuseInside(target, cli.paths.dataDir)
    const source = await openExport(filters, cli)
    try {
      const bytes = await interruptible(async (signal) => {
        const texts = await textsOf(source, form, toFile, signal, cli)
        if (target === null) return await writeAll(texts, process.stdout)
        return await writeFileWhole(target, force === true, texts).finally(() => cli.progress(''))
      })
      await tell({ file: target, format: form, exported: source.counts(), bytes }, json === true, cli)
      return 0
    } finally {
      source.close()
    }
  },
})

/** Names and first characters become keys and whole ids. */
async function openExport(filters: SearchFilters, cli: Cli): Promise<SqliteExport> {
  const [{ SqliteReader }, { SqliteExport }, { chosenProject }, { chosenSession }] = await Promise.all([
    import('../../store/sqlite/reader.ts'),
    import('../../store/sqlite/export.ts'),
    import('../../context/project.ts'),
    import('../../store/find-session.ts'),
  ])
  const reader = await SqliteReader.open(cli.paths.database)
  try {
    const { project, session } = filters
    return SqliteExport.open(cli.paths.database, {
      ...filters,
      project: project === null ? null : (await chosenProject(reader, project)).key,
      session: session === null ? null : chosenSession(session, await reader.findSessions(session)),
    })
  } finally {
    await reader.close()
  }
}

/** As often as anyone sees a bar move. */
const SHOWN_EVERY = 500

/** The text in pieces, with a bar that follows the memories in it where it goes to a file. */
async function textsOf(
  source: SqliteExport,
  format: Format,
  shown: boolean,
  signal: AbortSignal,
  cli: Cli,
): Promise<Iterable<string>> {
  const { exchangeProgress } = await import('../render/exchange.ts')
  const { observation, summary, prompt } = source.counts()
  const total = observation + summary + prompt
  const pieces = format === 'jsonl' ? await lines(source, cli) : await pages(source, cli)
  function* followed(): Generator<string> {
    let done = 0
    for (const { text, memories } of pieces) {
      signal.throwIfAborted()
      yield text
      done += memories
      if (shown && memories > 0 && done % SHOWN_EVERY === 0) cli.progress(exchangeProgress('exporting', done, total))
    }
  }
  return followed()
}

interface Piece {
  text: string
  /** How many it tells of. */
  memories: number
}

async function lines(source: SqliteExport, cli: Cli): Promise<Iterable<Piece>> {
  const { exportLines } = await import('../../exchange/export-file.ts')
  const header = { program: VERSION, exportedAt: new Date(cli.look().now).toISOString() }
  function* all(): Generator<Piece> {
    for (const line of exportLines(source.records(), header)) {
      const isMemory = 'kind' in line && MEMORY_KINDS.some((kind) => kind === line.kind)
      yield { text: `${jsonLine(line)}\n`, memories: isMemory ? 1 : 0 }
    }
  }
  return all()
}

async function pages(source: SqliteExport, cli: Cli): Promise<Iterable<Piece>> {
  const { markdown } = await import('../../exchange/markdown.ts')
  return markdown(source, cli.look().now)
}

interface Exported {
  file: string | null
  format: Format
  exported: Record<MemoryKind, number>
  bytes: number
}

async function tell(about: Exported, json: boolean, cli: Cli): Promise<void> {
  const { countsText } = await import('../render/exchange.ts')
  const { file, exported, bytes } = about
  const text = countsText({ ...exported, link: 0, pin: 0 })
  if (json) cli.printJson(about)
  else if (file === null) cli.tell(`Exported ${text}`)
  else cli.print(`Exported ${text} to ${clean(file)} (${size(bytes)})`)
}
