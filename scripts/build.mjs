/**
 * Builds `dist/`: the program as ES modules that find their packages in node_modules, and the hook as one
 * CommonJS file with no dependency (a hook must cost hardly more than starting node).
 */
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const define = { __VERSION__: JSON.stringify(process.env.CLAUDE_MEM_BUILD_VERSION ?? version) }
const outdir = process.env.CLAUDE_MEM_BUILD_DIR ?? join(root, 'dist')

rmSync(outdir, { recursive: true, force: true })

const program = build({
  absWorkingDir: root,
  entryPoints: {
    cli: 'src/cli/main.ts',
    daemon: 'src/daemon-process.ts',
    'store-worker': 'src/store/sqlite/worker.ts',
    'backup-worker': 'src/store/sqlite/backup-worker.ts',
    'search-worker': 'src/search/worker.ts',
    'embedder-worker': 'src/search/embedders/transformers-worker.ts',
    'claude-code-guard': 'src/observer/providers/claude-code/guard.ts',
  },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: true,
  define,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
})

const hook = build({
  absWorkingDir: root,
  entryPoints: { hook: 'src/hook/main.ts' },
  outdir,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minify: true,
  define,
  logLevel: 'warning',
})

await Promise.all([program, hook])
