import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { MemError } from '../../errors.ts'
import type { Installed, Where } from '../../install/claude-code.ts'
import type { Client } from '../../install/client.ts'
import { dataDirectory } from '../../paths.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { fields } from '../table.ts'
import { clean, wrap } from '../text.ts'

/** Event names in one column are hard to read, in one line hard to find. */
const EVENTS_WIDTH = 70

export const dryRunOption = { type: 'boolean', describe: 'Show the change, make none' } as const

export const install = command({
  usage: 'install',
  group: 'Connect it',
  summary: 'Have Claude Code report its sessions: adds the hooks to its settings',
  about:
    "Adds claude-mem's hooks to Claude Code's user settings (~/.claude/settings.json, or in CLAUDE_CONFIG_DIR). Everything " +
    'else in the file stays as it is, and a copy is kept. Run it again after node or claude-mem has moved, or after an ' +
    'update of Claude Code: what is there is brought up to date, nothing is added twice.',
  examples: [
    ['claude-mem install --dry-run', 'what would change'],
    ['claude-mem install', ''],
    ['claude-mem uninstall', 'undo it'],
  ],
  positionals: {},
  options: { 'dry-run': dryRunOption, json: jsonOption },
  run: async ({ 'dry-run': dryRun, json }, cli) => {
    const { claudeConfigDirectory, install: installHooks } = await import('../../install/claude-code.ts')
    const { findClient } = await import('../../install/client.ts')
    const where = await whereOf(cli, dryRun === true)
    if (!existsSync(where.hook)) throw new MemError('internal', `${where.hook} is missing; install claude-mem again`)
    const client = await findClient(cli.env, homedir(), claudeConfigDirectory(cli.env, homedir()))
    const result = installHooks(where, client?.version ?? null)
    if (json === true) cli.printJson({ file: where.file, dryRun: where.dryRun, client, ...result })
    else if (where.dryRun)
      cli.print(...previewLines(cli, where.file, result.diff), ...notes(cli, where, client, result))
    else cli.print(...doneLines(cli, where, client, result), ...notes(cli, where, client, result))
    return 0
  },
})

export async function whereOf(cli: Cli, dryRun: boolean): Promise<Where> {
  const { claudeConfigDirectory } = await import('../../install/claude-code.ts')
  const { HOOK_FILE } = await import('../../install/command-line.ts')
  return {
    file: join(claudeConfigDirectory(cli.env, homedir()), 'settings.json'),
    dataDir: cli.paths.dataDir,
    node: process.execPath,
    hook: join(cli.dist, HOOK_FILE),
    dryRun,
    now: new Date(),
  }
}

/** What a dry run shows, of installing and of undoing it. */
export function previewLines(cli: Cli, file: string, diff: readonly string[]): string[] {
  const { green, red, cyan, bold } = cli.look().style
  if (diff.length === 0) return [`Nothing would change in ${clean(file)}`]
  const painted = (line: string): string => {
    const text = clean(line)
    if (line.startsWith('---') || line.startsWith('+++')) return bold(text)
    if (line.startsWith('@@')) return cyan(text)
    return line.startsWith('+') ? green(text) : line.startsWith('-') ? red(text) : text
  }
  return diff.flatMap((line) => line.split('\n')).map(painted)
}

function doneLines(cli: Cli, where: Where, client: Client | null, result: Installed): string[] {
  const look = cli.look()
  const { bold, green } = look.style
  const [firstEvents = '', ...moreEvents] = wrap(result.events.join(', '), EVENTS_WIDTH)
  const title = result.changed
    ? 'claude-mem is installed in Claude Code'
    : 'claude-mem was installed in Claude Code already; nothing changed'
  return [
    `${green('✓')} ${bold(title)}`,
    ...fields(
      [
        ['settings', clean(where.file)],
        ...(result.backup === null ? [] : [['copy', clean(result.backup)] as const]),
        ['client', client === null ? 'not found' : clean(`Claude Code ${client.version} (${client.path})`)],
        ['events', firstEvents],
        ...moreEvents.map((line) => ['', line] as const),
        ['runs', clean(result.command)],
      ],
      look,
    ),
    '',
    'Next: start claude as always; a session that is open now may have to be started again.',
    'See what is remembered with: claude-mem inspect    Undo it with: claude-mem uninstall',
  ]
}

function notes(cli: Cli, where: Where, client: Client | null, result: Installed): string[] {
  const { yellow } = cli.look().style
  const found: string[] = []
  if (client === null) {
    found.push(
      `No claude program was found, so only the events that every version knows ${where.dryRun ? 'would be' : 'are'} ` +
        `registered (without ${result.leftOut.join(' and ')}). Once it is on your PATH, run claude-mem install again.`,
    )
  } else if (result.leftOut.length > 0) {
    found.push(
      `Claude Code ${clean(client.version)} does not know ${result.leftOut.join(' and ')}, which it would answer by ` +
        'switching off every hook: left out. After updating it, run claude-mem install again.',
    )
  }
  if (result.hooksOff)
    found.push(`"disableAllHooks" is true in ${clean(where.file)}: no hook runs until that is removed.`)
  if (/[\\/]_npx[\\/]/.test(where.hook)) {
    found.push(
      'claude-mem runs from a cache of npx that may be emptied: npm install -g claude-mem, then install again.',
    )
  }
  if (cli.paths.dataDir !== dataDirectory({})) {
    found.push(
      `The memory is kept in ${clean(cli.paths.dataDir)} only where CLAUDE_MEM_DATA_DIR says so: set it for Claude Code too.`,
    )
  }
  return found.length === 0 ? [] : ['', ...found.map((note) => `${yellow('!')} ${note}`)]
}
