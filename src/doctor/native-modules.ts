/** Packages that are compiled for this machine: one is needed, the others make something better. */
import { createRequire } from 'node:module'
import { messageOf } from '../errors.ts'
import { canRunModels } from '../search/embedders/local-models.ts'
import { graphLibrary } from '../search/vectors/graph.ts'
import { advice, type Examination, type Finding, faultsOr, problem } from './check.ts'
import type { Facts } from './facts.ts'

const WITH_OPTIONAL = 'npm install -g claude-mem --include=optional'

export function nativeModules({ settings }: Facts, loadDatabase = openInMemory): Examination {
  return {
    id: 'native-modules',
    title: 'Native modules',
    look: async () => {
      const faults: Finding[] = []
      try {
        await loadDatabase()
      } catch (error) {
        const [why] = messageOf(error).split('\n', 1)
        faults.push(
          problem(
            `better-sqlite3, which keeps the memory, cannot be loaded by Node ${process.versions.node}: ${why}`,
            'npm rebuild better-sqlite3 where claude-mem is installed, or npm install -g claude-mem with this node',
          ),
        )
      }
      const { reason } = await graphLibrary()
      if (reason !== null) {
        const from = settings.values.CLAUDE_MEM_VECTOR_INDEX_FROM
        faults.push(
          advice(`${reason}. With it, search stays quick in projects of more than ${from} vectors`, WITH_OPTIONAL),
        )
      }
      if (!canRunModels()) {
        faults.push(
          advice(
            '@huggingface/transformers is not installed. With it, a model can find memories by meaning, in any language',
            WITH_OPTIONAL,
          ),
        )
      }
      return faultsOr(
        faults,
        `better-sqlite3 ${versionOf('better-sqlite3')}, hnswlib-node and @huggingface/transformers`,
      )
    },
  }
}

async function openInMemory(): Promise<void> {
  const { default: BetterSqlite3 } = await import('better-sqlite3')
  new BetterSqlite3(':memory:').close()
}

function versionOf(name: string): string {
  const { version }: { version?: unknown } = createRequire(import.meta.url)(`${name}/package.json`)
  return String(version)
}
