/**
 * `npm run bench -- package [--json]`: what a user downloads and how long it takes. The package is packed as for a release and
 * installed with npm into an empty directory, in turn with its only dependency alone; both get the same prebuilt database
 * driver from loopback, so that no compiler is timed. Then `claude-mem install` into an empty home.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PrebuiltServer } from '../lib/prebuilt-server.ts'
import { median, printNote, report, rounded } from '../lib/report.ts'
import { ROOT } from '../lib/sandbox.ts'

const DRIVER = 'better-sqlite3'
const { values: options } = parseArgs({
  options: { json: { type: 'boolean', default: false }, runs: { type: 'string', default: '3' } },
})
const runs = Math.max(1, Number(options.runs))
const place = mkdtempSync(join(tmpdir(), 'claude-mem-bench-package-'))
const prebuilt = await PrebuiltServer.listen(ROOT)

/** Resolves with what it printed and how long it took. */
async function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const began = performance.now()
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${errors}`)
  return { printed, ms: performance.now() - began }
}

/** Installs into a new directory, with the packages of an earlier run in npm's cache. */
async function install(what: string, name: string) {
  const directory = join(place, name)
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, allowScripts: { [DRIVER]: true } }))
  const npmrc = join(place, 'npmrc')
  writeFileSync(npmrc, prebuilt.npmSetting)
  const env = { npm_config_cache: join(place, 'cache'), npm_config_userconfig: npmrc }
  const { ms } = await run('npm', ['install', '--no-audit', '--no-fund', what], directory, env)
  const lock = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8'))
  if (!existsSync(join(directory, 'node_modules', DRIVER, 'build', 'Release', 'better_sqlite3.node'))) {
    throw new Error('npm did not install the prebuilt driver')
  }
  return { ms, directory, packages: Object.keys(lock.packages).length - 1 }
}

function sizeOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

try {
  printNote('packing …')
  const { printed } = await run('npm', ['pack', '--json', '--pack-destination', place], ROOT)
  const [packed]: { filename: string; size: number; unpackedSize: number }[] = JSON.parse(
    printed.slice(printed.indexOf('[')),
  )
  if (packed === undefined) throw new Error('npm packed nothing')
  const file = join(place, packed.filename)
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const driver = `${DRIVER}@${dependencies[DRIVER]}`
  printNote('installing once for the cache …')
  const first = await install(file, 'first')
  const alone = await install(driver, 'first-driver')
  const times: { own: number; driver: number }[] = []
  for (let n = 0; n < runs; n++) {
    printNote(`installing, ${n + 1} of ${runs} …`)
    const own = (await install(file, `own-${n}`)).ms
    times.push({ own, driver: (await install(driver, `driver-${n}`)).ms })
  }
  const home = join(place, 'home')
  mkdirSync(home)
  const env = { HOME: home, USERPROFILE: home, CLAUDE_MEM_DATA_DIR: join(home, '.claude-mem') }
  const cli = join(first.directory, 'node_modules', 'coding-agent-memory', 'dist', 'cli.js')
  const placed = await run(process.execPath, [cli, 'install'], home, env)
  const node = await run(process.execPath, ['-e', '0'], home)
  report(
    {
      packed_bytes: packed.size,
      unpacked_bytes: packed.unpackedSize,
      dependencies: Object.keys(dependencies).length,
      installed_packages: first.packages,
      driver_packages: alone.packages,
      installed_bytes: sizeOf(join(first.directory, 'node_modules')),
      install_ratio: rounded(median(times.map(({ own, driver: other }) => own / other))),
      install_ms: Math.round(median(times.map(({ own }) => own))),
      program_bytes: sizeOf(join(home, '.claude-mem', 'program')),
      program_install_ratio: rounded(placed.ms / node.ms),
    },
    options.json,
  )
} finally {
  prebuilt.close()
  rmSync(place, { recursive: true, force: true, maxRetries: 3 })
}
