/** A backfill with somebody watching: a bar, Ctrl-C, and a daemon that may be restarted meanwhile. */
import type { Plan } from '../backfill/plan.ts'
import { isGone, newProgress, type Progress, runBackfill } from '../backfill/run.ts'
import { messageOf } from '../errors.ts'
import type { Settings } from '../settings.ts'
import type { Cli } from './cli.ts'
import { withDaemon } from './daemon-client.ts'
import { type Done, progressLine } from './render/backfill.ts'

/** As often as anyone sees a bar move; lines for a log now and then, in ms. */
const BAR_MS = 100
const LINE_MS = 10_000
/** A daemon that is lost this often while nothing gets done will not stay. */
const MAX_LOSSES = 3
const EXIT_INTERRUPTED = 130

export async function carryOut(plan: Plan, settings: Settings, quiet: boolean, cli: Cli): Promise<Done> {
  const progress = newProgress(plan.sessions)
  const total = {
    sessions: plan.sessions.length,
    toolUses: plan.sessions.reduce((sum, { toolUses }) => sum + toolUses, 0),
  }
  const began = performance.now()
  let toldAt = began
  const moved = () => {
    const now = performance.now()
    if (now - toldAt < (cli.interactive ? BAR_MS : LINE_MS)) return
    toldAt = now
    const line = progressLine(progress, total, now - began)
    if (cli.interactive) cli.progress(line)
    else if (!quiet) cli.tell(line)
  }
  const error = await stoppable(cli, (stop) => untilDone(progress, { settings, stop, moved }, cli))
  return {
    sessions: progress.done,
    toolUses: progress.toolUses,
    events: progress.fresh,
    observations: progress.observations,
    summaries: progress.summaries,
    failed: progress.failed,
    left: progress.left.length,
    error: error === null ? null : messageOf(error),
  }
}

/** Null, or why it could not go on. */
async function untilDone(
  progress: Progress,
  options: { settings: Settings; stop: AbortSignal; moved: () => void },
  cli: Cli,
): Promise<unknown> {
  let losses = 0
  for (let finished = 0; ; finished = progress.done + progress.failed.length) {
    try {
      await withDaemon(cli, (client) => runBackfill(progress, { ...options, client }))
      return null
    } catch (error) {
      losses = progress.done + progress.failed.length > finished ? 1 : losses + 1
      if (!isGone(error) || losses >= MAX_LOSSES || options.stop.aborted) return error
    }
  }
}

/** The first Ctrl-C lets the sessions under way finish; the second ends it at once, which loses nothing either. */
async function stoppable<T>(cli: Cli, run: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => {
    cli.progress('')
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED)
    cli.tell('Ends after the sessions under way; Ctrl-C again ends it at once. Nothing is lost either way')
    controller.abort()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await run(controller.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    cli.progress('')
  }
}
