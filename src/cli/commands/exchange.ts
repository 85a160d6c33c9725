/** `claude-mem export` and `claude-mem import`: their command lines. The work is done in ../exchange.ts. */
import { resolve } from 'node:path'
import { oneOf, refuseIf, UsageError } from '../arguments.ts'
import { defineCommand, jsonOption, stringOption } from '../command.ts'
import type { ExportFormat } from '../exchange.ts'
import { filterOptions, parseFilterArgs } from '../filters.ts'

const EXPORT_FORMATS = ['jsonl', 'markdown'] as const satisfies readonly ExportFormat[]
const STANDARD_OUTPUT = '-'

export const exportCommand = defineCommand({
  usage: 'export [output]',
  group: 'Maintenance',
  summary: 'Write the memory, or a part of it, to a file',
  about:
    'Writes observations, summaries and prompts of all projects, or those that pass the filters: as jsonl, one record per ' +
    'line, which claude-mem import reads (docs/exchange.md describes it), or as markdown, for reading. Without a file, or ' +
    'with -, it writes to standard output. The file is readable only by you, and an existing one is only replaced with ' +
    '--force. Masked secrets stay masked, and private prompts are left out. It only reads, with or without a daemon.',
  examples: [
    ['claude-mem export memory.jsonl', 'everything'],
    ['claude-mem export shop.md --format markdown --project ~/work/shop', 'one project, for reading'],
    ['claude-mem export - --since 7d --type decision | jq .title', 'for another program'],
  ],
  positionals: {
    output: { type: 'string', describe: 'A file; - is standard output', default: STANDARD_OUTPUT },
  },
  options: {
    format: { ...stringOption(EXPORT_FORMATS.join(' or ')), default: 'jsonl' },
    ...filterOptions,
    project: { ...filterOptions.project, describe: 'Project name, key or path; default: all' },
    kind: { ...filterOptions.kind, default: 'all' },
    force: { type: 'boolean', describe: 'Replace an existing file' },
    json: { ...jsonOption, describe: 'Print what was exported as one line of JSON' },
  },
  run: async ({ output, format, force, rest: _, ...args }, cli) => {
    const chosen = oneOf('format', format, EXPORT_FORMATS)
    refuseIf(output === '', 'export needs a file, or - for standard output')
    const file = output === STANDARD_OUTPUT ? null : output
    refuseIf(cli.json && file === null, '--json needs a file: standard output holds the export')
    const filters = parseFilterArgs({ ...args, project: args.project ?? 'all' }, cli.env, cli.display().now)
    const { exportMemory } = await import('../exchange.ts')
    await exportMemory({ filters, format: chosen, file, force }, cli)
  },
})

export const importCommand = defineCommand({
  usage: 'import [file]',
  group: 'Maintenance',
  summary: "Import an export, the original claude-mem's database, or Claude Code's auto-memory",
  about:
    'Adds what is not there yet: a second run adds nothing, and a run that was stopped can be repeated. The file is an ' +
    'export of this claude-mem (jsonl), or the database of the original claude-mem (usually ~/.claude-mem/claude-mem.db), ' +
    'which is only read, even while the original runs. Existing sessions are not changed. The original stores only names ' +
    'of projects: a name becomes your project of that name if there is exactly one, else import:NAME. Secrets are masked; ' +
    'excluded projects are left out. Memories that you have forgotten since the export come back; sessions that you erased do ' +
    'not, unless you pass --forgotten. Pins of the file are imported with --pins only. Records that cannot be used, or whose ' +
    'time is in the future, are counted at the end, and the exit code is 1. Starts the daemon if it is not running. ' +
    "With --auto-memory it takes Claude Code's own notes (~/.claude/projects/*/memory/*.md) as observations; the files stay " +
    'as they are, and a note that changed since is added again.',
  examples: [
    ['claude-mem import memory.jsonl', ''],
    ['claude-mem import ~/.claude-mem/claude-mem.db --dry-run', 'what would be added'],
    ['claude-mem import --auto-memory --dry-run', "Claude Code's own notes"],
    ['claude-mem import memory.jsonl --project-map shop=~/work/shop', 'a project that is in another directory here'],
  ],
  positionals: {
    file: { type: 'string', describe: 'An export, or a database of the original' },
  },
  options: {
    'dry-run': { type: 'boolean', alias: 'n', describe: 'Change nothing; print what would be added' },
    'auto-memory': { type: 'boolean', describe: "Claude Code's auto-memory instead of a file" },
    pins: { type: 'boolean', describe: 'Import pins too' },
    forgotten: { type: 'boolean', describe: 'Also sessions that were erased here' },
    'project-map': stringOption(
      'OLD=NEW: a project of the file, by name or key, becomes this one here; several with commas',
    ),
  },
  run: async (args, cli) => {
    const { file, pins, forgotten, 'dry-run': dryRun, 'project-map': projectMap, 'auto-memory': autoMemory } = args
    const request = { mappings: parseProjectMap(projectMap), pins, forgotten, dryRun }
    const { importAutoMemory, importMemory } = await import('../exchange.ts')
    if (autoMemory) {
      refuseIf(file !== undefined, '--auto-memory takes no file')
      return await importAutoMemory(request, cli)
    }
    if (file === undefined) throw new UsageError('name a file to import, or --auto-memory')
    return await importMemory(resolve(file), request, cli)
  },
})

function parseProjectMap(given: string | undefined): ReadonlyMap<string, string> {
  // yargs keeps only the last one of several.
  const times = process.argv.filter((arg) => /^--project-?[mM]ap(?:=|$)/.test(arg)).length
  refuseIf(times > 1, 'give --project-map once: --project-map OLD=NEW,OTHER=NEW')
  if (given === undefined) return new Map()
  return new Map(
    given.split(',').map((pair) => {
      // Keys and paths contain no "=", but old names may: the last one separates.
      const at = pair.lastIndexOf('=')
      const [from, to] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
      if (at < 0 || from === '' || to === '') throw new UsageError(`--project-map takes OLD=NEW, not "${pair}"`)
      return [from, to] as const
    }),
  )
}
