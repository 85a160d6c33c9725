/**
 * What the source tree looks like, and whether it keeps its rules.
 *
 *   node scripts/measure-tree.mjs           files and lines per folder, files with one importer, exported names
 *   node scripts/measure-tree.mjs --json    the same as one JSON line
 *   node scripts/measure-tree.mjs --check   exit code 1 where a rule is broken (`npm run lint` runs this)
 *
 * Rules: imports between rooms follow `ROOMS`; a room is imported only through its `ENTRY_FILES`; the root of `src/` holds
 * no code; an exported name is declared once in `src/` and `machines/`; calls that Windows does not have are used only in the
 * files of scripts/platform-calls.mjs; patterns with lists of words are in `src/reading` (scripts/word-patterns.mjs).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformCallProblems } from './platform-calls.mjs'
import { wordPatternProblems } from './word-patterns.mjs'

const root = process.argv.includes('--root')
  ? resolve(process.argv[process.argv.indexOf('--root') + 1])
  : join(dirname(fileURLToPath(import.meta.url)), '..')

/**
 * Which rooms each room may import from: only rooms above its own line. The composition root (`COMPOSITION_ROOT`) may also
 * import `COMPOSITION_ROOT_ROOMS`.
 */
export const ROOMS = {
  lib: [],
  domain: ['lib'],
  reading: ['domain', 'lib'],
  settings: ['domain', 'lib'],
  machines: ['domain'],
  statechart: ['machines'],
  store: ['machines', 'domain', 'lib'],
  search: ['store', 'reading', 'settings', 'domain', 'lib'],
  observer: ['store', 'reading', 'settings', 'domain', 'lib'],
  context: ['search', 'store', 'reading', 'settings', 'domain', 'lib'],
  team: ['store', 'settings', 'domain', 'lib'],
  daemon: ['machines', 'team', 'context', 'observer', 'search', 'store', 'reading', 'settings', 'domain', 'lib'],
  api: ['daemon', 'team', 'context', 'observer', 'search', 'store', 'reading', 'settings', 'domain', 'lib'],
  hook: ['settings', 'domain', 'lib'],
  transport: ['api', 'hook', 'daemon', 'settings', 'domain', 'lib'],
  transfer: [
    'hook',
    'api',
    'transport',
    'daemon',
    'machines',
    'observer',
    'reading',
    'context',
    'search',
    'store',
    'settings',
    'domain',
    'lib',
  ],
  setup: ['team', 'transfer', 'transport', 'api', 'hook', 'observer', 'search', 'store', 'settings', 'domain', 'lib'],
  mcp: ['transport', 'api', 'settings', 'domain', 'lib'],
  viewer: ['transport', 'api', 'statechart', 'settings', 'domain', 'lib'],
  cli: [
    'machines',
    'mcp',
    'setup',
    'transfer',
    'transport',
    'api',
    'daemon',
    'team',
    'context',
    'observer',
    'search',
    'store',
    'statechart',
    'hook',
    'settings',
    'domain',
    'lib',
  ],
}

/**
 * The files of a room that other rooms may import; the rest is private to it. The other rooms (`lib`, `domain`, `settings`,
 * `api`, `context`, `statechart`) are collections: each of their files is for others. One `index.ts` per room was tried
 * instead: `claude-mem --help` took 1.6 times as long, because a file that exports everything also loads everything, and
 * the viewer could not be bundled for the browser.
 */
