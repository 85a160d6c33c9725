/** Embeds with a feature-extraction model in a worker thread. Loading takes seconds, a text milliseconds. */
import { connectWorker, workerFile } from '../../lib/worker-rpc.ts'
import { type Embedder, modelFolder, parseModelName, removePartialDownloads } from './models.ts'
import type { DownloadProgress, ModelCalls, ModelLoadOptions } from './transformers-worker.ts'

export type { DownloadProgress } from './transformers-worker.ts'

export interface TransformersOptions
  extends Pick<ModelLoadOptions, 'cacheDir' | 'allowRemote'>,
    Partial<Pick<ModelLoadOptions, 'remoteHost' | 'stallMs'>> {
  /** `owner/name` or a folder, optionally with a precision: `@q8`. */
  model: string
  onProgress?: (progress: DownloadProgress) => void
  /** Aborts loading, including a download. */
  signal?: AbortSignal
  /** Default: the bundled worker next to the running program. */
  workerFile?: string
}

/** On `close`, texts that are still being embedded are rejected. */
export type TransformersEmbedder = Required<Embedder>

const WORKER_NAME = 'embedder-worker.js'
const HUB = 'https://huggingface.co/'
/** A download fails if the hub sends nothing for this long. */
const STALL_TIMEOUT_MS = 30_000
/** Texts per call: few, so that a query does not wait long for memories that are embedded in the background. */
const BATCH_TEXTS = 16

export async function transformersEmbedder(options: TransformersOptions): Promise<TransformersEmbedder> {
  const { onProgress, signal } = options
  signal?.throwIfAborted()
  const load = loadOptions(options)
  const calls = await connectWorker<ModelCalls, DownloadProgress>({
    name: 'embedder',
    file: options.workerFile ?? workerFile(WORKER_NAME),
    data: load,
    ...(onProgress === undefined ? {} : { onEvent: onProgress }),
  })
  let closing: Promise<void> | null = null
  const close = () => {
    // Fails only if the thread has ended already.
    closing ??= calls.close().catch(() => undefined)
    return closing
  }
  const stop = () => void close()
  signal?.addEventListener('abort', stop)
  try {
    const { name, dimensions } = await calls.load()
    signal?.throwIfAborted()
    return { name, dimensions, embed: (texts) => embedAll(calls, texts), close }
  } catch (error) {
    await close()
    // After the thread has ended, so that it does not write any more.
    if (load.model.at === 'hub') removePartialDownloads(modelFolder(load.model, load.cacheDir))
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

function loadOptions(options: TransformersOptions): ModelLoadOptions {
  const { model, cacheDir, allowRemote, remoteHost, stallMs = STALL_TIMEOUT_MS } = options
  // HF_ENDPOINT is the variable with which the hub's tools select a mirror.
  const host = remoteHost ?? (process.env.HF_ENDPOINT?.trim() || HUB)
  const withSlash = host.endsWith('/') ? host : `${host}/`
  return { model: parseModelName(model), cacheDir, allowRemote, remoteHost: withSlash, stallMs }
}

async function embedAll(calls: ModelCalls, texts: readonly string[]): Promise<(Float32Array | null)[]> {
  const vectors: (Float32Array | null)[] = []
  for (let start = 0; start < texts.length; start += BATCH_TEXTS) {
    vectors.push(...(await calls.embed(texts.slice(start, start + BATCH_TEXTS))))
  }
  return vectors
}
