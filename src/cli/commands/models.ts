/** Commands about the search index: `models` chooses the embedder, `reindex` rebuilds the index. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReindexPart } from '../../daemon/memory-changes.ts'
import { errorMessage } from '../../lib/errors.ts'
import { formatBytes } from '../../lib/format.ts'
import type { LocalModel } from '../../search/embedders/models.ts'
import type { DownloadProgress, TransformersEmbedder } from '../../search/embedders/transformers.ts'
import { loadSettings } from '../../settings/settings.ts'
import type { DaemonClient } from '../../transport/client.ts'
import { oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, printResult, withInterruptSignal } from '../cli.ts'
import { defineCommand, stringOption } from '../command.ts'
import { formatDuration } from '../format.ts'
import { withDaemon } from '../memory-client.ts'
import { drawBar } from '../progress.ts'
import { indexProgressLine } from '../render/status.ts'
import type { Display } from '../style.ts'
import { cutColumn, rightColumn, tableLines, wrapColumn } from '../table.ts'
import { padEnd, terminalSafe, truncate } from '../text.ts'
import { overrideLines, setSetting } from './config.ts'
import { fetchWithProgress } from './packages.ts'

const ACTIONS = ['list', 'pull', 'use'] as const
const SETTING = 'CLAUDE_MEM_EMBEDDER'
/** The word vectors that come with the program. */
const STATIC = 'static'

