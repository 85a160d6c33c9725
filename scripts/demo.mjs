/** `npm run demo [-- --json]`: installs and builds what is missing, then runs scripts/demo.ts. */
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
if (process.env.CLAUDE_MEM_BUILD_DIR === undefined) ensureBuilt()
// Ctrl-C is for the demo, which stops its daemon and takes its directory away.
process.on('SIGINT', () => undefined)
run(process.execPath, [join(root, 'scripts', 'run.mjs'), 'demo', ...process.argv.slice(2)])
