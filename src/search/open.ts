/** From settings to an engine: the embedder that they name, or the one that always works. */
import { messageOf } from '../errors.ts'
import { COLUMNS } from './columns.ts'
import type { Embedder } from './embedder.ts'
import { STATIC_NAME, staticEmbedder } from './embedders/static.ts'
import { SearchEngine } from './engine.ts'
import type { Weights } from './rank.ts'

export interface SearchOptions {
  database: string
  /** `static`, or a model's name or folder. */
  embedder: string
  /** Where models lie. */
  modelsDirectory: string
  vectorsDirectory: string
  graphFrom: number
  weights: Weights
}

export interface OpenedSearch {
  engine: SearchEngine
  /** What people should know: an embedder that could not be loaded. */
  notes: string[]
}

export async function openSearch(options: SearchOptions, log: (text: string) => void): Promise<OpenedSearch> {
  const notes: string[] = []
  const embedder = await loaded(options, notes)
  const { database, vectorsDirectory, graphFrom, weights } = options
  const engine = await SearchEngine.open({
    database,
    embedder,
    vectorsDirectory,
    graphFrom,
    weights,
    columns: COLUMNS,
    log,
  })
  return { engine, notes }
}

async function loaded({ embedder, modelsDirectory }: SearchOptions, notes: string[]): Promise<Embedder | null> {
  if (embedder !== 'static' && embedder !== STATIC_NAME) {
    try {
      const { transformersEmbedder } = await import('./embedders/transformers.ts')
      // What is not there is fetched by `claude-mem models pull`, not behind somebody's back.
      return await transformersEmbedder({ model: embedder, cacheDir: modelsDirectory, allowRemote: false })
    } catch (error) {
      notes.push(`the embedder ${embedder} cannot be used, the built-in one stands in: ${messageOf(error)}`)
    }
  }
  try {
    return await staticEmbedder()
  } catch (error) {
    notes.push(`search goes by words alone: ${messageOf(error)}`)
    return null
  }
}
