/** A command as data: what it is called, what it takes, how it is explained, and what it does. */
import type { Argv, InferredOptionType, Options, PositionalOptions } from 'yargs'
import type { Cli } from './cli.ts'

export const GROUPS = ['Use the memory', 'Run it', 'See what it does', 'Keep it in shape', 'Connect it'] as const

type Inferred<O> = { [K in keyof O]: O[K] extends Options | PositionalOptions ? InferredOptionType<O[K]> : never }

export interface Spec<P, O> {
  /** `inspect [session]` */
  usage: string
  /** It takes any number of words: they are in `rest`, as they were typed. */
  takesRest?: boolean
  group: (typeof GROUPS)[number]
  /** One line in the list of commands. */
  summary: string
  /** What somebody should know before using it. */
  about: string
  examples: readonly (readonly [command: string, what: string])[]
  positionals: P
  options: O
  /** The exit code. */
  run(args: Inferred<P> & Inferred<O> & { rest: string[] }, cli: Cli): Promise<number>
}

export interface Command {
  name: string
  usage: string
  group: (typeof GROUPS)[number]
  summary: string
  /** Names of its options, for suggestions. */
  optionNames: string[]
  add(yargs: Argv, cli: Cli, ended: (exitCode: number) => void): Argv
}

export function command<const P extends Record<string, PositionalOptions>, const O extends Record<string, Options>>(
  spec: Spec<P, O>,
): Command {
  const { usage, takesRest = false, group, summary, about, examples, positionals, options, run } = spec
  const name = usage.split(' ', 1)[0] ?? usage
  return {
    name,
    usage,
    group,
    summary,
    optionNames: Object.keys(options),
    add: (yargs, cli, ended) =>
      yargs.command(
        takesRest ? name : usage,
        // The list of commands is our own, in groups.
        false,
        (builder) => {
          builder.usage(`claude-mem ${usage}\n\n${about}`).options(options)
          // Words that yargs does not know are wanted here; options are not. Its own lists keep only the last word.
          if (takesRest) builder.strict(false).strictOptions()
          for (const [name, positional] of Object.entries(positionals)) {
            // Without the number yargs takes `-` for an option that nobody wrote.
            builder.positional(name, positional).nargs(name, 1)
          }
          for (const [line, what] of examples) builder.example(line, what)
          return builder
        },
        // yargs parsed the arguments by this very spec; its types cannot follow a loop over positionals.
        async (args) => {
          const known = args as unknown as Inferred<P> & Inferred<O>
          ended(await run({ ...known, rest: args._.slice(1).map(String) }, cli))
        },
      ),
  }
}

export const jsonOption = { type: 'boolean', describe: 'One line of JSON, for programs' } as const
