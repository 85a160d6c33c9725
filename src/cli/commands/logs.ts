import { command, jsonOption } from '../command.ts'
import { wholeNumber } from '../failure.ts'

export const logs = command({
  usage: 'logs',
  group: 'See what it does',
  summary: 'What the daemon logged',
  about:
    'Prints the last lines of the log, made readable. CLAUDE_MEM_LOG_LEVEL sets how much is logged; the content of what ' +
    'your tools did is never in it above debug.',
  examples: [
    ['claude-mem logs -n 200', 'the last 200 lines'],
    ['claude-mem logs -f', 'and go on with what is logged from now on'],
  ],
  positionals: {},
  options: {
    follow: { type: 'boolean', alias: 'f', describe: 'Go on until Ctrl-C' },
    lines: {
      type: 'number',
      requiresArg: true,
      alias: 'n',
      describe: 'Lines shown',
      default: 50,
      coerce: wholeNumber('--lines', 0, 1_000_000),
    },
    json: { ...jsonOption, describe: 'One line with an array; with -f one line an entry' },
  },
  run: async ({ follow, lines, json }, cli) => {
    const { followLines, lastLines, parseLogLine } = await import('../log-files.ts')
    const { logLine } = await import('../render/log-line.ts')
    const { logs: directory } = cli.paths
    const last = lastLines(directory, lines).map(parseLogLine)
    const show = (line: string) => {
      const entry = parseLogLine(line)
      if (json === true) cli.printJson(entry)
      else cli.print(logLine(entry, cli.look()))
    }
    if (json !== true) for (const entry of last) cli.print(logLine(entry, cli.look()))
    else if (follow !== true) cli.printJson(last)
    else for (const entry of last) cli.printJson(entry)
    if (last.length === 0 && json !== true && lines !== 0) cli.tell(`Nothing is logged in ${directory} yet`)
    if (follow === true) {
      const { untilInterrupted } = await import('../watch.ts')
      await followLines(directory, untilInterrupted(), show)
    }
    return 0
  },
})
