/** `npm start`: installs and builds what is missing, then runs the daemon in the foreground. */
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
ensureBuilt()
// Ctrl-C is for the daemon, which drains; this process waits for it.
process.on('SIGINT', () => undefined)
run(process.execPath, [join(root, 'dist', 'cli.js'), 'start', '--foreground', ...process.argv.slice(2)])
