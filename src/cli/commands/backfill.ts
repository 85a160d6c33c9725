/** `claude-mem backfill`: its command line. The work is done in ../backfill.ts. */
import { resolve } from 'node:path'
import { defineCommand, stringOption, yesOption } from '../command.ts'
import { parseClients, parseMomentOption, parseProjectOrAll } from '../filters.ts'

const DEFAULT_SINCE = '30d'

export const backfillCommand = defineCommand({
  usage: 'backfill [file..]',
  takesRest: true,
  group: 'Integrations',
  summary: 'Read the transcripts of past sessions, from before the installation',
  about:
    "Reads the clients' transcripts of the past 30 days (docs/agents.md says where they are), newest session first, " +
    'and observes them as if their hooks had reported them then. Sessions that hooks reported, that were read before or that ' +
    'are still being written are skipped, so it can be repeated. Sessions that you erased stay erased; --forgotten reads ' +
    'them again. If a model observes, the estimated cost is printed first and has to be confirmed; --yes skips the ' +
    'question. Ctrl-C ends it after the current sessions; the next run continues. Starts the daemon if it is not running.',
  examples: [
    ['claude-mem backfill --dry-run', 'what would be read'],
    ['claude-mem backfill', 'the past 30 days'],
    ['claude-mem backfill --since 2026-01-01 --project shop', 'one project, from a day on'],
    ['claude-mem backfill --client codex', 'only sessions of Codex'],
    ['claude-mem backfill old/*.jsonl', 'these transcripts, of any age'],
  ],
  options: {
    since: stringOption('Sessions with events after: 30d, 2w, 2026-11-01'),
    project: stringOption('Project name, key or path; default: all', 'p'),
    client: stringOption('Transcripts of these clients: claude-code, codex, …; default: all'),
    'dry-run': { type: 'boolean', describe: 'Only print what would be read' },
    forgotten: { type: 'boolean', describe: 'Also sessions that were erased' },
    yes: { ...yesOption, describe: 'Do not ask for confirmation of the cost' },
  },
  run: async ({ rest, since, project, client, forgotten, 'dry-run': dryRun, yes }, cli) => {
    // Named transcripts are read whatever their age.
    const start = since ?? (rest.length === 0 ? DEFAULT_SINCE : null)
    const request = {
      files: rest.map((file) => resolve(file)),
      since: start === null ? null : parseMomentOption('--since', start, 'start', cli.display().now),
      project: parseProjectOrAll(project ?? 'all', cli.env),
      clients: client === undefined ? null : parseClients(client),
      forgotten,
      yes,
    }
    const { backfill, previewBackfill } = await import('../backfill.ts')
    return dryRun ? await previewBackfill(request, cli) : await backfill(request, cli)
  },
})
