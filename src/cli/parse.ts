/**
 * Parses the command line and runs the command. The list of commands and the version are printed without yargs, which
 * takes longer to load than to print them. Error messages suggest the nearest command or option.
 */
import { errorMessage } from '../lib/errors.ts'
import { VERSION } from '../lib/version.ts'
import { didYouMean, UsageError } from './arguments.ts'
import type { Cli } from './cli.ts'
import { type CliCommand, COMMAND_GROUPS, EXIT_FAILED, EXIT_USAGE } from './command.ts'
import { terminalSafe } from './text.ts'

/** Longer lines are hard to read, also on a wide terminal. */
const MAX_HELP_COLUMNS = 100
export const GENERAL_OPTIONS = ['help', 'version', 'data-dir']
const HELP_FLAGS = ['--help', '-h']
const VERSION_FLAGS = ['--version', '-v']

/** Resolves with the exit code. */
export async function parse(given: readonly string[], commands: readonly CliCommand[], cli: Cli): Promise<number> {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const command = findCommand(args, commands)
  if (command === null && args.every((arg) => HELP_FLAGS.includes(arg))) {
    cli.print(...commandListLines(commands, cli))
    return 0
  }
  if (args.length === 1 && VERSION_FLAGS.includes(args[0] ?? '')) {
    cli.print(VERSION)
    return 0
  }
  return await parseWithYargs(args, command, commands, cli)
}

async function parseWithYargs(
  args: readonly string[],
  chosen: CliCommand | null,
  commands: readonly CliCommand[],
  cli: Cli,
): Promise<number> {
  const { default: yargs } = await import('yargs')
  let exitCode = 0
  // Without a directory yargs calls process.cwd(), which throws if the working directory was deleted.
  const parser = yargs([...args], cli.dist)
    .scriptName('claude-mem')
    .locale('en')
    .version(VERSION)
    .alias({ help: 'h', version: 'v' })
    .strict()
    .parserConfiguration({ 'duplicate-arguments-array': false, 'parse-positional-numbers': false })
    .exitProcess(false)
    .wrap(Math.min(MAX_HELP_COLUMNS, cli.display().columns ?? MAX_HELP_COLUMNS))
    .fail((message, error) => {
      const isUsageError = error === undefined || error === null || error.name === 'YError'
      throw isUsageError ? new UsageError(usageMessage(message, args, chosen)) : error
    })
  for (const command of commands) {
    command.add(parser, cli, (code) => {
      exitCode = code
    })
  }
  await parser.parseAsync()
  return exitCode
}

function findCommand(args: readonly string[], commands: readonly CliCommand[]): CliCommand | null {
  // General options take no value, so the first word is the command.
  const word = args.find((arg) => !arg.startsWith('-'))
  if (word === undefined) return null
  const found = commands.find((command) => command.name === word)
  if (found !== undefined) return found
  const names = commands.map((command) => command.name)
  throw new UsageError(`unknown command "${word}"${didYouMean(word, names, 'claude-mem --help lists them')}`)
}

/** Replaces yargs' messages, which print the whole help text. */
function usageMessage(message: string, args: readonly string[], command: CliCommand | null): string {
  const withoutValue = /^Not enough arguments following: (\S+)/.exec(message)?.[1]
  if (withoutValue !== undefined) return `--${withoutValue} needs a value`
  const unknown = /^Unknown (?:argument|command)s?: ([^,]+)/.exec(message)?.[1]
  if (unknown === undefined) return message.split('\n').find((line) => line.trim() !== '') ?? message
  const help = command === null ? 'claude-mem --help' : `claude-mem ${command.name} --help`
  const isOption = args.some((arg) => arg.startsWith('-') && arg.replace(/^--?(no-)?/, '').startsWith(unknown))
  if (!isOption) return `unexpected argument "${unknown}"; see ${help}`
  const known = [...Object.keys(command?.options ?? {}), ...GENERAL_OPTIONS].filter((name) => name.length > 1)
  const flag = `${unknown.length === 1 ? '-' : '--'}${unknown}`
  return `unknown option ${flag}${didYouMean(unknown, known, `see ${help}`).replace('mean ', 'mean --')}`
}

function commandListLines(commands: readonly CliCommand[], cli: Cli): string[] {
  const { bold, dim } = cli.display().style
  const width = Math.max(...commands.map((command) => command.usage.length))
  const row = (usage: string, summary: string) => `  ${usage.padEnd(width)}  ${dim(summary)}`
  const groups = COMMAND_GROUPS.flatMap((group) => [
    '',
    bold(group),
    ...commands.filter((command) => command.group === group).map(({ usage, summary }) => row(usage, summary)),
  ])
  return [
    `${bold('claude-mem')} <command> [options]`,
    'Memory for coding agents: what one session learned, the next one knows.',
    ...groups,
    '',
    bold('Everywhere'),
    row('--json', 'Print one line of JSON'),
    row('--data-dir DIR', 'Use the memory in this directory'),
    row('--help, -h', 'Explain a command, with examples: claude-mem inspect --help'),
    row('--version, -v', 'The version of this program'),
    '',
    `The memory is stored in ${terminalSafe(cli.paths.dataDir)} (--data-dir, CLAUDE_MEM_DATA_DIR).`,
  ]
}

export function exitCodeFor(error: unknown): number {
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED
}

/** One line for the user; with CLAUDE_MEM_LOG_LEVEL=debug also the stack. */
export function failureMessage(error: unknown, env: NodeJS.ProcessEnv): string {
  const message = isWorkingDirectoryDeleted(error)
    ? 'the current directory was deleted; change to another one and try again'
    : errorMessage(error)
  const line = `claude-mem: ${terminalSafe(message)}`
  const wantsStack = env.CLAUDE_MEM_LOG_LEVEL === 'debug' || env.CLAUDE_MEM_LOG_LEVEL === 'trace'
  if (!wantsStack || !(error instanceof Error) || error instanceof UsageError) return line
  return [line, ...stackLines(error)].join('\n')
}

/** How process.cwd() fails. */
function isWorkingDirectoryDeleted(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

function stackLines(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => `  ${terminalSafe(line)}`)
  return error.cause instanceof Error ? [...lines, '  caused by', ...stackLines(error.cause)] : lines
}
