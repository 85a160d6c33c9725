/** A home with settings in it, and a stand-in for the client that only knows its version. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { ChangeOptions } from '../../../src/setup/install/change.ts'
import type {
  InstallAdapter,
  InstallScope,
  InstallTarget,
  ProgramPaths,
} from '../../../src/setup/install/clients/adapter.ts'
import { claudeCodeInstall } from '../../../src/setup/install/clients/claude-code.ts'
import { installClient, uninstallClient } from '../../../src/setup/install/install.ts'
import { temporaryDirectory } from '../../support/directories.ts'

interface More {
  adapter?: InstallAdapter
  scope?: InstallScope
  dryRun?: boolean
  fileContext?: boolean
}

export class InstallFixture {
  readonly home = temporaryDirectory('install')
  readonly dataDir = join(this.home, '.claude-mem')
  readonly file = join(this.home, '.claude', 'settings.json')
  readonly bin = join(this.home, 'bin')
  /** Of the client itself: what it keeps, MCP servers among it. */
  readonly state = join(this.home, '.claude.json')
  readonly root = join(this.home, 'shop')
  node = '/usr/bin/node'
  hook = '/opt/claude-mem/dist/hook.cjs'
  cli = '/opt/claude-mem/dist/cli.js'
  /** The data directory that the registered commands name. */
  registered = '/home/me/.claude-mem'
  /** Set: the fast hook is installed. */
  curl: string | null = null
  env: NodeJS.ProcessEnv = {}

  /** Null: no file, and no directory for it. */
  constructor(settings: string | Buffer | null = null) {
    if (settings === null) return
    mkdirSync(join(this.home, '.claude'))
    writeFileSync(this.file, settings, { mode: 0o640 })
  }

  get program(): ProgramPaths {
    const { node, hook, cli, curl } = this
    return { node, hook, cli, dataDir: this.registered, ...(curl === null ? {} : { curl }) }
  }

  where(scope: InstallScope = 'user'): InstallTarget {
    return { scope, env: this.env, home: this.home, root: this.root }
  }

  ground(dryRun = false): ChangeOptions {
    return { dataDir: this.dataDir, now: new Date('2026-11-16T10:00:00Z'), dryRun }
  }

  /** With what became of the settings, the first of the client's files. */
  install(version: string | null = '2.1.197', more: More = {}) {
    const { adapter = claudeCodeInstall, scope, dryRun, fileContext = false } = more
    const found = { version, fileContext }
    const result = installClient(adapter, this.where(scope), this.program, found, this.ground(dryRun))
    const [first] = result.files
    if (first === undefined) throw new Error('no file')
    return { ...result, backup: first.backup, diff: first.diff }
  }

  uninstall(more: More = {}) {
    const { adapter = claudeCodeInstall, scope, dryRun } = more
    const result = uninstallClient(adapter, this.where(scope), this.program, this.ground(dryRun))
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

  dispose(): void {}
}

const places: InstallFixture[] = []

/** A place of its own, gone after the test. */
export function settingsAt(settings: string | Buffer | null = null): InstallFixture {
  const place = new InstallFixture(settings)
  places.push(place)
  return place
}

afterEach(() => {
  for (const place of places.splice(0)) place.dispose()
})
