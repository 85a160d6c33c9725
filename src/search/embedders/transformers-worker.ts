/**
 * The worker thread of a feature-extraction model: loads it from the hub or from a folder, and turns texts into
 * vectors. It is a thread because loading and embedding take seconds of processor time.
 */
import { createHash } from 'node:crypto'
import { createReadStream, rmSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pipeline as pipe } from 'node:stream/promises'
import { workerData } from 'node:worker_threads'
import type { FeatureExtractionPipeline, ProgressInfo } from '@huggingface/transformers'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { fetchCommand, isMissingPackage, requirePackage } from '../../lib/packages.ts'
import { SerialQueue } from '../../lib/serial-queue.ts'
import { serveWorker } from '../../lib/worker-rpc.ts'
import {
  type Embedder,
  fullModelName,
  type ModelName,
  modelFolder,
  revisionFolder,
  shortModelName,
  weightsFile,
} from './models.ts'

/** Calls that the thread answers. */
export interface ModelCalls extends Pick<Required<Embedder>, 'embed' | 'close'> {
  /** Has to be called first. Emits the progress of a download, which `close` aborts. */
  load(): Promise<Pick<Embedder, 'name' | 'dimensions'>>
}

function serve(options: ModelLoadOptions, emit: (progress: DownloadProgress) => void): ModelCalls {
  const stopping = new AbortController()
  let loading: Promise<Required<Embedder>> | null = null
  // The model can only run one call at a time.
  const calls = new SerialQueue()
  return {
    load: async () => {
      loading = loadModel(options, { stopped: stopping.signal, onProgress: emit })
      const { name, dimensions } = await loading
      return { name, dimensions }
    },
    embed: (texts) =>
      calls.run(async () => {
        stopping.signal.throwIfAborted()
        if (loading === null) throw new MemError('internal', 'The model is not loaded.')
        return await (await loading).embed(texts)
      }),
    close: async () => {
      stopping.abort(new MemError('internal', 'The embedder is closed.'))
      await calls.idle()
      // The caller of `load` got its error.
      const model = await loading?.catch(() => null)
      await model?.close()
    },
  }
}

function toModelError(error: unknown): MemError {
  if (error instanceof MemError) return error
  return new MemError('internal', `The model cannot embed a text: ${errorMessage(error)}`, { cause: error })
}

export interface ModelLoadOptions {
  model: ModelName
  /** Where models from the hub are stored, as `owner/name/…`. */
  cacheDir: string
  /** False: nothing is downloaded. */
  allowRemote: boolean
  /** Base URL of the hub. */
  remoteHost: string
  /** A download fails if the hub sends nothing for this long. */
  stallMs: number
}

/** Sum over all files. */
export interface DownloadProgress {
  loadedBytes: number
  totalBytes: number
}

type Library = typeof import('@huggingface/transformers')

/** Characters of a text that are embedded: about 500 tokens. Memory grows with the square of it. */
const MAX_CHARS = 2_000
/** A larger limit in a model's configuration means that the limit is unknown. */
const MAX_TOKENS = 100_000
/** Characters if the limit is unknown: every model reads 512 tokens, and a token has at least one character. */
const SAFE_CHARS = 500
/** Most characters of texts that are embedded together, counted with padding to the longest one. */
const GROUP_CHARS = 8_000
/** Half of the processors stay free: memories are embedded in the background. */
const THREADS = Math.max(1, Math.floor(availableParallelism() / 2))
const PROBE = 'memory'

async function loadModel(
  options: ModelLoadOptions,
  { stopped, onProgress }: { stopped: AbortSignal; onProgress(progress: DownloadProgress): void },
): Promise<Required<Embedder>> {
  const library = loadLibrary()
  if (options.model.at === 'folder') await checkFolder(options.model)
  const hub = hubClient({ stallMs: options.stallMs, stopped })
  const id = configure(library, options, hub)
  let extract: FeatureExtractionPipeline | null = null
  try {
    extract = await library.pipeline('feature-extraction', id, {
      dtype: options.model.precision,
      device: 'cpu',
      session_options: { intraOpNumThreads: THREADS },
      ...(options.allowRemote ? { progress_callback: progressCallback(onProgress) } : {}),
    })
    const [probe] = await vectorsOf(extract, [PROBE])
    if (probe === undefined || probe === null) throw new Error('it makes no vectors')
    return embedderOf(extract, await embedderName(options), probe.length)
  } catch (error) {
    await extract?.dispose()
    throw loadError(error, options, hub)
  }
}