export const ENTRY_FILES = {
  transfer: [
    'backfill/plan.ts',
    'backfill/run.ts',
    'backfill/survey.ts',
    'exchange/auto-memory.ts',
    'exchange/export-file.ts',
    'exchange/import.ts',
    'exchange/markdown.ts',
    'exchange/original.ts',
    'exchange/output-file.ts',
    'replay/compare.ts',
    'replay/index.ts',
    'replay/observer.ts',
    'replay/providers.ts',
    'transcripts/claude-code.ts',
    'transcripts/lines.ts',
    'transcripts/reader.ts',
    'transcripts/readers.ts',
  ],
  transport: [
    'access.ts',
    'client.ts',
    'daemon-lock.ts',
    'lock-holder.ts',
    'live-connection.ts',
    'messages.ts',
    'server.ts',
    'spool-reader.ts',
    'viewer-access.ts',
    'viewer-proof.ts',
  ],
  daemon: [
    'actors/model-calls.ts',
    'actors/stream.ts',
    'actors/supervisor.ts',
    'daemon.ts',
    'event-intake.ts',
    'forgetting.ts',
    'forgotten-copies.ts',
    'live-settings.ts',
    'memory-changes.ts',
    'project-views.ts',
    'projects.ts',
    'queue-watch.ts',
    'project-directories.ts',
  ],
  store: [
    'commit.ts',
    'exchange-records.ts',
    'migrations/index.ts',
    'port.ts',
    'recovery/backup.ts',
    'recovery/database-files.ts',
    'recovery/recover.ts',
    'recovery/recovery-notes.ts',
    'search-port.ts',
    'team-port.ts',
    'sqlite/client.ts',
    'sqlite/database.ts',
    'sqlite/export.ts',
    'sqlite/full-text-search.ts',
    'sqlite/original-database.ts',
    'sqlite/reader.ts',
    'sqlite/search-reader.ts',
    'sqlite/store.ts',
  ],
  search: [
    'embedders/models.ts',
    'embedders/static.ts',
    'embedders/transformers.ts',
    'engine.ts',
    'indexer.ts',
    'search-thread.ts',
    'vectors/hnsw-index.ts',
  ],
  reading: [
    'declarations.ts',
    'edits.ts',
    'fields.ts',
    'git.ts',
    'output.ts',
    'passages.ts',
    'pieces.ts',
    'prompt.ts',
    'shell-syntax.ts',
    'shell.ts',
    'terms.ts',
    'text.ts',
    'tool-use.ts',
    'words.ts',
  ],
  observer: [
    'make-observer.ts',
    'model/chat.ts',
    'model/novelty.ts',
    'model/prompts.ts',
    'model/reply/index.ts',
    'offline/index.ts',
    'passage-filter.ts',
    'port.ts',
    'prices.ts',
    'provider-choice.ts',
  ],
  hook: [
    'client-session.ts',
    'clients/adapter.ts',
    'clients/codex.ts',
    'clients/gemini.ts',
    'clients/copilot.ts',
    'clients/index.ts',
    'clients/opencode.ts',
    'clients/qwen.ts',
    'clients/tool-shapes.ts',
    'fast-hook.ts',
    'io.ts',
    'local.ts',
    'post.ts',
    'posted.ts',
    'shared-memory.ts',
    'payload.ts',
    'reading.ts',
    'run.ts',
    'spool.ts',
    'worker.ts',
  ],
  setup: [
    'doctor/check.ts',
    'doctor/index.ts',
    'install/change.ts',
    'install/clients/adapter.ts',
    'install/clients/claude-code.ts',
    'install/clients/index.ts',
    'install/command-line.ts',
    'install/entry-format.ts',
    'install/fast-hook.ts',
    'install/install.ts',
    'install/purge.ts',
    'program/place.ts',
    'program/shell-command.ts',
    'program/fetch.ts',
  ],
  mcp: ['server.ts'],
}

/** These files of `src/daemon/` put the parts together and may import every room. */
const COMPOSITION_ROOT = ['src/daemon/main.ts', 'src/daemon/daemon.ts']
const COMPOSITION_ROOT_ROOMS = ['api', 'transport']

const CODE = /\.(ts|tsx)$/
const COUNTED = /\.(ts|tsx|css|mjs)$/

function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

const roomOf = (file) => (file.startsWith('machines/') ? 'machines' : file.split('/')[1])
const linesIn = (text) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

/** Relative imports and re-exports, static and dynamic, with what they resolve to. */
function importsIn(file, text) {
  const pattern = /(?:\bfrom\s+|\bimport\s+|\bimport\()'([^']+)'/g
  return [...text.matchAll(pattern)].map(([, specifier]) => ({
    specifier,
    target: specifier.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), specifier)) : null,
    line: text.slice(0, text.indexOf(`'${specifier}'`)).split('\n').length,
  }))
}

function exportedNames(text) {
  const pattern =
    /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm
  return [...text.matchAll(pattern)].map(([, name]) => name)
}

