/** Exports memories to a file and imports them, with progress lines and Ctrl-C. */
import { homedir } from 'node:os'
import { resolveFilters } from '../api/resolve.ts'
import { findProject, isExcluded, isImportedProjectKey, type Project, projectOfDirectory } from '../domain/project.ts'
import { MEMORY_KINDS, type SearchFilters } from '../domain/search-query.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { readFileChunks } from '../lib/files.ts'
import { formatBytes, pluralize } from '../lib/format.ts'
import { VERSION } from '../lib/version.ts'
import { loadSettings } from '../settings/settings.ts'
import { claudeConfigDirectory } from '../setup/install/clients/claude-code.ts'
import type { StoreReader } from '../store/port.ts'
import { SqliteExport } from '../store/sqlite/export.ts'
import { OriginalDatabase } from '../store/sqlite/original-database.ts'
import { openStoreReader } from '../store/sqlite/reader.ts'
import { configuredAuthor } from '../team/team-file.ts'
import { autoMemorySource } from '../transfer/exchange/auto-memory.ts'
import {
  checkExport,
  detectImportFile,
  exportLines,
  MAX_LINE_CHARS,
  readExport,
} from '../transfer/exchange/export-file.ts'
import {
  type ImportCounts,
  type ImportReport,
  type ImportSource,
  importRecords,
  type MappedProject,
  ProjectMap,
} from '../transfer/exchange/import.ts'
import { exportMarkdown, type MarkdownPiece } from '../transfer/exchange/markdown.ts'
import { originalSource } from '../transfer/exchange/original.ts'
import {
  checkOutputFile,
  refuseInsideDataDirectory,
  writeChunks,
  writeFileAtomically,
} from '../transfer/exchange/output-file.ts'
import { readLines } from '../transfer/transcripts/lines.ts'
import type { DaemonClient } from '../transport/client.ts'
import { type Cli, printResult, withInterruptSignal } from './cli.ts'
import { EXIT_FAILED } from './command.ts'
import { isNotRunning } from './daemon-connection.ts'
import { parsePath, parseProject } from './filters.ts'
import { memoryCountsText } from './format.ts'
import { withDaemon } from './memory-client.ts'
import { progressBar } from './progress.ts'
import type { Display } from './style.ts'
import { jsonLine, terminalSafe } from './text.ts'

export type ExportFormat = 'jsonl' | 'markdown'

interface ExportRequest {
  filters: SearchFilters
  format: ExportFormat
  /** Null: standard output. */
  file: string | null
  force: boolean
}

/** Memories between two updates of the progress line. */
const PROGRESS_EVERY = 500

export async function exportMemory({ filters, format, file, force }: ExportRequest, cli: Cli): Promise<void> {
  const target = file === null ? null : checkOutputFile(file, force)
  if (target !== null) refuseInsideDataDirectory(target, cli.paths.dataDir)
  const me = configuredAuthor(cli.paths, loadSettings(cli.paths.dataDir, cli.env).values)
  const resolved = await withReader(cli, (reader) => resolveFilters(reader, filters, me))
  const source = SqliteExport.open(cli.paths.database, resolved)
  try {
    const exported = source.counts()
    const bytes = await withInterruptSignal(async (signal) => {
      const pieces = format === 'jsonl' ? jsonPieces(source, cli) : exportMarkdown(source, cli.display().now)
      const total = exported.observation + exported.summary + exported.prompt
      const onProgress = (done: number) => {
        if (target !== null && done % PROGRESS_EVERY === 0) cli.progress(progressLine('exporting', done, total))
      }
      const chunks = withProgress(pieces, signal, onProgress)
      if (target === null) return await writeChunks(chunks, process.stdout)
      return await writeFileAtomically(target, force, chunks).finally(() => cli.progress(''))
    })
    const text = countsText({ ...exported, passage: source.passages(), link: 0, pin: 0 })
    if (target === null) cli.printStderr(`Exported ${text}`)
    else {
      const result = { file: target, format, exported, bytes }
      printResult(cli, result, () => `Exported ${text} to ${terminalSafe(target)} (${formatBytes(bytes)})`)
    }
  } finally {
    source.close()
  }
}

async function withReader<T>({ paths }: Cli, use: (reader: StoreReader) => Promise<T>): Promise<T> {
  const reader = await openStoreReader(paths.database)
  return await use(reader).finally(() => reader.close())
}

