/** Where the project and its built program are. Scripts run as bundles in a cache directory, so they look upwards. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = above(dirname(fileURLToPath(import.meta.url)))
/** The build that is tested; the variable is the one that `scripts/build.mjs` reads. */
export const DIST = process.env.CLAUDE_MEM_BUILD_DIR ?? join(ROOT, 'dist')
export const HOOK = join(DIST, 'hook.cjs')
export const DAEMON = join(DIST, 'daemon.js')

function above(directory: string): string {
  if (existsSync(join(directory, 'package-lock.json'))) return directory
  const parent = dirname(directory)
  if (parent === directory) throw new Error('run this from within the project')
  return above(parent)
}
