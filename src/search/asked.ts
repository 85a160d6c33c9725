/** Which mode answers a request, and what there is to say about it. */
import type { AnsweredMode, SearchFilters, SearchRequest } from './query.ts'

export interface Asked {
  mode: AnsweredMode
  /** What is looked for. */
  text: string
  notes: string[]
}

const QUOTED = /^["“”]([^"“”]+)["“”]$/su

/** In quotes it is meant word for word. */
export function chosenMode({ query, mode }: Pick<SearchRequest, 'query' | 'mode'>, hasVectors: boolean): Asked {
  const text = query.trim()
  if (text === '') return { mode: 'filter', text, notes: [] }
  if (mode === 'strict') return { mode, text, notes: [] }
  const quoted = QUOTED.exec(text)?.[1]
  if (mode === 'auto' && quoted !== undefined) return { mode: 'strict', text: quoted, notes: [] }
  if (hasVectors) return { mode: mode === 'semantic' ? 'semantic' : 'hybrid', text, notes: [] }
  const notes = ['no embedder could be loaded: found by words alone (claude-mem status says why)']
  return { mode: 'hybrid', text, notes }
}

/** With what is spelt like the words that no memory says. */
export function respelt({ mode, text, notes }: Asked, alike: ReadonlyMap<string, readonly string[]>): Asked {
  if (alike.size === 0) return { mode, text, notes }
  const words = [...alike.keys()].map((word) => `"${word}"`).join(', ')
  const note = `no memory says ${words}: what is spelt alike was looked for too`
  return { mode, text: [text, ...[...alike.values()].flat()].join(' '), notes: [...notes, note] }
}

/** Whether the filters leave out anything of a project. */
export function isNarrow({ types, concepts, files, since, until, agent, session, pinned }: SearchFilters): boolean {
  const isListed = types.length + concepts.length + files.length > 0
  return isListed || pinned || [since, until, agent, session].some((one) => one !== null)
}
