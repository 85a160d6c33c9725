/** Where the project and the build under test are. */
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')
/** `scripts/build.mjs` reads the same variable. */
export const DIST = process.env.CLAUDE_MEM_BUILD_DIR ?? join(ROOT, 'dist')
