/** What finds memories by meaning: that it loads, and how far it is. */
import { messageOf } from '../errors.ts'
import { staticEmbedder } from '../search/embedders/static.ts'
import { advice, type Examination, type Finding, faultsOr, problem } from './check.ts'
import type { Facts } from './facts.ts'

const STATIC = 'static'

export function embedder(facts: Facts): Examination {
  const { settings, around } = facts
  const name = settings.values.CLAUDE_MEM_EMBEDDER
  return {
    id: 'embedder',
    title: 'Embedder',
    look: async () => {
      const faults: Finding[] = []
      let dimensions = 0
      try {
        dimensions = name === STATIC ? (await staticEmbedder()).dimensions : await load(name, around.paths.models)
      } catch (error) {
        const fix =
          name === STATIC
            ? 'npm install -g claude-mem'
            : `claude-mem models pull ${name}; or claude-mem models use static`
        const meanwhile = name === STATIC ? 'search goes by words alone' : 'static stands in'
        faults.push(problem(`${name} cannot be used, ${meanwhile}: ${messageOf(error)}`, fix))
      }
      const daemon = await facts.daemon()
      if (daemon.type === 'running' && daemon.status.indexing !== null) {
        const { done, total } = daemon.status.indexing
        faults.push(advice(`search has taken in ${done} of ${total}`, 'nothing: it goes on in the background'))
      }
      return faultsOr(faults, `${name} loads, ${dimensions} dimensions`)
    },
  }
}

/** From what is there: nothing is fetched. */
async function load(model: string, cacheDir: string): Promise<number> {
  const { transformersEmbedder } = await import('../search/embedders/transformers.ts')
  const loaded = await transformersEmbedder({ model, cacheDir, allowRemote: false })
  await loaded.close()
  return loaded.dimensions
}
