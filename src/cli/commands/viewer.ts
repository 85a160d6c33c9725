import type { Opened } from '../browser.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { clean, counted } from '../text.ts'

const MINUTE_MS = 60_000

export const viewer = command({
  usage: 'viewer',
  group: 'See what it does',
  summary: 'Open the live page: sessions, memories, usage and settings',
  about:
    'Opens the viewer in your browser, and starts the daemon if none runs. The page comes from the daemon on this ' +
    'machine and asks nobody else. Its link opens it once and for two minutes; the page then stays open for as long ' +
    'as you like. Where there is no browser, or with --print, the link is printed for you to open.',
  examples: [
    ['claude-mem viewer', 'in your browser'],
    ['claude-mem viewer --print', 'the link alone'],
    ['ssh -L 37777:127.0.0.1:37777 HOST', 'for the page of another machine: then, there, claude-mem viewer --print'],
  ],
  positionals: {},
  options: {
    print: { type: 'boolean', describe: 'Print the link and open nothing' },
    json: jsonOption,
  },
  run: async ({ print, json }, cli) => {
    const [{ ensureStarted }, { withDaemon }] = await Promise.all([
      import('../daemon-process.ts'),
      import('../daemon-client.ts'),
    ])
    // An older daemon may know no viewer: this one takes over from it.
    await ensureStarted(cli)
    const { url, expiresAt } = await withDaemon(cli, (client) => client.request('viewer_link', { type: 'viewer_link' }))
    const asked: Opened = print === true ? { opened: false, why: 'asked to print it' } : await openInBrowser(cli, url)
    if (json === true) cli.printJson({ ...asked, url, expiresAt })
    else if (print === true) cli.print(clean(url))
    else cli.print(...linesOf(asked, url, expiresAt, cli))
    return 0
  },
})

async function openInBrowser(cli: Cli, url: string): Promise<Opened> {
  const { openLink } = await import('../browser.ts')
  return await openLink(url, cli.paths.viewerPage, cli.env)
}

function linesOf(asked: Opened, url: string, expiresAt: number, cli: Cli): string[] {
  const { style, now } = cli.look()
  if (asked.opened) return ['The viewer opens in your browser', style.dim('If it does not: claude-mem viewer --print')]
  return [
    `No browser was opened: ${clean(asked.why)}`,
    `This link opens the viewer once, within ${counted(Math.ceil((expiresAt - now) / MINUTE_MS), 'minute')}:`,
    '',
    `  ${style.bold(clean(url))}`,
  ]
}
