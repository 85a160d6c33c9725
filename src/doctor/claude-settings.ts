/** What else in Claude Code's settings decides whether hooks run, and where they report to. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BOTH_REMEMBER, enabledPlugins, KEEP_ONE } from '../install/clients/plugin.ts'
import type { Finding } from './check.ts'
import { advice, problem } from './check.ts'
import type { Surroundings } from './facts.ts'
import { configDirectory } from './installed.ts'

interface Switches {
  file: string
  disableAllHooks: boolean
  /** Hooks of users are passed over; holds only where an organisation says so. */
  allowManagedHooksOnly: boolean
  plugin: boolean
  /** The plugin of the original claude-mem. */
  original: boolean
  /** Null: it says nothing about it. */
  dataDir: string | null
}

/** Where an organisation puts what its people cannot change. */
const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/etc/claude-code/managed-settings.json',
  darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
  win32: 'C:\\Program Files\\ClaudeCode\\managed-settings.json',
}

/** Every file that the client reads for a session in the project. */
export function claudeSwitches(around: Surroundings): Switches[] {
  const managed = MANAGED[process.platform]
  const files = [
    join(configDirectory(around), 'settings.json'),
    join(around.root, '.claude', 'settings.json'),
    join(around.root, '.claude', 'settings.local.json'),
    ...(managed === undefined ? [] : [managed]),
  ]
  return [...new Set(files)].flatMap((file) => read(file, file === managed) ?? [])
}

function read(file: string, managed: boolean): Switches | null {
  let given: Record<string, unknown>
  try {
    given = { ...JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) }
  } catch {
    // Not there, or it cannot be understood: said where our own entries are looked for.
    return null
  }
  const plugins = enabledPlugins(given)
  const dataDir: unknown = Object(given.env).CLAUDE_MEM_DATA_DIR
  return {
    file,
    disableAllHooks: given.disableAllHooks === true,
    allowManagedHooksOnly: managed && given.allowManagedHooksOnly === true,
    plugin: plugins.own,
    original: plugins.original,
    dataDir: typeof dataDir === 'string' && dataDir.trim() !== '' ? dataDir : null,
  }
}

export function switchFaults(switches: readonly Switches[], { paths }: Surroundings): Finding[] {
  return switches.flatMap(({ file, disableAllHooks, allowManagedHooksOnly, original, dataDir }) => [
    ...(disableAllHooks
      ? [problem(`"disableAllHooks" is true in ${file}: no hook runs`, `take it out of ${file}`)]
      : []),
    ...(allowManagedHooksOnly
      ? [problem(`${file} allows only hooks of your organisation`, 'ask its administrator to allow ours')]
      : []),
    ...(original ? [advice(`${BOTH_REMEMBER} (${file})`, KEEP_ONE)] : []),
    ...(dataDir !== null && resolve(dataDir) !== paths.dataDir
      ? [
          advice(
            `sessions report to ${dataDir} ("env" in ${file}), and this program looks at ${paths.dataDir}`,
            'set CLAUDE_MEM_DATA_DIR to the same in your shell, or take it out there',
          ),
        ]
      : []),
  ])
}
