/** Commands for settings that people write by hand: each reports one kind of event from standard input. */
import { type Command, command } from './command.ts'
import { reportEvent } from './commands/hook.ts'

/** What each of them reports, in the words of Claude Code. */
const EVENTS = { new: 'UserPromptSubmit', save: 'PostToolUse', summary: 'Stop' } as const

export interface PayloadSpec {
  name: keyof typeof EVENTS
  summary: string
  /** Fields of a payload beside the session and its directory. */
  example: Record<string, unknown>
}

/** The event that a command of this name reports; undefined for any other command. */
export function payloadEvent(name: string | undefined): string | undefined {
  return Object.entries(EVENTS).find(([command]) => command === name)?.[1]
}

export function payloadCommand({ name, summary, example }: PayloadSpec): Command {
  const event = EVENTS[name]
  const payload = JSON.stringify({ session_id: 'demo', cwd: '/tmp', ...example })
  return command({
    usage: name,
    group: 'Connect it',
    summary,
    about:
      `For hooks that are registered by hand: reads a hook payload from standard input and reports it as ${event}. A ` +
      'payload that names its event itself (`hook_event_name`) is reported as what it says. It answers like ' +
      '`claude-mem hook`, and always succeeds. `claude-mem install` registers all hooks by itself.',
    examples: [
      [`echo '${payload}' | claude-mem ${name}`, ''],
      [`{"type":"command","command":"claude-mem ${name}"}`, `in settings.json, under "hooks", "${event}"`],
    ],
    positionals: {},
    options: {},
    run: (_, cli) => reportEvent(cli, [], { event }),
  })
}