export const modelsCommand = defineCommand({
  usage: 'models [action] [name]',
  group: 'Maintenance',
  summary: 'Models for search by meaning: list, pull and use',
  about:
    'Memories are found by words and by meaning. For the meaning, word vectors come with the program (static): they need ' +
    'nothing and are always available. A model knows more, and other languages than English. pull downloads one into the ' +
    'data directory, and with the first one the runtime of models; nothing is downloaded without this command. use tests a model and selects it; all memories are then ' +
    'embedded again in the background, while search continues. A name is OWNER/NAME as at huggingface.co, or a folder with ' +
    'an ONNX model; @q8 after it selects the weights of that precision. HF_ENDPOINT sets a mirror, HF_TOKEN gives access to ' +
    'private models.',
  examples: [
    ['claude-mem models', 'the current one, downloaded ones, recommended ones'],
    ['claude-mem models pull Xenova/all-MiniLM-L6-v2@q8', 'download it (23 MB)'],
    ['claude-mem models use Xenova/all-MiniLM-L6-v2@q8', 'then use it'],
    ['claude-mem models use ./my-model', 'your own config.json, tokenizer.json and onnx/model.onnx'],
    ['claude-mem models use static', 'back to the word vectors'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list, pull or use', default: 'list' },
    name: { type: 'string', describe: 'A model; use: or static' },
  },
  run: async ({ action, name }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    if (chosen === 'list') {
      refuseIf(name !== undefined, 'models list takes no name; to download one: claude-mem models pull NAME')
      return await listModels(cli)
    }
    if (name === undefined || name.trim() === '') {
      throw new UsageError(`models ${chosen} needs a name: claude-mem models lists some`)
    }
    return chosen === 'pull' ? await pullModel(cli, name) : await useModel(cli, name)
  },
})

async function listModels(cli: Cli): Promise<void> {
  const view = await loadModels(cli)
  printResult(cli, view, () => modelLines(view, cli.display()))
}

async function loadModels(cli: Cli) {
  const { canRunModels, localModels, RECOMMENDED_MODELS } = await import('../../search/embedders/models.ts')
  const { values, sources } = loadSettings(cli.paths.dataDir, cli.env)
  const directory = cli.paths.models
  const inUse = values[SETTING]
  const local = localModels(directory)
  return {
    inUse,
    from: sources[SETTING],
    /** Why it cannot be used, as far as can be seen without loading it. */
    problem: inUse === STATIC ? null : await findProblem(inUse, local),
    /** The runtime is installed. */
    canRunModels: canRunModels(),
    directory,
    local,
    recommended: RECOMMENDED_MODELS,
  }
}
type ModelsView = Awaited<ReturnType<typeof loadModels>>

async function findProblem(inUse: string, local: readonly LocalModel[]): Promise<string | null> {
  const { fullModelName, parseModelName } = await import('../../search/embedders/models.ts')
  try {
    const model = parseModelName(inUse)
    if (model.at === 'folder') return existsSync(model.folder) ? null : `there is no folder ${model.folder}`
    const name = fullModelName(model)
    const isLocal = local.some((one) => one.name === name)
    return isLocal ? null : `it is not downloaded; download it: claude-mem models pull ${name}`
  } catch (error) {
    return errorMessage(error)
  }
}

async function pullModel(cli: Cli, given: string): Promise<void> {
  const { fullModelName, localModels, parseModelName } = await import('../../search/embedders/models.ts')
  if (given === STATIC) throw new UsageError('static comes with the program: there is nothing to download')
  const model = parseModelName(given)
  const name = fullModelName(model)
  if (model.at === 'folder') throw new UsageError(`a folder is not downloaded: claude-mem models use ${given}`)
  const directory = cli.paths.models
  const dimensions = await testModel(cli, name, {
    allowRemote: true,
    onProgress: (progress) => cli.progress(downloadLine(name, progress, cli.display())),
  }).finally(() => cli.progress(''))
  const bytes = localModels(directory).find((local) => local.name === name)?.bytes ?? 0
  printResult(cli, { name, dimensions, bytes, directory }, () => [
    `${terminalSafe(name)} is downloaded: ${formatBytes(bytes)}, ${dimensions} dimensions`,
    `To use it: claude-mem models use ${terminalSafe(name)}`,
  ])
}

async function useModel(cli: Cli, given: string): Promise<void> {
  const { fullModelName, parseModelName } = await import('../../search/embedders/models.ts')
  const name = given === STATIC ? STATIC : fullModelName(parseModelName(given))
  const dimensions = given === STATIC ? await staticDimensions() : await testModel(cli, name, { allowRemote: false })
  setSetting(cli.paths.dataDir, SETTING, name)
  const overridden = overrideLines(cli, SETTING)
  const effect = [
    'A running daemon applies it after: claude-mem restart',
    'Memories are then embedded again in the background; claude-mem status shows the progress.',
  ]
  const heading = `${terminalSafe(name)} is now the embedder: it loads, and returns ${dimensions} dimensions`
  printResult(cli, { name, dimensions }, () => [heading, ...(overridden.length > 0 ? overridden : effect)])
}

async function staticDimensions(): Promise<number> {
  const { staticEmbedder } = await import('../../search/embedders/static.ts')
  return (await staticEmbedder()).dimensions
}

/** Loads the model, which embeds a first text. Resolves with its dimensions. */
async function testModel(
  cli: Cli,
  model: string,
  options: { allowRemote: boolean; onProgress?: (progress: DownloadProgress) => void },
): Promise<number> {
  const [{ transformersEmbedder }, { canRunModels }] = await Promise.all([
    import('../../search/embedders/transformers.ts'),
    import('../../search/embedders/models.ts'),
  ])
  // 490 MB: only who chooses a model gets it.
  if (!canRunModels()) await fetchWithProgress(cli, '@huggingface/transformers')
  let embedder: TransformersEmbedder | null = null
  try {
    embedder = await withInterruptSignal((signal) =>
      transformersEmbedder({ model, cacheDir: cli.paths.models, signal, ...options }),
    )
    return embedder.dimensions
  } finally {
    await embedder?.close()
  }
}

function modelLines(view: ModelsView, display: Display): string[] {
  const { style } = display
  const source = view.from === 'default' ? '' : ` (from the ${view.from})`
  const fetchNote = 'The runtime of models (@huggingface/transformers, 490 MB) is fetched with the first model.'
  return [
    `${style.bold(terminalSafe(view.inUse))} is in use${source}`,
    ...(view.problem === null ? [] : [style.yellow(`! ${terminalSafe(view.problem)}; static is used until then`)]),
    ...(view.canRunModels ? [] : [style.dim(fetchNote)]),
    '',
    style.bold(`Downloaded, in ${terminalSafe(view.directory)}`),
    ...(view.local.length === 0 ? ['  no models; static comes with the program'] : localTable(view, display)),
    '',
    style.bold('Recommended'),
    ...recommendedTable(view, display),
    '',
    style.dim('claude-mem models pull NAME downloads one, claude-mem models use NAME uses it'),
  ]
}

function localTable({ local, inUse }: ModelsView, display: Display): string[] {
  const rows = local.map(({ name, bytes }) => [name, formatBytes(bytes), name === inUse ? 'in use' : ''])
  return tableLines([cutColumn('name'), rightColumn('size'), ''], rows, display)
}

function recommendedTable({ recommended }: ModelsView, display: Display): string[] {
  const rows = recommended.map(({ name, dimensions, megabytes, languages, about }) => [
    name,
    String(dimensions),
    `${megabytes} MB`,
    languages,
    about,
  ])
  const columns = ['name', rightColumn('dimensions'), rightColumn('size'), 'languages', wrapColumn('about')]
  return tableLines(columns, rows, display)
}

const DOWNLOAD_BAR_COLUMNS = 24

function downloadLine(name: string, { loadedBytes, totalBytes }: DownloadProgress, { columns }: Display): string {
  const bar = padEnd(drawBar(loadedBytes, totalBytes, DOWNLOAD_BAR_COLUMNS), DOWNLOAD_BAR_COLUMNS)
  const line = `${terminalSafe(name)} ${bar} ${formatBytes(loadedBytes)} of ${formatBytes(totalBytes)}`
  return columns === null ? line : truncate(line, columns - 1)
}

/** Time between two updates of the progress line. */
const REINDEX_POLL_MS = 200
/** A copy of `REINDEX_PARTS`, whose module is only loaded by the daemon. */
const INDEX_PARTS = ['all', 'lexical', 'vectors'] as const satisfies readonly ReindexPart[]

export const reindexCommand = defineCommand({
  usage: 'reindex',
  group: 'Maintenance',
  summary: 'Rebuild the search index from the memory',
  about:
    'The index of words (lexical) and the vectors (vectors) are derived from the memory. This deletes and rebuilds them. ' +
    'Search works meanwhile with what is there. The daemon continues when you press Ctrl-C; status shows the progress. ' +
    'Starts the daemon if it is not running.',
  examples: [
    ['claude-mem reindex', 'everything'],
    ['claude-mem reindex --what vectors', 'only the vectors'],
  ],
  options: {
    what: { ...stringOption(INDEX_PARTS.join(', ')), default: 'all' },
  },
  run: async ({ what }, cli) => {
    const part = oneOf('value for --what', what, INDEX_PARTS)
    const startedAt = performance.now()
    await withDaemon(cli, (client) => reindex(part, client, cli))
    const tookMs = Math.round(performance.now() - startedAt)
    printResult(cli, { what: part, tookMs }, () => `The index is complete, after ${formatDuration(tookMs)}`)
  },
})

async function reindex(what: ReindexPart, client: DaemonClient, cli: Cli): Promise<void> {
  let { progress } = await client.call('reindex', { what })
  try {
    while (progress !== null) {
      cli.progress(indexProgressLine(progress))
      await sleep(REINDEX_POLL_MS)
      progress = (await client.call('indexing')).progress
    }
  } finally {
    cli.progress('')
  }
}
