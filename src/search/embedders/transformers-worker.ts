/** The thread of a model: loading and embedding take seconds of a processor, which nobody else waits for. */
import { parentPort, workerData } from 'node:worker_threads'
import { MemError, messageOf } from '../../errors.ts'
import { serveThread } from '../../thread.ts'
import { type LoadedModel, type LoadOptions, loadModel } from './transformers-loader.ts'

/** What the thread can be asked. */
export interface ModelCalls {
  /** Once, before all else. While it runs, what is fetched is told. */
  load(): Promise<{ name: string; dimensions: number }>
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>
  /** Ends a download, and gives up what waits. */
  close(): Promise<void>
}

if (parentPort !== null) await serveThread(parentPort, async (say) => serve(workerData, say), named)

function serve(options: LoadOptions, say: (value: unknown) => void) {
  const stopping = new AbortController()
  let loading: Promise<LoadedModel> | null = null
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: the model uses its threads for one call at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(() => {
      stopping.signal.throwIfAborted()
      return work()
    })
    last = turn.catch(() => undefined)
    return turn
  }
  const methods: ModelCalls = {
    load: async () => {
      loading = loadModel(options, { stopped: stopping.signal, onProgress: say })
      const { name, dimensions } = await loading
      return { name, dimensions }
    },
    embed: (texts) =>
      inTurn(async () => {
        if (loading === null) throw new MemError('internal', 'The model is not loaded.')
        return await (await loading).embed(texts)
      }),
    close: async () => {
      stopping.abort(new MemError('internal', 'The embedder is closed.'))
      await last
      // A load that failed was told to whoever asked for it.
      const model = await loading?.catch(() => null)
      await model?.dispose()
    },
  }
  return (method: string, args: readonly unknown[]): unknown => {
    if (method === 'load') return methods.load()
    if (method === 'close') return methods.close()
    // Its only caller gives it texts.
    if (method === 'embed') return methods.embed(args[0] as readonly string[])
    throw new MemError('internal', `a model knows no ${method}`)
  }
}

function named(error: unknown): MemError {
  if (error instanceof MemError) return error
  return new MemError('internal', `The model cannot embed a text: ${messageOf(error)}`, { cause: error })
}
