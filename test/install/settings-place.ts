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
import { afterEach } from 'vitest'
import type { Ground } from '../../src/install/change.ts'
import type { Adapter, Program, Scope, Where } from '../../src/install/clients/adapter.ts'
import { claudeCode } from '../../src/install/clients/claude-code.ts'
import { install, uninstall } from '../../src/install/install.ts'

interface More {
  adapter?: Adapter
  scope?: Scope
  dryRun?: boolean
  fileContext?: boolean
}

export class SettingsPlace {
  readonly home = mkdtempSync(join(tmpdir(), 'claude-mem-install-'))
  readonly dataDir = join(this.home, '.claude-mem')
  readonly file = join(this.home, '.claude', 'settings.json')
  readonly bin = join(this.home, 'bin')
  /** Of the client itself: what it keeps, MCP servers among it. */
  readonly state = join(this.home, '.claude.json')
  readonly root = join(this.home, 'shop')
  node = '/usr/bin/node'
  hook = '/opt/claude-mem/dist/hook.cjs'
  cli = '/opt/claude-mem/dist/cli.js'
  env: NodeJS.ProcessEnv = {}

  /** Null: no file, and no directory for it. */
  constructor(settings: string | Buffer | null = null) {
    if (settings === null) return
    mkdirSync(join(this.home, '.claude'))
    writeFileSync(this.file, settings, { mode: 0o640 })
  }

  get program(): Program {
    return { node: this.node, hook: this.hook, cli: this.cli }
  }

  where(scope: Scope = 'user'): Where {
    return { scope, env: this.env, home: this.home, root: this.root }
  }

  ground(dryRun = false): Ground {
    return { dataDir: this.dataDir, now: new Date('2026-11-16T10:00:00Z'), dryRun }
  }

  /** With what became of the settings, the first of the client's files. */
  install(version: string | null = '2.1.197', more: More = {}) {
    const { adapter = claudeCode, scope, dryRun, fileContext = false } = more
    const found = { version, fileContext }
    const result = install(adapter, this.where(scope), this.program, found, this.ground(dryRun))
    const [first] = result.files
    if (first === undefined) throw new Error('no file')
    return { ...result, backup: first.backup, diff: first.diff }
  }

  uninstall(more: More = {}) {
    const { adapter = claudeCode, scope, dryRun } = more
    const result = uninstall(adapter, this.where(scope), this.program, this.ground(dryRun))
    const [first] = result.files
    if (first === undefined) throw new Error('no file')
    return { ...result, backup: first.backup, diff: first.diff, how: first.how }
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

const places: SettingsPlace[] = []

/** A place of its own, gone after the test. */
export function settingsAt(settings: string | Buffer | null = null): SettingsPlace {
  const place = new SettingsPlace(settings)
  places.push(place)
  return place
}

afterEach(() => {
  for (const place of places.splice(0)) place.dispose()
})
