/** `npm run test:browser`: the viewer in a real Chromium, before a real daemon that real hooks report to. */
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
if (process.env.CLAUDE_MEM_BUILD_DIR === undefined) ensureBuilt()
run(process.execPath, [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--config',
  'vitest.browser.config.ts',
  ...process.argv.slice(2),
])
