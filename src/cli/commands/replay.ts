import type { Wish } from '../../replay/observer.ts'
import { REPLAY_PROVIDERS } from '../../replay/providers.ts'
import { loadSettings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { EXIT_FAILED, oneOf } from '../failure.ts'

export const replay = command({
  usage: 'replay <session>',
  group: 'See what it does',
  summary: 'Observe a stored session once more, and show what would come out different',
  about:
    'Tells a stored session to an observer again, from what is kept of its tool uses, through the same machine that the ' +
    'daemon runs, and compares what comes out with what is stored. The memory is only read: nothing is added, changed or ' +
    'counted. Try another provider, model or version of the prompts on work that you know. Without options the observer ' +
    'is the one that the settings choose. Where a model would be asked, it says first what that may cost and asks; --yes ' +
    'goes on without asking. ' +
    'Tool payloads are kept for CLAUDE_MEM_KEEP_PAYLOADS_DAYS; what is gone by then cannot be told again.',
  examples: [
    ['claude-mem replay 5f1c', 'the session whose id begins so, with the observer of today'],
    ['claude-mem replay 5f1c --provider offline', 'what the rules would have made of it'],
    ['claude-mem replay 5f1c --provider anthropic --model claude-sonnet-5', 'another model'],
    ['claude-mem replay 5f1c --provider anthropic --prompt-dir ./prompts', 'prompts that you are working on'],
  ],
  positionals: { session: { type: 'string', describe: 'The first characters of its id', demandOption: true } },
  options: {
    provider: { type: 'string', requiresArg: true, describe: REPLAY_PROVIDERS.join(', ') },
    model: { type: 'string', requiresArg: true, describe: 'A model of that provider' },
    'prompt-dir': {
      type: 'string',
      requiresArg: true,
      describe: 'A directory with other prompts (init.md, observation.md, …); what is missing there is ours',
    },
    all: { type: 'boolean', describe: 'Show what stays the same too' },
    yes: { type: 'boolean', alias: 'y', describe: 'Do it, do not ask what it may cost' },
    json: jsonOption,
  },
  run: async ({ session, provider, model, 'prompt-dir': promptDir, all, yes, json }, cli) => {
    const wish = {
      provider: provider === undefined ? null : oneOf('provider', provider, REPLAY_PROVIDERS),
      model: model ?? null,
      promptDir: promptDir ?? null,
    }
    return await replayIt(session, wish, { all: all === true, yes: yes === true, json: json === true }, cli)
  },
})

/** As often as anyone sees a bar move. */
const BAR_MS = 100

interface Asked {
  all: boolean
  yes: boolean
  json: boolean
}

async function replayIt(session: string, wish: Wish, asked: Asked, cli: Cli): Promise<number> {
  const [{ prepareReplay, runReplay }, { withReader }, { interruptible }, render, { policyOf }] = await Promise.all([
    import('../../replay/index.ts'),
    import('../reader.ts'),
    import('../interruptible.ts'),
    import('../render/replay.ts'),
    import('../../policy.ts'),
  ])
  const settings = loadSettings(cli.paths.dataDir, cli.env)
  const prepared = await withReader(cli.paths, (reader) =>
    prepareReplay(reader, session, wish, {
      settings,
      paths: cli.paths,
      env: cli.env,
      spentToday: async () => (await reader.usage('model', 1)).today,
    }),
  )
  if (prepared.cost !== null && !asked.yes) {
    const lines = render.costLines(prepared, cli.look())
    if (asked.json || !cli.interactive) {
      if (asked.json) cli.printJson({ dryRun: true, observer: prepared.observer, estimate: prepared.cost.estimate })
      else cli.print(...lines)
      cli.tell('Nothing was replayed: a model would be asked; say --yes if you mean it')
      return EXIT_FAILED
    }
    cli.print(...lines)
    if (!(await cli.confirm('Replay it?'))) {
      cli.tell('Nothing was replayed')
      return EXIT_FAILED
    }
  }
  const { chosen } = prepared
  const began = performance.now()
  let shownAt = began
  const moved = (done: number, of: number) => {
    const now = performance.now()
    if (now - shownAt < BAR_MS) return
    shownAt = now
    cli.progress(render.progressLine(done, of, now - began))
  }
  const view = await interruptible((signal) =>
    runReplay(prepared, {
      policy: policyOf(chosen.loaded, chosen.choice.provider === 'offline'),
      signal,
      moved,
    }),
  ).finally(() => cli.progress(''))
  if (asked.json) cli.printJson({ dryRun: false, ...view })
  else cli.print(...render.replayLines(view, asked.all, cli.look()))
  return 0
}
