/** From settings to what the search is opened with. */
import type { Paths } from '../paths.ts'
import type { Settings } from '../settings.ts'
import type { SearchOptions } from './open.ts'

export function searchOptions(settings: Settings, paths: Paths): SearchOptions {
  return {
    database: paths.database,
    embedder: settings.CLAUDE_MEM_EMBEDDER || 'static',
    modelsDirectory: paths.models,
    vectorsDirectory: paths.vectors,
    graphFrom: settings.CLAUDE_MEM_VECTOR_INDEX_FROM,
    weights: {
      lexical: settings.CLAUDE_MEM_SEARCH_LEXICAL,
      semantic: settings.CLAUDE_MEM_SEARCH_SEMANTIC,
      session: settings.CLAUDE_MEM_SEARCH_SESSION,
      recency: settings.CLAUDE_MEM_SEARCH_RECENCY,
      type: settings.CLAUDE_MEM_SEARCH_TYPE,
      halfLifeDays: settings.CLAUDE_MEM_SEARCH_HALF_LIFE_DAYS,
    },
  }
}
