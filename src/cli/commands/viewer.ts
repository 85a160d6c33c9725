/** `claude-mem viewer`: opens the viewer in the browser. */
import { pluralize } from '../../lib/format.ts'
import type { OpenResult } from '../browser.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand } from '../command.ts'
import { withDaemon } from '../memory-client.ts'
import { terminalSafe } from '../text.ts'

const MINUTE_MS = 60_000

export const viewerCommand = defineCommand({
  usage: 'viewer',
  group: 'Inspect',
  summary: 'Open the live page: sessions, memories, usage and settings',
  about:
    'Opens the viewer in your browser, and starts the daemon if it is not running. The page comes from the daemon on this ' +
    'machine and loads nothing from elsewhere. The link works once and for two minutes; the page then stays open as long ' +
    'as you like. Without a browser, or with --print, the link is printed.',
  examples: [
    ['claude-mem viewer', 'in your browser'],
    ['claude-mem viewer --print', 'only the link'],
    ['ssh -L 37777:127.0.0.1:37777 HOST', 'for the page of another machine: then, there, claude-mem viewer --print'],
  ],
  options: {
    print: { type: 'boolean', describe: 'Print the link and open nothing' },
  },
  run: async ({ print }, cli) => {
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

async function openUrl(cli: Cli, url: string): Promise<OpenResult> {
  const { openInBrowser } = await import('../browser.ts')
  return await openInBrowser(url, cli.paths.viewerPage, cli.env)
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
