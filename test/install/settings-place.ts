/** A home with settings in it, and a stand-in for the client that only knows its version. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Installed, install, type Uninstalled, uninstall, type Where } from '../../src/install/claude-code.ts'

export class SettingsPlace {
  readonly home = mkdtempSync(join(tmpdir(), 'claude-mem-install-'))
  readonly dataDir = join(this.home, '.claude-mem')
  readonly file = join(this.home, '.claude', 'settings.json')
  readonly bin = join(this.home, 'bin')
  node = '/usr/bin/node'
  hook = '/opt/claude-mem/dist/hook.cjs'

  /** Null: no file, and no directory for it. */
  constructor(settings: string | Buffer | null = null) {
    if (settings === null) return
    mkdirSync(join(this.home, '.claude'))
    writeFileSync(this.file, settings, { mode: 0o640 })
  }

  where(more: Partial<Where> = {}): Where {
    const { file, dataDir, node, hook } = this
    return { file, dataDir, node, hook, dryRun: false, now: new Date('2026-11-16T10:00:00Z'), ...more }
  }

  install(version: string | null = '2.1.197', more: Partial<Where> = {}): Installed {
    return install(this.where(more), version)
  }

  uninstall(more: Partial<Where> = {}): Uninstalled {
    return uninstall(this.where(more))
  }

  get bytes(): Buffer {
    return readFileSync(this.file)
  }

  get text(): string {
    return this.bytes.toString('utf8')
  }

  get json() {
    return JSON.parse(this.text.replace(/^\uFEFF/, ''))
  }

  /** Every command of the file, as event and command line. */
  get commands(): string[] {
    const lists: [string, { hooks: { command: string }[] }[]][] = Object.entries(this.json.hooks ?? {})
    return lists.flatMap(([event, groups]) =>
      groups.flatMap((group) => group.hooks.map(({ command }) => `${event}: ${command}`)),
    )
  }

  get kept(): string[] {
    const directory = join(this.dataDir, 'install')
    return existsSync(directory) ? readdirSync(directory) : []
  }

  /** A `claude` that answers `--version`. */
  client(version: string, directory = this.bin): string {
    mkdirSync(directory, { recursive: true })
    const path = join(directory, 'claude')
    writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo "${version} (Claude Code)"\n`)
    chmodSync(path, 0o755)
    return path
  }

  dispose(): void {
    rmSync(this.home, { recursive: true, force: true })
  }
}
