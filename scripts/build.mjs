/**
 * Builds `dist/`:
 * - the program as ES modules with most packages bundled, so that only the used parts of a package take memory and
 *   start-up time (the daemon takes 5 MB less than with packages loaded from node_modules);
 * - the MCP server as one file: clients ask for the tools once, so a server that starts late is not used;
 * - the hook as one CommonJS file without dependencies: it must cost hardly more than starting node; `fast-hook.sh`, which
 *   needs no node while the daemon answers;
 * - `opencode-plugin.js`, the plugin that runs inside OpenCode;
 * - `plugin/`, the Claude Code plugin that runs them; `viewer/`, the page that the daemon serves, with the statechart of a
 *   session laid out.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** Loaded when they are needed (src/lib/packages.ts): native code, and what is fetched on demand. All others are bundled. */
const EXTERNAL_PACKAGES = ['better-sqlite3', 'hnswlib-node', '@huggingface/transformers']
/** Optional parts of `ws` and `pg`, which work without them. */
const OPTIONAL_PARTS = ['bufferutil', 'utf-8-validate', 'pg-native', 'pg-cloudflare']
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
    'hook-worker': 'src/hook/worker.ts',
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
  external: [...EXTERNAL_PACKAGES, ...OPTIONAL_PARTS],
  metafile: true,
  banner: REQUIRE_BANNER,
  // Names are kept: stack traces in the log stay readable.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: true,
  define,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
  plugins: [
    { name: 'yargs', setup: withoutWorkingDirectory },
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
  external: OPTIONAL_PARTS,
  metafile: true,
  banner: REQUIRE_BANNER,
  logLevel: 'warning',
})

const hook = build({
  absWorkingDir: root,
  entryPoints: {
    hook: 'src/hook/main.ts',
    'hook-local': 'src/hook/local.ts',
    'plugin/hook': 'src/setup/plugin/hook.ts',
  },
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

/** For install, which writes it with the paths of the program at its beginning. Readable: users find it in their files. */
const openCodePlugin = build({
  absWorkingDir: root,
  entryPoints: { 'opencode-plugin': 'src/hook/opencode-plugin.ts' },
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'es2022',
  logLevel: 'warning',
})

const [...results] = await Promise.all([
  program,
  mcpServer,
  hook,
  openCodePlugin,
  viewer(),
  declarations(join(outdir, 'types')),
])
writeNotices(results.flatMap((result) => Object.keys(result?.metafile?.inputs ?? {})))
await writeBuildInfo()
await writePlugin(join(outdir, 'plugin'))
await writeFastHook(join(outdir, 'fast-hook.sh'))

/**
 * Outside of node_modules yargs asks for the working directory when it is loaded, which fails where that was deleted; only its
 * look for a package.json would need it.
 */
function withoutWorkingDirectory({ onLoad }) {
  onLoad({ filter: /yargs[\\/]lib[\\/]platform-shims[\\/]esm\.mjs$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8')
    const contents = text.replace('mainFilename || process.cwd()', 'mainFilename || dirname(__dirname)')
    if (contents === text) throw new Error(`${path} has changed; see withoutWorkingDirectory in scripts/build.mjs`)
    return { contents, loader: 'js' }
  })
}

async function viewer() {
  const { CHARTS } = await loaded('src/statechart/machine-charts.ts')
  const { layoutChart } = await loaded('src/statechart/layout.ts')
  const layout = await layoutChart(CHARTS.session)
  const result = await build({
    absWorkingDir: root,
    entryPoints: { app: 'src/viewer/main.tsx' },
    metafile: true,
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
    define: { ...define, __SESSION_STATECHART__: JSON.stringify(JSON.stringify(layout)) },
    logLevel: 'warning',
  })
  for (const name of ['index.html', 'icon.svg']) {
    copyFileSync(join(root, 'src/viewer', name), join(outdir, 'viewer', name))
  }
  return result
}

/** The licenses of all bundled packages: most of them ask for their text beside each copy. */
function writeNotices(inputs) {
  const found = inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [])
  const notices = [...new Set(found)].sort().map((directory) => {
    const { name, version: bundled, license } = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8'))
    const file = readdirSync(join(root, directory)).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry))
    const text = file === undefined ? '' : readFileSync(join(root, directory, file), 'utf8').trim()
    return `${name} ${bundled} (${license})\n\n${text}\n`
  })
  const heading = 'claude-mem contains the following packages.\n'
  writeFileSync(join(outdir, 'THIRD-PARTY-NOTICES.txt'), [heading, ...notices].join(`\n${'-'.repeat(80)}\n\n`))
}

/** Types of `coding-agent-memory/client`. Where the compiler is missing, as in a production install, the client does without. */
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

/** Read by `claude-mem install` and `update`: the newest database that this program understands. */
async function writeBuildInfo() {
  const { SCHEMA_VERSION } = await loaded('src/store/migrations/index.ts')
  writeFileSync(join(outdir, 'build.json'), `${JSON.stringify({ version, schema: SCHEMA_VERSION })}\n`)
}

/** Self-contained: the program is copied into the directory. Not part of the npm package. */
async function writePlugin(directory) {
  const { pluginFiles } = await loaded('src/setup/plugin/files.ts')
  for (const [path, content] of Object.entries(pluginFiles({ ...manifest, version }))) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  const isNeeded = (name) => !['plugin', 'types'].includes(name)
  for (const name of readdirSync(outdir).filter(isNeeded)) {
    cpSync(join(outdir, name), join(directory, 'dist', name), {
      recursive: true,
      filter: (file) => !file.endsWith('.map'),
    })
  }
  for (const name of ['prompts', 'assets', 'LICENSE']) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(directory, name), { recursive: true })
  }
}

/** The shell script of the fast hook, with the version and the variables that only the hook's own process reads. */
async function writeFastHook(file) {
  const { fastHookScript } = await loaded('src/hook/fast-hook.ts')
  const source = readFileSync(join(root, 'src/hook/fast-hook.sh'), 'utf8')
  writeFileSync(file, fastHookScript(source, version), { mode: 0o755 })
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
