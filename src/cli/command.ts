/** A command as data: name, arguments, help text and implementation. yargs is built from it when a command is parsed. */
import type { Argv, InferredOptionType, Options, PositionalOptions } from 'yargs'
import type { Cli } from './cli.ts'

/** The command line was understood, but the command did not succeed. */
export const EXIT_FAILED = 1
/** The command line is wrong. */
export const EXIT_USAGE = 2

/** Headings of `claude-mem --help`, in this order. */
export const COMMAND_GROUPS = ['Memory', 'Daemon', 'Inspect', 'Maintenance', 'Integrations'] as const

/** The parsed values of options or positionals. */
export type ArgumentValues<O> = {
  [K in keyof O]: O[K] extends { type: 'boolean' }
    ? boolean
    : O[K] extends Options | PositionalOptions
      ? InferredOptionType<O[K]>
      : never
}

interface CommandSpec<P, O> {
  /** `inspect [session]` */
  usage: string
  /** Takes any number of words, passed unchanged in `rest`. */
  takesRest?: boolean
  group: (typeof COMMAND_GROUPS)[number]
  /** One line for the list of commands. */
  summary: string
  /** A paragraph for `--help`. */
  about: string
  examples: readonly (readonly [command: string, what: string])[]
  positionals?: P
  /** A boolean option that is not given is false. */
  options?: O
  /** It has no `--json`, because a client reads its output. */
  forClients?: true
  /** Resolves with the exit code; without one it is 0. */
  run(args: ArgumentValues<P> & ArgumentValues<O> & { rest: string[] }, cli: Cli): Promise<number> | Promise<void>
}

type CommandTexts = Pick<CommandSpec<unknown, unknown>, 'usage' | 'group' | 'summary' | 'about' | 'examples'>

export interface CliCommand extends CommandTexts {
  name: string
  options: Readonly<Record<string, Options>>
  add(yargs: Argv, cli: Cli, onExitCode: (exitCode: number) => void): Argv
}

export function defineCommand<
  const O extends Record<string, Options> = Record<never, never>,
  const P extends Record<string, PositionalOptions> = Record<never, never>,
>(spec: CommandSpec<P, O>): CliCommand {
  const { usage, takesRest = false, about, examples, positionals, forClients, run } = spec
  const options: Record<string, Options> = {
    ...spec.options,
    ...(forClients ? {} : { json: spec.options?.json ?? jsonOption }),
  }
  const flags = Object.keys(options).filter((option) => options[option]?.type === 'boolean')
  const name = usage.split(' ', 1)[0] ?? usage
  return {
    ...spec,
    name,
    options,
    add: (yargs, cli, onExitCode) =>
      yargs.command(
        takesRest ? name : usage,
        // Hidden from yargs' own list of commands: parse.ts prints a grouped one.
        false,
        (builder) => {
          builder.usage(`claude-mem ${usage}\n\n${about}`).options(options)
          // A variadic positional of yargs keeps only the last word, so words are accepted as unknown arguments instead.
          if (takesRest) builder.strict(false).strictOptions()
          for (const [name, positional] of Object.entries(positionals ?? {})) {
            // Without nargs yargs reads the positional `-` (standard input) as an unknown option.
            builder.positional(name, positional).nargs(name, 1)
          }
          for (const [line, what] of examples) builder.example(line, what)
          return builder
        },
        // yargs has parsed the arguments by this spec, but its types cannot follow the loop over positionals.
        async (args) => {
          const known = args as unknown as ArgumentValues<P> & ArgumentValues<O>
          const switches = Object.fromEntries(flags.map((flag) => [flag, args[flag] === true]))
          const rest = args._.slice(1).map(String)
          const exitCode = await run({ ...known, ...switches, rest }, { ...cli, json: args.json === true })
          onExitCode(typeof exitCode === 'number' ? exitCode : 0)
        },
      ),
  }
}

/** An option that takes a text. */
export function stringOption(describe: string, alias?: string) {
  return { type: 'string', requiresArg: true, describe, ...(alias === undefined ? {} : { alias }) } as const
}

/** Every command for people has it. */
export const jsonOption = { type: 'boolean', describe: 'Print one line of JSON' } as const

/** `--yes` of commands that ask before they change something. */
export const yesOption = { type: 'boolean', alias: 'y', describe: 'Do not ask for confirmation' } as const
