import type { Uninstalled } from '../../install/claude-code.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { clean } from '../text.ts'
import { dryRunOption, previewLines, whereOf } from './install.ts'

export const uninstall = command({
  usage: 'uninstall',
  group: 'Connect it',
  summary: "Take the hooks out of Claude Code's settings again",
  about:
    "Leaves Claude Code's settings as they were before claude-mem install, to the byte; if they were changed since, only " +
    "claude-mem's own entries are taken out. The memory itself stays.",
  examples: [
    ['claude-mem uninstall --dry-run', 'what would change'],
    ['claude-mem uninstall', ''],
  ],
  positionals: {},
  options: { 'dry-run': dryRunOption, json: jsonOption },
  run: async ({ 'dry-run': dryRun, json }, cli) => {
    const { uninstall: removeHooks } = await import('../../install/claude-code.ts')
    const where = await whereOf(cli, dryRun === true)
    const result = removeHooks(where)
    if (json === true) cli.printJson({ file: where.file, dryRun: where.dryRun, ...result })
    else if (where.dryRun) cli.print(...previewLines(cli, where.file, result.diff))
    else cli.print(...doneLines(cli, clean(where.file), result))
    return 0
  },
})

function doneLines(cli: Cli, file: string, { how, backup }: Uninstalled): string[] {
  const { bold, green } = cli.look().style
  if (how === 'nothing') return [`claude-mem is not installed in Claude Code; ${file} has no hook of ours`]
  const what = {
    restored: `${file} is as it was before, to the byte.`,
    removed: `${file} was changed since, so only our entries were taken out.`,
    'file removed': `${file} was not there before and is removed.`,
  }[how]
  return [
    `${green('✓')} ${bold('claude-mem is no longer installed in Claude Code')}`,
    `  ${what}`,
    ...(backup === null ? [] : [`  A copy from before is kept: ${clean(backup)}`]),
    '',
    `The memory stays in ${clean(cli.paths.dataDir)}. The daemon, if it runs, stops with: claude-mem stop`,
    'Bring it back with: claude-mem install',
  ]
}
