/** Any feature-extraction model by name or folder, in a thread of its own. Loading it takes seconds, a text milliseconds. */
import { Thread, threadFile } from '../../thread.ts'
import type { Embedder } from '../embedder.ts'
import { removeHalfFiles } from './half-files.ts'
import { folderOf, modelNamed } from './model-name.ts'
import type { DownloadProgress, LoadOptions } from './transformers-loader.ts'
import type { ModelCalls } from './transformers-worker.ts'

export type { DownloadProgress } from './transformers-loader.ts'

export interface TransformersOptions {
  /** `owner/name`, or a folder; `@q8` behind it picks other weights than fp32. */
  model: string
  cacheDir: string
  /** False: nothing is fetched, whatever is missing. */
  allowRemote: boolean
  onProgress?: (progress: DownloadProgress) => void
  /** Ends the loading, a download included. */
  signal?: AbortSignal
  /** The bundled worker; the default lies beside the program that runs. */
  workerFile?: string
  remoteHost?: string
  stallMs?: number
}

export interface TransformersEmbedder extends Embedder {
  /** What is still being embedded is given up. */
  close(): Promise<void>
}

const WORKER_NAME = 'embedder-worker.js'
const HUB = 'https://huggingface.co/'
const STALL_MS = 30_000 // a hub that says nothing for so long will not
/** Few enough that a question does not wait long behind memories that are embedded in the background. */
const BATCH_TEXTS = 16

export async function transformersEmbedder(options: TransformersOptions): Promise<TransformersEmbedder> {
  const { onProgress, signal } = options
  signal?.throwIfAborted()
  const load = loadOptions(options)
  const calls = await openThread(options.workerFile ?? threadFile(WORKER_NAME), load, onProgress)
  let closing: Promise<void> | null = null
  const close = () => {
    // A thread that is gone already is closed.
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
    // Only now is nobody left who writes.
    if (load.model.at === 'hub') removeHalfFiles(folderOf(load.model, load.cacheDir))
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function openThread(
  file: string,
  data: LoadOptions,
  onProgress: TransformersOptions['onProgress'],
): Promise<ModelCalls> {
  // All that it says unasked is how far a download is.
  const onSaid = (value: unknown) => onProgress?.(value as DownloadProgress)
  const thread = new Thread({ name: 'embedder', file, data, onSaid })
  await thread.opened
  return {
    // The worker answers each call with what the method of that name returned.
    load: () => thread.call('load', []) as ReturnType<ModelCalls['load']>,
    embed: (texts) => thread.call('embed', [texts]) as ReturnType<ModelCalls['embed']>,
    close: () => thread.end('close'),
  }
}

function loadOptions(options: TransformersOptions): LoadOptions {
  const { model, cacheDir, allowRemote, remoteHost, stallMs = STALL_MS } = options
  // The variable is the one that the hub's own tools read; mirrors are named by it.
  const host = remoteHost ?? (process.env.HF_ENDPOINT?.trim() || HUB)
  const withSlash = host.endsWith('/') ? host : `${host}/`
  return { model: modelNamed(model), cacheDir, allowRemote, remoteHost: withSlash, stallMs }
}

async function embedAll(calls: ModelCalls, texts: readonly string[]): Promise<(Float32Array | null)[]> {
  const vectors: (Float32Array | null)[] = []
  for (let start = 0; start < texts.length; start += BATCH_TEXTS) {
    vectors.push(...(await calls.embed(texts.slice(start, start + BATCH_TEXTS))))
  }
  return vectors
}
