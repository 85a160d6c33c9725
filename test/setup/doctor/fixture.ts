/** A home with claude-mem installed in it: its real hook, a stand-in for the client, and whatever a test does to them. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { FAST_HOOK_FILE, fastHookScript } from '../../../src/hook/fast-hook.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import type { CheckResult, DoctorEnvironment } from '../../../src/setup/doctor/check.ts'
import { diagnose } from '../../../src/setup/doctor/index.ts'
import type { ChangeOptions } from '../../../src/setup/install/change.ts'
import { DAY_MS } from '../../transfer/backfill/fixture.ts'
import { InstallFixture } from '../install/fixture.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export const SLOW = /takes \d+\.\d times as long as an empty node/

/** Below the project, so that what runs there finds better-sqlite3. */
export class Built {
  readonly directory = mkdtempSync(join(ROOT, 'node_modules', '.claude-mem-test-'))
  readonly dist = join(this.directory, 'dist')

  constructor() {
    buildSync({
      entryPoints: { hook: join(ROOT, 'src/hook/main.ts'), 'hook-local': join(ROOT, 'src/hook/local.ts') },
      outdir: this.dist,
      outExtension: { '.js': '.cjs' },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
    })
    writeFileSync(join(this.dist, 'cli.js'), '')
    const source = readFileSync(join(ROOT, 'src/hook', FAST_HOOK_FILE), 'utf8')
    writeFileSync(join(this.dist, FAST_HOOK_FILE), fastHookScript(source, '0.0.0-source'))
  }

  /** The same as another version. */
  copy(version: string): string {
    const dist = join(this.directory, version)
    write(join(dist, 'build.json'), JSON.stringify({ version, schema: 1 }))
    for (const file of ['hook.cjs', 'hook-local.cjs', 'cli.js']) copyFileSync(join(this.dist, file), join(dist, file))
    return dist
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

export class DoctorFixture extends InstallFixture {
  readonly around: DoctorEnvironment

  /** A client in it, and nothing else. */
  constructor(built: Built, client: string | null = '2.1.197') {
    super('{}')
    this.use(built.dist)
    this.node = process.execPath
    if (client !== null) this.client(client)
    mkdirSync(this.root)
    mkdirSync(this.dataDir, { mode: 0o700 })
    this.env = { PATH: this.bin, HOME: this.home }
    this.around = {
      paths: dataPaths(this.dataDir),
      env: this.env,
      home: this.home,
      root: this.root,
      dist: built.dist,
      node: process.execPath,
      now: Date.now(),
      deep: false,
      hookRuns: 1,
      freeBytes: async () => 50 * 1024 ** 3,
    }
  }

  /** Long enough ago for some sessions since. */
  override ground(dryRun = false): ChangeOptions {
    return { ...super.ground(dryRun), now: new Date(this.around.now - 10 * DAY_MS) }
  }

  /** What is installed from here on. */
  use(dist: string): void {
    this.hook = join(dist, 'hook.cjs')
    this.registered = this.dataDir
    this.cli = join(dist, 'cli.js')
  }

  async checks(changed: Partial<DoctorEnvironment> = {}): Promise<CheckResult[]> {
    const checks: CheckResult[] = []
    for await (const check of diagnose({ ...this.around, ...changed })) checks.push(check)
    return checks
  }

  /** What is wrong, as `id state: detail -> fix`. That a busy machine is slow is no fault of ours. */
  async faults(changed: Partial<DoctorEnvironment> = {}): Promise<string[]> {
    const checks = await this.checks(changed)
    return (
      checks
        .filter(({ state, detail }) => state !== 'ok' && !SLOW.test(detail))
        // Without the optional packages it says what would be better with them.
        .filter(({ id, state }) => id !== 'native-modules' || state === 'problem')
        .map(({ id, state, detail, fix }) => `${id} ${state}: ${detail} -> ${fix}`)
    )
  }

  write(path: string, content: string, mode = 0o600): string {
    write(path, content)
    chmodSync(path, mode)
    return path
  }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