const sources = [...filesBelow('src'), ...filesBelow('machines')].filter((file) => COUNTED.test(file))
const texts = new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const code = sources.filter((file) => CODE.test(file) && !file.endsWith('.d.ts'))

const problems = []
const importers = new Map(code.map((file) => [file, new Set()]))
const declared = new Map()
for (const file of code) {
  const text = texts.get(file)
  if (/^src\/[^/]+$/.test(file)) problems.push(`${file}: the root of src/ holds no code; put it into a room`)
  const room = roomOf(file)
  if (!Object.hasOwn(ROOMS, room)) problems.push(`${file}: "${room}" is not a room of scripts/measure-tree.mjs`)
  for (const { specifier, target, line } of importsIn(file, text)) {
    if (room === 'machines' && specifier.startsWith('node:')) {
      problems.push(`${file}:${line}: machines are pure and do not import ${specifier}`)
    }
    if (target === null || !/^(src|machines)\//.test(target)) continue
    importers.get(target)?.add(file)
    const other = roomOf(target)
    const allowed = [...(ROOMS[room] ?? []), ...(COMPOSITION_ROOT.includes(file) ? COMPOSITION_ROOT_ROOMS : [])]
    if (other !== room && !allowed.includes(other)) {
      problems.push(`${file}:${line}: ${room} must not import ${other} (${target})`)
    }
    const entries = ENTRY_FILES[other]
    if (other !== room && entries !== undefined && !entries.some((entry) => target === `src/${other}/${entry}`)) {
      problems.push(
        `${file}:${line}: ${target} is private to ${other}; import one of its ENTRY_FILES, or add the file there`,
      )
    }
  }
  for (const name of new Set(exportedNames(text))) declared.set(name, [...(declared.get(name) ?? []), file])
}
const notUnique = [...declared].filter(([, files]) => files.length > 1)
problems.push(...platformCallProblems(new Map(code.map((file) => [file, texts.get(file)]))))
problems.push(...wordPatternProblems(new Map(code.map((file) => [file, texts.get(file)]))))
for (const [name, files] of notUnique) problems.push(`"${name}" is exported by ${files.join(' and ')}`)

const folders = new Map()
const count = (folder, file) => {
  const entry = folders.get(folder) ?? { files: 0, lines: 0 }
  folders.set(folder, { files: entry.files + 1, lines: entry.lines + linesIn(texts.get(file)) })
}
for (const file of sources)
  count(file.startsWith('machines/') ? 'machines' : file.split('/').slice(0, 2).join('/'), file)
for (const file of sources.filter((name) => /^src\/observer\/[^/]+\//.test(name))) {
  count(`  ${file.split('/').slice(0, 3).join('/')}`, file)
}
for (const folder of ['test', 'scripts', 'docs']) {
  for (const file of filesBelow(folder).filter((name) => /\.(ts|tsx|mjs|md)$/.test(name))) {
    texts.set(file, readFileSync(join(root, file), 'utf8'))
    count(folder, file)
  }
}
const inSrc = sources.filter((file) => file.startsWith('src/'))
const sizes = inSrc.map((file) => linesIn(texts.get(file))).sort((a, b) => a - b)
const figures = {
  src_files: inSrc.length,
  src_lines: sizes.reduce((sum, lines) => sum + lines, 0),
  src_median_lines: sizes[Math.floor(sizes.length / 2)],
  files_with_one_importer: [...importers.values()].filter((set) => set.size === 1).length,
  exported_names: declared.size,
  exported_names_not_unique: notUnique.length,
  broken_rules: problems.length,
}

if (process.argv.includes('--check')) {
  const only = process.argv[process.argv.indexOf('--check') + 1]
  const shown = only === undefined ? problems : problems.filter((problem) => problem.includes(only))
  for (const problem of shown) console.error(problem)
  console.error(
    problems.length === 0 ? 'measure-tree: all rules hold' : `measure-tree: ${problems.length} broken rules`,
  )
  process.exitCode = problems.length === 0 ? 0 : 1
} else if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ ...figures, folders: Object.fromEntries(folders) }))
} else {
  for (const [folder, { files, lines }] of folders) {
    console.log(`${folder.padEnd(28)}${String(files).padStart(6)} files${String(lines).padStart(8)} lines`)
  }
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(28)}${String(value).padStart(6)}`)
}
