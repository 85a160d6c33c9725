/** Loads a feature-extraction model, from the hub or from a folder, and turns texts into vectors with it. */
import { createHash } from 'node:crypto'
import { createReadStream, rmSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pipeline as pipe } from 'node:stream/promises'
import type { FeatureExtractionPipeline, ProgressInfo } from '@huggingface/transformers'
import { MemError, messageOf, systemCode } from '../../errors.ts'
import { type HubFetch, hubFetch } from './hub-fetch.ts'
import { folderOf, givenName, type ModelName, shortName, weightsFile } from './model-name.ts'

export interface LoadOptions {
  model: ModelName
  /** Models from the hub lie here, as `owner/name/…`. */
  cacheDir: string
  /** False: nothing is fetched, whatever is missing. */
  allowRemote: boolean
  /** Where models are fetched from. */
  remoteHost: string
  /** Silence of the hub after which it counts as not reachable. */
  stallMs: number
}

/** Of all files together. */
export interface DownloadProgress {
  loadedBytes: number
  totalBytes: number
}

export interface LoadedModel {
  name: string
  dimensions: number
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>
  dispose(): Promise<void>
}

type Library = typeof import('@huggingface/transformers')

/** About 500 tokens, which is what most models read; others take memory with the square of it. */
const MAX_CHARS = 2_000
/** More than that is how some say that they do not know. */
const MAX_TOKENS = 100_000
/** Where nobody says how much a model reads: each reads 512 tokens, and no token is less than a character. */
const SAFE_CHARS = 500
/** Texts that go through the model together are padded to the longest: so many characters in all. */
const GROUP_CHARS = 8_000
/** Half of the machine is left to whoever works on it: memories are embedded in the background. */
const THREADS = Math.max(1, Math.floor(availableParallelism() / 2))
const PROBE = 'memory'

export async function loadModel(
  options: LoadOptions,
  { stopped, onProgress }: { stopped: AbortSignal; onProgress(progress: DownloadProgress): void },
): Promise<LoadedModel> {
  const library = await importLibrary()
  if (options.model.at === 'folder') await mustExist(options.model)
  const hub = hubFetch({ stallMs: options.stallMs, stopped })
  const id = prepare(library, options, hub)
  let extract: FeatureExtractionPipeline | null = null
  try {
    extract = await library.pipeline('feature-extraction', id, {
      dtype: options.model.precision,
      device: 'cpu',
      session_options: { intraOpNumThreads: THREADS },
      ...(options.allowRemote ? { progress_callback: reporter(onProgress) } : {}),
    })
    const [probe] = await vectorsOf(extract, [PROBE])
    if (probe === undefined || probe === null) throw new Error('it makes no vectors')
    return loaded(extract, await nameOf(options), probe.length)
  } catch (error) {
    await extract?.dispose()
    throw failure(error, options, hub)
  }
}

async function importLibrary(): Promise<Library> {
  try {
    return await import('@huggingface/transformers')
  } catch (cause) {
    const missing = systemCode(cause) === 'ERR_MODULE_NOT_FOUND'
    throw new MemError(
      'not_found',
      missing
        ? '@huggingface/transformers is not installed, so only the static embedder works. Install it: npm install -g claude-mem --include=optional'
        : `@huggingface/transformers cannot be loaded (${messageOf(cause)}). Install it again: npm install -g claude-mem --include=optional`,
      { cause },
    )
  }
}

async function mustExist(model: ModelName & { at: 'folder' }): Promise<void> {
  for (const file of ['config.json', 'tokenizer.json', weightsFile(model)]) {
    try {
      await access(join(model.folder, file))
    } catch (cause) {
      throw new MemError(
        'not_found',
        `${model.folder} holds no model that can be used: ${file} is missing. It needs config.json, tokenizer.json and ${weightsFile(model)}.`,
        { cause },
      )
    }
  }
}

/** The library keeps its settings in one object; this thread loads one model. */
function prepare({ env, LogLevel }: Library, options: LoadOptions, hub: HubFetch): string {
  const { model, cacheDir } = options
  env.logLevel = LogLevel.NONE
  env.fetch = hub.fetch
  env.remoteHost = options.remoteHost
  env.cacheDir = cacheDir
  if (model.at === 'folder') {
    env.allowRemoteModels = false
    env.allowLocalModels = true
    env.useFSCache = false
    return model.folder
  }
  env.allowRemoteModels = options.allowRemote
  // What was fetched lies as local models do.
  env.allowLocalModels = !options.allowRemote
  env.useFSCache = options.allowRemote
  env.localModelPath = cacheDir
  return model.id
}

