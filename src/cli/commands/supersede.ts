import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { UsageError } from '../failure.ts'
import { idOf } from '../ids.ts'

export const supersede = command({
  usage: 'supersede <old>',
  group: 'Use the memory',
  summary: 'Say that a newer observation replaces an older one',
  about:
    'What is replaced stays, says by what, and comes last in every search. Use it where something was true once. Starts the ' +
    'daemon if none runs.',
  examples: [
    ['claude-mem supersede 12 --by 40', '#40 replaces #12'],
    ['claude-mem supersede 12 --by 40 --undo', 'both hold after all'],
  ],
  positionals: { old: { type: 'string', describe: 'The id of the one that no longer holds' } },
  options: {
    by: { type: 'string', requiresArg: true, describe: 'The id of the one that holds now' },
    undo: { type: 'boolean', describe: 'Take it back' },
    json: jsonOption,
  },
  run: async ({ old, by, undo, json }, cli) => {
    if (old === undefined || by === undefined)
      throw new UsageError('say what replaces it: claude-mem supersede OLD --by NEW')
    const [from, to] = [idOf(by), idOf(old)]
    if (from === to) throw new UsageError('an observation cannot replace itself')
    const on = undo !== true
    await withDaemon(cli, (client) => client.request('linked', { type: 'link', from, to, kind: 'supersedes', on }))
    if (json === true) cli.printJson({ old: to, by: from, on })
    else cli.print(on ? `#${from} replaces #${to}` : `#${from} does not replace #${to} any more`)
    return 0
  },
})
