/** `npm run chaos`: installs and builds what is missing, then runs scripts/chaos.ts. */
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
if (process.env.CLAUDE_MEM_BUILD_DIR === undefined) ensureBuilt()
run(process.execPath, [join(root, 'scripts', 'run.mjs'), 'chaos', ...process.argv.slice(2)])