function* jsonPieces(source: SqliteExport, cli: Cli): Generator<MarkdownPiece> {
  const header = { program: VERSION, exportedAt: new Date(cli.display().now).toISOString() }
  for (const line of exportLines(source.records(), header)) {
    const isMemory = 'kind' in line && MEMORY_KINDS.some((kind) => kind === line.kind)
    yield { text: `${jsonLine(line)}\n`, memories: isMemory ? 1 : 0 }
  }
}

function* withProgress(
  pieces: Iterable<MarkdownPiece>,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Generator<string> {
  let done = 0
  for (const { text, memories } of pieces) {
    signal.throwIfAborted()
    yield text
    done += memories
    if (memories > 0) onProgress(done)
  }
}

interface ImportRequest {
  /** From a project of the file to one here. */
  mappings: ReadonlyMap<string, string>
  pins: boolean
  forgotten: boolean
  dryRun: boolean
}

/** Claude Code's auto-memory. Resolves with the exit code. */
export async function importAutoMemory(request: ImportRequest, cli: Cli): Promise<number> {
  const configDir = claudeConfigDirectory(cli.env, homedir())
  const source = autoMemorySource(configDir)
  if (source === null) {
    const where = `${configDir}/projects/*/memory/*.md`
    printResult(cli, { source: 'auto-memory', added: null }, () => [
      `There is no auto-memory in ${terminalSafe(where)}`,
    ])
    return 0
  }
  return await importSource(source, request, cli)
}

/** Resolves with the exit code. */
export async function importMemory(file: string, request: ImportRequest, cli: Cli): Promise<number> {
  return await importSource(await openImportSource(file, cli), request, cli)
}

async function importSource(source: ImportSource, request: ImportRequest, cli: Cli): Promise<number> {
  const { mappings, pins, forgotten, dryRun } = request
  try {
    return await withInterruptSignal((signal) =>
      withDaemon(cli, (client) =>
        withReader(cli, async (reader) => {
          const map = new ProjectMap(reader, await resolveMappings(mappings, reader, cli))
          const report = await sendRecords(source, { client, map, pins, forgotten, dryRun, signal }, cli)
          cli.progress('')
          const { projects } = map
          printResult(cli, { source: source.what, dryRun, ...report, projects }, () =>
            importResultLines(report, projects, dryRun, cli.display()),
          )
          return report.refused + report.future > 0 ? EXIT_FAILED : 0
        }),
      ),
    )
  } finally {
    cli.progress('')
    source.close()
  }
}

async function openImportSource(file: string, { paths }: Cli): Promise<ImportSource> {
  const { is, bytes } = detectImportFile(file)
  if (is === 'database') return originalSource(OriginalDatabase.open(file, paths.temporary))
  await checkExport(readLines(readFileChunks(file), MAX_LINE_CHARS), file)
  let done = 0
  async function* countedChunks(): AsyncGenerator<string> {
    for await (const chunk of readFileChunks(file)) {
      done += Buffer.byteLength(chunk)
      yield chunk
    }
  }
  const items = () => readExport(readLines(countedChunks(), MAX_LINE_CHARS), file, () => done)
  return { what: 'export', total: bytes, items, close: () => undefined }
}

/** A path may name a project without memories; a name must be known. */
async function resolveMappings(
  mappings: ImportRequest['mappings'],
  reader: StoreReader,
  { env }: Cli,
): Promise<Map<string, Project>> {
  const resolved = new Map<string, Project>()
  for (const [from, given] of mappings) {
    const key = parseProject(given, env)
    const path = key === given ? null : parsePath(given, env)
    const [known] = path === null ? [] : await reader.projects({ key, limit: 1 })
    resolved.set(from, known ?? (path === null ? await findProject(reader, key) : projectOfDirectory(path)))
  }
  return resolved
}

/** Small enough that the transaction of a batch does not delay a hook. */
const BATCH_BYTES = 256 * 1024
/** A batch may wait for the indexing of the ones before it. */
const BATCH_TIMEOUT_MS = 120_000

async function sendRecords(
  source: ImportSource,
  options: Omit<ImportRequest, 'mappings'> & { client: DaemonClient; map: ProjectMap; signal: AbortSignal },
  cli: Cli,
): Promise<ImportReport> {
  const { client, map, pins, forgotten, dryRun, signal } = options
  const { CLAUDE_MEM_MAX_MESSAGE_KB, CLAUDE_MEM_EXCLUDED_PROJECTS } = loadSettings(cli.paths.dataDir).values
  // Half of a message, because the batch is wrapped in JSON.
  const recordBytes = CLAUDE_MEM_MAX_MESSAGE_KB * 512
  try {
    return await importRecords(source, {
      send: (batch) => client.call('import', { batch }, BATCH_TIMEOUT_MS),
      projects: map,
      isExcluded: (cwd, project) => isExcluded(cwd, project, CLAUDE_MEM_EXCLUDED_PROJECTS),
      pins,
      forgotten,
      dryRun,
      batchBytes: Math.min(BATCH_BYTES, recordBytes),
      recordBytes,
      progress: (done, total) => {
        signal.throwIfAborted()
        cli.progress(progressLine(dryRun ? 'reading' : 'importing', done, total))
      },
    })
  } catch (error) {
    if (!isNotRunning(error)) throw error
    throw new MemError('not_running', `${errorMessage(error)}; run the same command again to continue`, {
      cause: error,
      retryable: true,
    })
  }
}

function progressLine(activity: string, done: number, total: number): string {
  const percent = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : 0
  return `${activity} ${progressBar(done, total)} ${percent} %`
}

function countsText({ observation, summary, prompt, passage, link, pin }: ImportCounts): string {
  const memories = { observations: observation, summaries: summary, prompts: prompt, passages: passage }
  return memoryCountsText({ ...memories, links: link, pins: pin })
}

/** `--json` lists all problems. */
const SHOWN_PROBLEMS = 10

function importResultLines(
  report: ImportReport,
  projects: readonly MappedProject[],
  dryRun: boolean,
  { style }: Display,
): string[] {
  const { added, known, refused, excluded, future, forgotten, pinsLeftOut, problems } = report
  const hasKnown = Object.values(known).some((count) => count > 0)
  const shown = problems.slice(0, SHOWN_PROBLEMS)
  const more = refused - shown.length
  return [
    `${dryRun ? 'Would import' : 'Imported'} ${style.bold(countsText(added))}`,
    ...(hasKnown ? [style.dim(`${countsText(known)} ${dryRun ? 'are' : 'were'} there already`)] : []),
    ...writtenLines(report.writtenTo, projects),
    ...mappedProjectLines(projects),
    ...(excluded === 0 ? [] : [`${excluded} of excluded projects left out (claude-mem projects lists them)`]),
    ...(pinsLeftOut === 0
      ? []
      : [`${pluralize(pinsLeftOut, 'pin')} left out; --pins imports them: pinned ones are part of every context`]),
    ...(forgotten === 0 ? [] : [`${forgotten} of sessions that you erased left out; --forgotten imports them`]),
    ...(future === 0 ? [] : [style.yellow(`${future} with a time in the future were not imported`)]),
    ...(refused === 0 ? [] : [style.yellow(`${refused} could not be imported; everything else was`)]),
    ...shown.map(({ at, problem }) => `  ${terminalSafe(at)}: ${terminalSafe(problem)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ]
}

function writtenLines(keys: readonly string[], projects: readonly MappedProject[]): string[] {
  const names = keys.map((key) => projects.find(({ to }) => to.key === key)?.to.name ?? key)
  return keys.length === 0 ? [] : [`Projects: ${names.map(terminalSafe).join(', ')}`]
}

/** Only projects that get another key than in the file, or for which there is no repository here. */
function mappedProjectLines(projects: readonly MappedProject[]): string[] {
  const moved = projects.filter(({ from, to }) => from.key !== to.key)
  const unknown = projects.filter(({ from, to }) => from.key === to.key && isImportedProjectKey(to.key))
  return [
    ...moved.map(
      ({ from, to }) => `${terminalSafe(from.name)} becomes ${terminalSafe(to.name)} (${terminalSafe(to.key)})`,
    ),
    ...unknown.map(({ to }) => `${terminalSafe(to.name)} is not a project here; it becomes ${terminalSafe(to.key)}`),
    ...(unknown.length === 0 ? [] : ['  To merge it with the repository later: claude-mem projects merge']),
  ]
}
