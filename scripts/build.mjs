/**
 * Builds `dist/`: the program as ES modules that find their packages in node_modules, the MCP server as one file with
 * its packages inside (a client asks for its tools once, and an agent whose server starts late goes without), and the
 * hook as one CommonJS file with no dependency (a hook must cost hardly more than starting node). Beside them, in
 * `plugin/`, the Claude Code plugin that runs them, and in `viewer/` the page that the daemon serves, with the
 * statecharts read off the machines.
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
    client: 'src/client/index.ts',
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
  // Optional parts of `ws`, which does without them.
  external: ['bufferutil', 'utf-8-validate'],
  // Some of the packages are CommonJS and ask for Node's own modules.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
  logLevel: 'warning',
})

const hook = build({
  absWorkingDir: root,
  entryPoints: { hook: 'src/hook/main.ts', 'plugin/hook': 'src/plugin/hook.ts' },
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
  const { CHARTS } = await loaded('src/chart/charts.ts')
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
    // As text: whoever compares it with the machines finds it in the bundle as it is.
    define: { ...define, __CHARTS__: JSON.stringify(JSON.stringify(CHARTS)) },
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
  const { pluginFiles } = await loaded('src/plugin/files.ts')
  for (const [path, content] of Object.entries(pluginFiles({ ...manifest, version }))) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
  }
}

/** A source that the build itself needs: it says which events there are. */
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