function reporter(onProgress: (progress: DownloadProgress) => void) {
  return (info: ProgressInfo): void => {
    if (info.status !== 'progress_total' || info.total === 0) return
    onProgress({ loadedBytes: info.loaded, totalBytes: info.total })
  }
}

function loaded(extract: FeatureExtractionPipeline, name: string, dimensions: number): LoadedModel {
  const limit: unknown = extract.tokenizer.model_max_length
  const maxChars = typeof limit === 'number' && limit <= MAX_TOKENS ? MAX_CHARS : SAFE_CHARS
  return {
    name,
    dimensions,
    dispose: async () => void (await extract.dispose()),
    embed: async (texts) => {
      const cut = texts.map((text) => text.slice(0, maxChars))
      const said = cut.filter((text) => text.trim() !== '')
      const vectors: (Float32Array | null)[] = []
      for (const group of grouped(said)) vectors.push(...(await vectorsOf(extract, group)))
      let next = 0
      return cut.map((text) => (text.trim() === '' ? null : (vectors[next++] ?? null)))
    },
  }
}

function grouped(texts: readonly string[]): string[][] {
  const groups: string[][] = []
  let longest = 0
  for (const text of texts) {
    const last = groups.at(-1)
    longest = Math.max(longest, text.length)
    if (last !== undefined && (last.length + 1) * longest <= GROUP_CHARS) last.push(text)
    else {
      groups.push([text])
      longest = text.length
    }
  }
  return groups
}

async function vectorsOf(extract: FeatureExtractionPipeline, texts: string[]): Promise<(Float32Array | null)[]> {
  const tensor = await extract(texts, { pooling: 'mean', normalize: true })
  const { data, dims } = tensor
  const dimensions = dims.at(-1) ?? 0
  if (!(data instanceof Float32Array) || data.length !== texts.length * dimensions) {
    throw new Error(`it gave ${data.length} numbers for ${texts.length} texts`)
  }
  return texts.map((_, i) => {
    const vector = data.slice(i * dimensions, (i + 1) * dimensions)
    // No token of it is known to the model: its mean has no direction.
    return vector.every(Number.isFinite) && vector.some((value) => value !== 0) ? vector : null
  })
}

/** A folder may hold other weights tomorrow: what is in it is part of the name. */
async function nameOf({ model }: LoadOptions): Promise<string> {
  if (model.at === 'hub') return shortName(model)
  const hash = createHash('sha256')
  for (const file of ['tokenizer.json', weightsFile(model)]) {
    await pipe(createReadStream(join(model.folder, file)), hash, { end: false })
  }
  return `${shortName(model)}#${hash.digest('hex').slice(0, 8)}`
}

function failure(error: unknown, options: LoadOptions, hub: HubFetch): MemError {
  if (error instanceof MemError) return error
  const { model, cacheDir, remoteHost } = options
  const given = givenName(model)
  const again = `try again: claude-mem models pull ${given}`
  const trouble = hub.trouble()
  if (trouble !== null) {
    const message = `${remoteHost} cannot be reached: ${trouble}; the static embedder is used meanwhile; ${again}`
    return new MemError('internal', message, { cause: error, retryable: true })
  }
  if (error instanceof Error && error.name === 'ModelFileNotFoundError') {
    const message = options.allowRemote
      ? `${remoteHost} has no model ${given} that can be used (${messageOf(error)}). If it is not public, set HF_TOKEN.`
      : `${given} is not on this machine. Fetch it: claude-mem models pull ${given}`
    return new MemError('not_found', message, { cause: error })
  }
  const folder = folderOf(model, cacheDir)
  const wrong = `The model in ${folder} cannot be used: ${messageOf(error)}.`
  if (model.at === 'folder') return new MemError('internal', wrong, { cause: error })
  if (hub.given.size === 0) return new MemError('internal', `${wrong} Remove it and ${again}`, { cause: error })
  forget(hub.given, `${remoteHost}${model.id}/resolve/main/`, folder)
  return new MemError('internal', `${wrong} What was fetched is removed; ${again}`, { cause: error, retryable: true })
}

/** What was fetched just now and cannot be used would be found in its place for ever. */
function forget(given: ReadonlySet<string>, base: string, folder: string): void {
  for (const address of given) {
    if (address.startsWith(base)) rmSync(join(folder, address.slice(base.length)), { force: true })
  }
}
