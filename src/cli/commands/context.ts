/** `claude-mem context`: what a new session gets at its start. */
import { stripColors } from '../../lib/format.ts'
import { SETTINGS } from '../../settings/settings.ts'
import { numberOption } from '../arguments.ts'
import { defineCommand, stringOption } from '../command.ts'
import { parseProject } from '../filters.ts'
import { callMemory } from '../memory-client.ts'
import { shouldUseColour } from '../style.ts'
import { terminalSafe } from '../text.ts'
import { reportEvent } from './client-programs.ts'

const { min, max } = SETTINGS.CLAUDE_MEM_CONTEXT_TOKENS.rule

export const contextCommand = defineCommand({
  usage: 'context',
  group: 'Inspect',
  summary: 'What a session that starts here would get',
  about:
    'Prints exactly what a new session of a project gets at its start: pinned observations, the goal, where it stopped, next ' +
    'steps, decisions, fixes and what was learned, within the budget CLAUDE_MEM_CONTEXT_TOKENS. The other settings that start with ' +
    'CLAUDE_MEM_CONTEXT_ set what goes into it (`claude-mem config`). Works without a daemon too. With a hook payload on ' +
    'standard input, and no options, it does what the hook does for SessionStart (or for the event that the payload ' +
    'names), for hooks that you registered by hand.',
  examples: [
    ['claude-mem context', 'for the project of this directory'],
    ['claude-mem context --project shop', 'for another one, by its name, key or path'],
    ['claude-mem context --tokens 500', 'with a smaller budget'],
    ['claude-mem context --message', 'the message for you, not for the model'],
    ['claude-mem context --json | jq .report', 'tokens of each part, and what was left out and why'],
  ],
  options: {
    project: stringOption('Project name, key or path; default: current directory', 'p'),
    tokens: numberOption('tokens', 'Instead of CLAUDE_MEM_CONTEXT_TOKENS', min, max),
    message: { type: 'boolean', describe: 'The message for the user, not for the model' },
  },
  run: async ({ project, tokens, message }, cli) => {
    if (project === undefined && tokens === undefined && !message && !cli.json) {
      const { readHookPayload } = await import('../input.ts')
      const payload = await readHookPayload(process.stdin)
      if (payload !== null) return void (await reportEvent(cli, [], { event: 'SessionStart', payload }))
    }
    const input = { project: parseProject(project, cli.env), ...(tokens === undefined ? {} : { tokens }) }
    const { running, ...preview } = await callMemory(cli, 'context', input)
    const name = terminalSafe(preview.project.name)
    if (cli.json) {
      cli.printJson({ running, ...preview, message: stripColors(preview.message) })
    } else if (message) {
      const coloured = shouldUseColour(process.stdout.isTTY === true, cli.env)
      if (preview.message !== '') cli.print(coloured ? preview.message : stripColors(preview.message))
      else cli.printStderr(`A session of ${name} starts without a message.`)
    } else if (preview.context !== '') {
      cli.print(preview.context)
    } else if (preview.totals === null || preview.totals.observations === 0) {
      cli.printStderr(`Nothing is known about ${name} yet: a session gets no context.`)
    } else {
      cli.printStderr(`A session of ${name} gets no context: CLAUDE_MEM_CONTEXT_TOKENS is too small.`)
    }
  },
})
