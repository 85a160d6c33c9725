/**
 * Builds `dist/`:
 * - the program as ES modules with most packages bundled, so that only the used parts of a package take memory and
 *   start-up time (the daemon takes 5 MB less than with packages loaded from node_modules);
 * - the MCP server as one file: clients ask for the tools once, so a server that starts late is not used;
 * - the hook as one CommonJS file without dependencies: it must cost hardly more than starting node;
 * - `plugin/`, the Claude Code plugin that runs them; `viewer/`, the page that the daemon serves, with the statechart of a
 *   session laid out.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const version = process.env.CLAUDE_MEM_BUILD_VERSION ?? manifest.version
const define = { __VERSION__: JSON.stringify(version) }
const outdir = process.env.CLAUDE_MEM_BUILD_DIR ?? join(root, 'dist')

rmSync(outdir, { recursive: true, force: true })

const MCP_SERVER = 'mcp-server'

/** Loaded from node_modules: native code, optional packages, packages that read their own files or load on demand. */
const EXTERNAL_PACKAGES = [
  'better-sqlite3',
  'hnswlib-node',
  '@huggingface/transformers',
  '@anthropic-ai/sdk',
  '@modelcontextprotocol/sdk',
  'yargs',
  'pg',
]
/** Optional parts of `ws`, which works without them. */
const OPTIONAL_WS_PARTS = ['bufferutil', 'utf-8-validate']
/** Bundled CommonJS packages call `require` for modules of Node. */
const REQUIRE_BANNER = {
  js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
}

const program = build({
  absWorkingDir: root,
  entryPoints: {
    cli: 'src/cli/main.ts',
    daemon: 'src/daemon/main.ts',
    'store-worker': 'src/store/sqlite/worker.ts',
    'reader-worker': 'src/store/sqlite/reader-worker.ts',
    'backup-worker': 'src/store/recovery/backup-worker.ts',
    'search-worker': 'src/search/worker.ts',
    'embedder-worker': 'src/search/embedders/transformers-worker.ts',
    'claude-code-guard': 'src/observer/providers/claude-code/guard.ts',
    client: 'src/transport/public-client.ts',
  },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: [...EXTERNAL_PACKAGES, ...OPTIONAL_WS_PARTS],
  banner: REQUIRE_BANNER,
  // Names are kept: stack traces in the log stay readable.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: true,
  define,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
  plugins: [
    {
      name: MCP_SERVER,
      setup: ({ onResolve }) =>
        onResolve({ filter: /\/mcp\/server\.ts$/ }, () => ({ path: `./${MCP_SERVER}.js`, external: true })),
    },
  ],
})

const mcpServer = build({
  absWorkingDir: root,
  entryPoints: { [MCP_SERVER]: 'src/mcp/server.ts' },
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  define,
  external: OPTIONAL_WS_PARTS,
  banner: REQUIRE_BANNER,
  logLevel: 'warning',
})

const hook = build({
  absWorkingDir: root,
  entryPoints: { hook: 'src/hook/main.ts', 'plugin/hook': 'src/setup/plugin/hook.ts' },
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

await Promise.all([program, mcpServer, hook, viewer(), declarations(join(outdir, 'types'))])
await writePlugin(join(outdir, 'plugin'))

async function viewer() {
  const { CHARTS } = await loaded('src/statechart/machine-charts.ts')
  const { layoutChart } = await loaded('src/statechart/layout.ts')
  const statechart = { chart: CHARTS.session, layout: await layoutChart(CHARTS.session) }
  await build({
    absWorkingDir: root,
    entryPoints: { app: 'src/viewer/main.tsx' },
    outdir: join(outdir, 'viewer'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    minify: true,
    // A string, so that a test can find it in the minified bundle.
    define: { ...define, __SESSION_STATECHART__: JSON.stringify(JSON.stringify(statechart)) },
    logLevel: 'warning',
  })
  for (const name of ['index.html', 'icon.svg']) {
    copyFileSync(join(root, 'src/viewer', name), join(outdir, 'viewer', name))
  }
}

/** Types of `claude-mem/client`. Where the compiler is missing, as in a production install, the client does without. */
async function declarations(directory) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  if (!existsSync(compiler)) return
  await promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.client.json', '--outDir', directory], {
    cwd: root,
  })
  // The sources import each other with `.ts`; what lies here is found as the `.d.ts` of a `.js`.
  for (const file of readdirSync(directory, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue
    const text = readFileSync(join(directory, file), 'utf8')
    writeFileSync(join(directory, file), text.replace(/((?:from |import\()['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '$1.js'))
  }
}

async function writePlugin(directory) {
  const { pluginFiles } = await loaded('src/setup/plugin/files.ts')
  for (const [path, content] of Object.entries(pluginFiles({ ...manifest, version }))) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
  }
}

/** Bundles and imports a TypeScript source that the build itself needs. */
async function loaded(source) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [source],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    define,
    logLevel: 'warning',
  })
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}