function loadLibrary(): Library {
  try {
    return requirePackage('@huggingface/transformers')
  } catch (cause) {
    const problem = isMissingPackage(cause)
      ? 'is not installed, so only the static embedder works. Install it'
      : `cannot be loaded (${errorMessage(cause)}). Install it again`
    const name = '@huggingface/transformers'
    throw new MemError('not_found', `${name} ${problem}: ${fetchCommand(name)}`, { cause })
  }
}

async function checkFolder(model: ModelName & { at: 'folder' }): Promise<void> {
  for (const file of ['config.json', 'tokenizer.json', weightsFile(model)]) {
    try {
      await access(join(model.folder, file))
    } catch (cause) {
      throw new MemError(
        'not_found',
        `${model.folder} has no usable model: ${file} is missing. It needs config.json, tokenizer.json and ${weightsFile(model)}.`,
        { cause },
      )
    }
  }
}

/** Sets the library's global settings and returns the model's id. The thread loads only one model. */
function configure({ env, LogLevel }: Library, options: ModelLoadOptions, hub: HubClient): string {
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
  // Downloaded models have the layout of local ones.
  env.allowLocalModels = !options.allowRemote
  env.useFSCache = options.allowRemote
  env.cacheDir = revisionFolder(cacheDir, model)
  env.localModelPath = env.cacheDir
  // The library's own option is not used for every file: when it adds up sizes, it asks for the newest revision.
  if (model.revision !== null) env.remotePathTemplate = `{model}/resolve/${model.revision}/`
  return model.id
}

function progressCallback(onProgress: (progress: DownloadProgress) => void) {
  return (info: ProgressInfo): void => {
    if (info.status !== 'progress_total' || info.total === 0) return
    onProgress({ loadedBytes: info.loaded, totalBytes: info.total })
  }
}

function embedderOf(extract: FeatureExtractionPipeline, name: string, dimensions: number): Required<Embedder> {
  const limit: unknown = extract.tokenizer.model_max_length
  const maxChars = typeof limit === 'number' && limit <= MAX_TOKENS ? MAX_CHARS : SAFE_CHARS
  return {
    name,
    dimensions,
    close: async () => void (await extract.dispose()),
    embed: async (texts) => {
      const cut = texts.map((text) => text.slice(0, maxChars))
      const nonEmpty = cut.filter((text) => text.trim() !== '')
      const vectors: (Float32Array | null)[] = []
      for (const group of groupBySize(nonEmpty)) vectors.push(...(await vectorsOf(extract, group)))
      let next = 0
      return cut.map((text) => (text.trim() === '' ? null : (vectors[next++] ?? null)))
    },
  }
}

function groupBySize(texts: readonly string[]): string[][] {
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
    throw new Error(`it returned ${data.length} numbers for ${texts.length} texts`)
  }
  return texts.map((_, i) => {
    const vector = data.slice(i * dimensions, (i + 1) * dimensions)
    // The model knows no token of the text: the mean is zero or not a number.
    return vector.every(Number.isFinite) && vector.some((value) => value !== 0) ? vector : null
  })
}

/** The content of a folder may change, so its hash is part of the name. */
async function embedderName({ model }: ModelLoadOptions): Promise<string> {
  if (model.at === 'hub') return shortModelName(model)
  const hash = createHash('sha256')
  for (const file of ['tokenizer.json', weightsFile(model)]) {
    await pipe(createReadStream(join(model.folder, file)), hash, { end: false })
  }
  return `${shortModelName(model)}#${hash.digest('hex').slice(0, 8)}`
}

