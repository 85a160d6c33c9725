/** From the command line to the command, with help that teaches and errors that say what was meant. */
import { VERSION } from '../version.ts'
import type { Cli } from './cli.ts'
import { type Command, GROUPS } from './command.ts'
import { UsageError } from './failure.ts'
import { didYouMean } from './suggest.ts'
import { clean } from './text.ts'

/** Longer lines are hard to read however wide the terminal is. */
const MAX_HELP_COLUMNS = 100
const GENERAL_OPTIONS = ['help', 'version']
const HELP = ['--help', '-h']
const VERSIONS = ['--version', '-v']

/** The exit code. */
export async function parse(given: readonly string[], commands: readonly Command[], cli: Cli): Promise<number> {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const chosen = findCommand(args, commands)
  if (chosen === null && args.every((arg) => HELP.includes(arg))) {
    cli.print(...overview(commands, cli))
    return 0
  }
  if (args.length === 1 && VERSIONS.includes(args[0] ?? '')) {
    cli.print(VERSION)
    return 0
  }
  return await parseWithYargs(args, chosen, commands, cli)
}

async function parseWithYargs(
  args: readonly string[],
  chosen: Command | null,
  commands: readonly Command[],
  cli: Cli,
): Promise<number> {
  // Loading it takes longer than printing a version.
  const { default: yargs } = await import('yargs')
  let exitCode = 0
  // Where it looks for nothing: without this it asks for the working directory, which may have been deleted.
  const parser = yargs([...args], cli.dist)
    .scriptName('claude-mem')
    .locale('en')
    .version(VERSION)
    .alias({ help: 'h', version: 'v' })
    .strict()
    .parserConfiguration({ 'duplicate-arguments-array': false, 'parse-positional-numbers': false })
    .exitProcess(false)
    .wrap(Math.min(MAX_HELP_COLUMNS, cli.look().columns ?? MAX_HELP_COLUMNS))
    .fail((message, error) => {
      // yargs' own errors are about the command line; a command's are its own.
      const isUsage = error === undefined || error === null || error.name === 'YError'
      throw isUsage ? new UsageError(explain(message, args, chosen)) : error
    })
  for (const command of commands) {
    command.add(parser, cli, (code) => {
      exitCode = code
    })
  }
  await parser.parseAsync()
  return exitCode
}

function findCommand(args: readonly string[], commands: readonly Command[]): Command | null {
  // No general option takes a value: the first word is the command.
  const word = args.find((arg) => !arg.startsWith('-'))
  if (word === undefined) return null
  const found = commands.find((command) => command.name === word)
  if (found !== undefined) return found
  const names = commands.map((command) => command.name)
  throw new UsageError(`unknown command "${word}"${didYouMean(word, names, 'claude-mem --help lists them')}`)
}

function explain(message: string, args: readonly string[], command: Command | null): string {
  const valueless = /^Not enough arguments following: (\S+)/.exec(message)?.[1]
  if (valueless !== undefined) return `--${valueless} needs a value`
  const unknown = /^Unknown (?:argument|command)s?: ([^,]+)/.exec(message)?.[1]
  if (unknown === undefined) return firstLine(message)
  const help = command === null ? 'claude-mem --help' : `claude-mem ${command.name} --help`
  const isOption = args.some((arg) => /^--?/.exec(arg) !== null && arg.replace(/^--?(no-)?/, '').startsWith(unknown))
  if (!isOption) return `unexpected argument "${unknown}"; see ${help}`
  const known = [...(command?.optionNames ?? []), ...GENERAL_OPTIONS].filter((name) => name.length > 1)
  const flag = `${unknown.length === 1 ? '-' : '--'}${unknown}`
  return `unknown option ${flag}${didYouMean(unknown, known, `see ${help}`).replace('mean ', 'mean --')}`
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '') ?? text
}

function overview(commands: readonly Command[], cli: Cli): string[] {
  const { bold, dim } = cli.look().style
  const width = Math.max(...commands.map((command) => command.usage.length))
  const groups = GROUPS.flatMap((group) => [
    '',
    bold(group),
    ...commands
      .filter((command) => command.group === group)
      .map((command) => `  ${command.usage.padEnd(width)}  ${dim(command.summary)}`),
  ])
  return [
    `${bold('claude-mem')} <command> [options]`,
    'Memory for coding agents: what one session learned, the next one knows.',
    ...groups,
    '',
    bold('Everywhere'),
    `  ${'--json'.padEnd(width)}  ${dim('One line of JSON, for programs')}`,
    `  ${'--help, -h'.padEnd(width)}  ${dim('Explain a command, with examples: claude-mem inspect --help')}`,
    `  ${'--version, -v'.padEnd(width)}  ${dim('The version of this program')}`,
    '',
    `The memory is kept in ${clean(cli.paths.dataDir)} (CLAUDE_MEM_DATA_DIR).`,
  ]
}
