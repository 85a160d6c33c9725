import { withoutColours } from '../../memory/colours.ts'
import { SETTINGS } from '../../settings.ts'
import { command, jsonOption } from '../command.ts'
import { loadPreview } from '../context-preview.ts'
import { wholeNumber } from '../failure.ts'
import { projectAsked } from '../project.ts'
import { wantsColour } from '../style.ts'
import { clean } from '../text.ts'
import { reportEvent } from './hook.ts'

const { min, max } = SETTINGS.CLAUDE_MEM_CONTEXT_TOKENS.rule

export const context = command({
  usage: 'context',
  group: 'See what it does',
  summary: 'What a session that starts here would be told',
  about:
    'Prints, to the letter, the memory that a new session of a project gets at its start: what you pinned, the last turns, ' +
    'then what was learned by day and file, under the budget CLAUDE_MEM_CONTEXT_TOKENS. The other settings that begin with ' +
    'CLAUDE_MEM_CONTEXT_ say what goes into it (`claude-mem config`). Works without a daemon too. With a hook payload on ' +
    'standard input, and no options, it does what the hook does for SessionStart (or for the event that the payload ' +
    'names), for hooks that you registered by hand.',
  examples: [
    ['claude-mem context', 'for the project of this directory'],
    ['claude-mem context --project shop', 'for another one, by its name, key or path'],
    ['claude-mem context --tokens 500', 'what a smaller budget would leave'],
    ['claude-mem context --message', 'what you are told yourself when a session starts'],
    ['claude-mem context --json | jq .report', 'tokens of each part, and what was left out and why'],
  ],
  positionals: {},
  options: {
    project: {
      type: 'string',
      requiresArg: true,
      alias: 'p',
      describe: 'Its name, key or path; default: where you are',
    },
    tokens: {
      type: 'number',
      requiresArg: true,
      describe: 'Another budget than CLAUDE_MEM_CONTEXT_TOKENS',
      coerce: wholeNumber('--tokens', min, max),
    },
    message: { type: 'boolean', describe: 'What the person is told, not the model' },
    json: jsonOption,
  },
  run: async ({ project, tokens, message, json }, cli) => {
    if ([project, tokens, message, json].every((option) => option === undefined)) {
      const { payloadFrom } = await import('../payload-input.ts')
      const payload = await payloadFrom(process.stdin)
      if (payload !== null) return await reportEvent(cli, [], { event: 'SessionStart', payload })
    }
    const { running, preview } = await loadPreview(projectAsked(project, cli.env), tokens, cli)
    const name = clean(preview.project.name)
    if (json === true) {
      cli.printJson({ running, ...preview, message: withoutColours(preview.message) })
    } else if (message === true) {
      const coloured = wantsColour(process.stdout.isTTY === true, cli.env)
      if (preview.message !== '') cli.print(coloured ? preview.message : withoutColours(preview.message))
      else cli.tell(`There is nothing to say about ${name} when a session starts.`)
    } else if (preview.context !== '') {
      cli.print(preview.context)
    } else if (preview.totals === null || preview.totals.observations === 0) {
      cli.tell(`Nothing is known about ${name} yet: a session gets no context.`)
    } else {
      cli.tell(`Of what is known about ${name} a session gets nothing: CLAUDE_MEM_CONTEXT_TOKENS is too small.`)
    }
    return 0
  },
})
