/** From a request about the memory to its answer. */
import type { NamedMemory } from './named-memory.ts'
import type { MemoryAnswer, MemoryRequest } from './protocol.ts'

export async function memoryAnswer(request: MemoryRequest, memory: NamedMemory): Promise<MemoryAnswer> {
  switch (request.type) {
    case 'search':
      return { type: 'found', answer: await memory.search(request.request) }
    case 'observations':
      return { type: 'observations', ...(await memory.observations(request.ids)) }
    case 'timeline': {
      const { anchor, query, project, before, after } = request
      return { type: 'timeline', ...(await memory.timeline({ anchor, query, project, before, after })) }
    }
    case 'summaries': {
      const { session, project, limit } = request
      return { type: 'summaries', summaries: await memory.summaries({ session, project, limit }) }
    }
    case 'remember': {
      const { project, cwd, title, text, kind, concepts, files } = request
      const { id } = await memory.remember({ project, cwd, title, text, kind, concepts, files })
      return { type: 'remembered', observation: id }
    }
    case 'correct': {
      const { id } = await memory.correct(request)
      return { type: 'remembered', observation: id }
    }
    case 'forget': {
      const { ids, filters = null, confirm } = request
      return { type: 'forgotten', report: await memory.forget({ ids, filters, confirm }) }
    }
    case 'pin':
      return { type: 'pinned', ...(await memory.pin(request.ids, request.on)) }
    case 'link':
      await memory.link(request.from, request.to, request.kind, request.on)
      return { type: 'linked' }
    case 'memory_stats':
      return { type: 'memory_stats', stats: await memory.stats(request.project) }
    case 'reindex':
      return { type: 'indexing', progress: await memory.reindex(request.what) }
    case 'indexing':
      return { type: 'indexing', progress: memory.indexing() }
  }
}
