/** Node 20 runs no TypeScript: what must run outside of vitest is bundled first. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Bundle {
  file: string
  dispose(): void
}

/** `beside`: others that it looks for in its own directory, by the name that they have there. */
export function bundle(source: string, name: string, beside: Record<string, string> = {}): Bundle {
  // Below the project, so that the bundle finds better-sqlite3.
  const directory = mkdtempSync(join(ROOT, 'node_modules', '.claude-mem-test-'))
  const file = join(directory, name)
  for (const [made, from] of Object.entries({ ...beside, [name]: source })) {
    buildSync({
      entryPoints: [join(ROOT, from)],
      outfile: join(directory, made),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
    })
  }
  return { file, dispose: () => rmSync(directory, { recursive: true, force: true }) }
}
