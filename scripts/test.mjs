/** `npm test`: installs and builds what is missing, then runs the tests. Words after it choose among them. */
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
ensureBuilt()
run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)])