/** An error that says what to do. */
function loadError(error: unknown, options: ModelLoadOptions, hub: HubClient): MemError {
  if (error instanceof MemError) return error
  const { model, cacheDir, remoteHost } = options
  const name = fullModelName(model)
  const again = `try again: claude-mem models pull ${name}`
  const hubProblem = hub.problem()
  if (hubProblem !== null) {
    const message = `${remoteHost} cannot be reached: ${hubProblem}; the static embedder is used meanwhile; ${again}`
    return new MemError('internal', message, { cause: error, retryable: true })
  }
  if (error instanceof Error && error.name === 'ModelFileNotFoundError') {
    const message = options.allowRemote
      ? `${remoteHost} has no usable model ${name} (${errorMessage(error)}). If it is not public, set HF_TOKEN.`
      : `${name} is not on this machine. Download it: claude-mem models pull ${name}`
    return new MemError('not_found', message, { cause: error })
  }
  const folder = modelFolder(model, cacheDir)
  const problem = `The model in ${folder} cannot be used: ${errorMessage(error)}.`
  if (model.at === 'folder') return new MemError('internal', problem, { cause: error })
  if (hub.downloaded.size === 0) return new MemError('internal', `${problem} Remove it and ${again}`, { cause: error })
  removeDownloaded(hub.downloaded, `${remoteHost}${model.id}/resolve/${model.revision ?? 'main'}/`, folder)
  return new MemError('internal', `${problem} The downloaded files were removed; ${again}`, {
    cause: error,
    retryable: true,
  })
}

/** Unusable files have to be removed, because the next attempt would use them again. */
function removeDownloaded(addresses: ReadonlySet<string>, base: string, folder: string): void {
  for (const address of addresses) {
    if (address.startsWith(base)) rmSync(join(folder, address.slice(base.length)), { force: true })
  }
}

type HubClient = ReturnType<typeof hubClient>

/** A `fetch` with a stall timeout that can be aborted and remembers the first problem of the server. */
function hubClient({ stallMs, stopped }: { stallMs: number; stopped: AbortSignal }) {
  let problem: string | null = null
  const downloaded = new Set<string>()
  const remember = (error: unknown): void => {
    problem ??= rootCause(error)
  }

  /** Aborts the request if the server sends nothing for `stallMs`. */
  async function withStallTimeout<T>(request: AbortController, next: Promise<T>): Promise<T> {
    const timer = setTimeout(() => request.abort(new Error(`no answer within ${stallMs / 1_000} s`)), stallMs)
    try {
      return await next
    } catch (error) {
      // The error of an aborted request does not contain the reason.
      const cause: unknown = request.signal.aborted ? request.signal.reason : error
      remember(cause)
      throw cause
    } finally {
      clearTimeout(timer)
    }
  }

  /** The body with a stall timeout for every chunk. */
  function withStallTimeouts(body: ReadableStream<Uint8Array>, request: AbortController): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await withStallTimeout(request, reader.read())
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

  return {
    /** Addresses that were downloaded. */
    downloaded,
    /** The first problem of the server or the network; null if there was none. */
    problem: () => problem,
    fetch: async (input: string | URL, init?: RequestInit): Promise<Response> => {
      const request = new AbortController()
      const stop = () => request.abort(stopped.reason)
      if (stopped.aborted) stop()
      stopped.addEventListener('abort', stop)
      const response = await withStallTimeout(request, fetch(input, { ...init, signal: request.signal }))
      if (response.status === 408 || response.status === 429 || response.status >= 500) {
        remember(new Error(`it answered ${response.status}`))
      }
      const { status, statusText, headers } = response
      if (status === 200) downloaded.add(String(input))
      return new Response(response.body && withStallTimeouts(response.body, request), { status, statusText, headers })
    },
  }
}

/** The message of a failed fetch is only `fetch failed`; the reason is its cause. */
function rootCause(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : errorMessage(error)
}

await serveWorker<DownloadProgress>((emit) => serve(workerData, emit), toModelError)
