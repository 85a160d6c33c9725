/** The connection URL as the user gives it, and waiting until everything is sent: `team` and `flush` share it. */
import type { OutputOf } from '../api/index.ts'
import type { DaemonClient } from '../transport/client.ts'
import { UsageError } from './arguments.ts'
import type { Cli } from './cli.ts'
import { askLine, askSecret, readStdinValue } from './input.ts'
import { progressBar } from './progress.ts'

const URL_FORM = 'postgres://ROLE@HOST:5432/DATABASE'

/**
 * Asks for what is missing on a terminal. A password in an argument is in the shell's history and the process list, so the URL
 * may also come from standard input (`-`) or have none, and the password is asked for.
 */
export async function connectionUrl(cli: Cli, given: string | undefined): Promise<string> {
  const { stdin, stderr } = process
  if (given === '-') return await readStdinValue(stdin)
  if (given === undefined && !cli.interactive) {
    throw new UsageError(`team connect needs a URL, or - to read it from stdin: claude-mem team connect ${URL_FORM}`)
  }
  const url = (given ?? (await askLine(`PostgreSQL (${URL_FORM}): `, { input: stdin, output: stderr }))).trim()
  if (!/^postgres(?:ql)?:\/\//i.test(url)) throw new UsageError(`the URL must look like ${URL_FORM}`)
  if (!cli.interactive || hasPassword(url)) return url
  const role = /^postgres(?:ql)?:\/\/([^@/?:]+)@/i.exec(url)?.[1]
  if (role === undefined) return url
  const password = await askSecret(`Password of ${decodeURIComponent(role)}: `, stdin, stderr)
  return url.replace(`${role}@`, `${role}:${encodeURIComponent(password)}@`)
}

function hasPassword(url: string): boolean {
  return /^postgres(?:ql)?:\/\/[^@/?:]*:[^@/?]+@/i.test(url)
}

const PROGRESS_INTERVAL_MS = 200
/** For the daemon's answer after its own deadline. */
const ANSWER_MS = 10_000

/** Waits until nothing is left to be sent, with a progress bar. `total`: what waited at first. */
export async function waitForPush(
  client: DaemonClient,
  cli: Cli,
  total: number,
  timeoutMs: number,
): Promise<OutputOf<'team_flush'>> {
  const timer = setInterval(() => {
    client.call('team_status').then(
      ({ team }) => {
        const sent = Math.max(0, total - (team.sync?.outbox.waiting ?? 0))
        cli.progress(`Sending ${progressBar(sent, total)} ${sent} of ${total}`)
      },
      () => undefined,
    )
  }, PROGRESS_INTERVAL_MS)
  try {
    return await client.call('team_flush', { timeoutMs }, timeoutMs + ANSWER_MS)
  } finally {
    clearInterval(timer)
    cli.progress('')
  }
}
