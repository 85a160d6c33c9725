/** `claude-mem viewer`: opens the viewer in the browser, and lists and ends the access of pages. */
import type { ViewerInfo } from '../../api/operation.ts'
import { MemError } from '../../lib/errors.ts'
import { pluralize } from '../../lib/format.ts'
import { refuseIf } from '../arguments.ts'
import type { OpenResult } from '../browser.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand } from '../command.ts'
import { withDaemonIfRunning } from '../daemon-connection.ts'
import { formatAgo } from '../format.ts'
import { withDaemon } from '../memory-client.ts'
import { tableLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

const MINUTE_MS = 60_000

export const viewerCommand = defineCommand({
  usage: 'viewer [page]',
  group: 'Inspect',
  summary: 'Open the live page: sessions, memories, usage and settings',
  about:
    'Opens the viewer in your browser, and starts the daemon if it is not running. The page comes from the daemon on this ' +
    'machine and loads nothing from elsewhere. The link works once and for two minutes; the page then has access until it ' +
    'was not used for 12 hours, its tab is closed or the daemon ends, also in a restart or an update. Without a browser, ' +
    'or with --print, the link is printed.',
  examples: [
    ['claude-mem viewer', 'in your browser'],
    ['claude-mem viewer --print', 'only the link'],
    ['claude-mem viewer --list', 'pages that have access'],
    ['claude-mem viewer --revoke', 'end the access of every page; with an id of the list, of one'],
    ['ssh -L 37777:127.0.0.1:37777 HOST', 'for the page of another machine: then, there, claude-mem viewer --print'],
  ],
  positionals: {
    page: { type: 'string', describe: 'With --revoke: the id of a page; all pages without it' },
  },
  options: {
    print: { type: 'boolean', describe: 'Print the link and open nothing' },
    list: { type: 'boolean', describe: 'List the pages that have access' },
    revoke: { type: 'boolean', describe: 'End the access of a page, or of all' },
  },
  run: async ({ print, list, revoke, page }, cli) => {
    refuseIf([print, list, revoke].filter((given) => given === true).length > 1, 'use one of --print, --list, --revoke')
    refuseIf(page !== undefined && revoke !== true, 'only --revoke takes the id of a page')
    if (list === true) return await listViewers(cli)
    if (revoke === true) return await revokeViewers(cli, page ?? null)
    const { ensureDaemonRunning } = await import('../daemon-process.ts')
    // An older daemon may have no viewer: this version takes over from it.
    await ensureDaemonRunning(cli)
    const { url, expiresAt } = await withDaemon(cli, (client) => client.call('viewer_link'))
    const result: OpenResult = print ? { opened: false, why: 'asked to print it' } : await openUrl(cli, url)
    printResult(cli, { ...result, url, expiresAt }, () =>
      print ? terminalSafe(url) : resultLines(result, url, expiresAt, cli),
    )
  },
})

/** Without a daemon no page has access. */
async function listViewers(cli: Cli): Promise<void> {
  const answer = await withDaemonIfRunning(cli.paths, (client) => client.call('viewers'))
  const viewers = answer?.viewers ?? []
  printResult(cli, { viewers }, () => (viewers.length === 0 ? 'No page has access.' : viewerLines(viewers, cli)))
}

async function revokeViewers(cli: Cli, viewer: string | null): Promise<void> {
  const answer = await withDaemonIfRunning(cli.paths, (client) => client.call('viewer_revoke', { viewer }))
  const affected = answer?.affected ?? 0
  if (viewer !== null && affected === 0) {
    throw new MemError('not_found', `no page ${terminalSafe(viewer)} has access; see: claude-mem viewer --list`)
  }
  printResult(cli, { affected }, () => `Ended the access of ${pluralize(affected, 'page')}.`)
}

function viewerLines(viewers: readonly ViewerInfo[], cli: Cli): string[] {
  const display = cli.display()
  const rows = viewers.map(({ id, createdAt, usedAt, connected }) => [
    terminalSafe(id),
    formatAgo(createdAt, display.now),
    connected ? 'open now' : formatAgo(usedAt, display.now),
  ])
  return tableLines(['PAGE', 'OPENED', 'USED'], rows, display)
}

async function openUrl(cli: Cli, url: string): Promise<OpenResult> {
  const { openInBrowser } = await import('../browser.ts')
  return await openInBrowser(url, cli.paths.viewerPage, { env: cli.env })
}

function resultLines(result: OpenResult, url: string, expiresAt: number, cli: Cli): string[] {
  const { style, now } = cli.display()
  if (result.opened) return ['The viewer opens in your browser', style.dim('If it does not: claude-mem viewer --print')]
  return [
    `No browser was opened: ${terminalSafe(result.why)}`,
    `This link opens the viewer once, within ${pluralize(Math.ceil((expiresAt - now) / MINUTE_MS), 'minute')}:`,
    '',
    `  ${style.bold(terminalSafe(url))}`,
  ]
}
