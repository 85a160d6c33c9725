/** `claude-mem replay`: observes a stored session again and compares the result with what is stored. */
import { loadSettings } from '../../settings/settings.ts'
import type { PreparedReplay } from '../../transfer/replay/index.ts'
import type { ReplayRequest } from '../../transfer/replay/observer.ts'
import { REPLAY_PROVIDERS } from '../../transfer/replay/providers.ts'
import { oneOf } from '../arguments.ts'
import { type Cli, confirmChange, withInterruptSignal } from '../cli.ts'
import { defineCommand, EXIT_FAILED, jsonOption, stringOption, yesOption } from '../command.ts'
import { withMemory } from '../memory-client.ts'
import { throttled } from '../progress.ts'

/** Time between two updates of the progress line. */
const PROGRESS_INTERVAL_MS = 100

export const replayCommand = defineCommand({
  usage: 'replay <session>',
  group: 'See what it does',
  summary: 'Observe a stored session again, and show what would be different',
  about:
    'Gives a stored session to an observer again, from what is kept of its tool uses, through the same state machine as in ' +
    'the daemon, and compares the result with what is stored. The memory is only read: nothing is added, changed or ' +
    'counted. Use it to try another provider, model or version of the prompts on work that you know. Without options the ' +
    'observer is the one that the settings choose. If a model would be called, the estimated cost is printed first and has ' +
    'to be confirmed; --yes skips the question. Tool payloads are kept for CLAUDE_MEM_KEEP_PAYLOADS_DAYS; removed ones ' +
    'cannot be replayed.',
  examples: [
    ['claude-mem replay 5f1c', 'the session whose id starts with it, with the current observer'],
    ['claude-mem replay 5f1c --provider offline', 'with the rules, without a model'],
    ['claude-mem replay 5f1c --provider anthropic --model claude-sonnet-5', 'another model'],
    ['claude-mem replay 5f1c --provider anthropic --prompt-dir ./prompts', 'your own prompts'],
  ],
  positionals: { session: { type: 'string', describe: 'The start of its id', demandOption: true } },
  options: {
    provider: stringOption(REPLAY_PROVIDERS.join(', ')),
    model: stringOption('A model of that provider'),
    'prompt-dir': stringOption(
      'A directory with other prompts (init.md, observation.md, …); the built-in ones replace missing ones',
    ),
    all: { type: 'boolean', describe: 'Also show what stays the same' },
    yes: { ...yesOption, describe: 'Do not ask for confirmation of the cost' },
    json: jsonOption,
  },
  run: async ({ session, provider, model, 'prompt-dir': promptDir, all, yes, json }, cli) => {
    const request: ReplayRequest = {
      provider: provider === undefined ? null : oneOf('provider', provider, REPLAY_PROVIDERS),
      model: model ?? null,
      promptDir: promptDir ?? null,
    }
    return await replay(session, request, { all, yes, json }, cli)
  },
})

type ReplayOptions = Record<'all' | 'yes' | 'json', boolean>

async function replay(session: string, request: ReplayRequest, options: ReplayOptions, cli: Cli): Promise<number> {
  const [{ prepareReplay, runReplay }, { replayLines, replayProgressLine }, { sessionPolicy }] = await Promise.all([
    import('../../transfer/replay/index.ts'),
    import('../render/replay.ts'),
    import('../../daemon/actors/supervisor.ts'),
  ])
  const settings = loadSettings(cli.paths.dataDir, cli.env)
  const prepared = await withMemory(cli, (call) =>
    prepareReplay(call, session, request, { settings, paths: cli.paths, env: cli.env }),
  )
  if (!(await confirmCost(prepared, options, cli))) return EXIT_FAILED
  const { loaded, choice } = prepared.chosen
  const view = await withInterruptSignal((signal) =>
    runReplay(prepared, {
      policy: sessionPolicy(loaded, choice.provider === 'offline'),
      signal,
      onProgress: throttled(PROGRESS_INTERVAL_MS, (elapsedMs, done: number, total: number) =>
        cli.progress(replayProgressLine(done, total, elapsedMs)),
      ),
    }),
  ).finally(() => cli.progress(''))
  if (options.json) cli.printJson({ dryRun: false, ...view })
  else cli.print(...replayLines(view, options.all, cli.display()))
  return 0
}

/** Only if a model would be called. With --json or without a terminal the answer is no. */
async function confirmCost(prepared: PreparedReplay, { yes, json }: ReplayOptions, cli: Cli): Promise<boolean> {
  if (prepared.cost === null || yes) return true
  const { replayCostLines } = await import('../render/replay.ts')
  if (json) cli.printJson({ dryRun: true, observer: prepared.observer, estimate: prepared.cost.estimate })
  else cli.print(...replayCostLines(prepared, cli.display()))
  const options = { reason: 'a model would be called', canAsk: cli.interactive && !json }
  return await confirmChange(cli, 'Replay it?', 'Nothing was replayed', options)
}
