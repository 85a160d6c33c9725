/** A command as data: what it is called, what it takes, how it is explained, and what it does. */
import type { Argv, InferredOptionType, Options, PositionalOptions } from 'yargs'
import type { Cli } from './cli.ts'

export const GROUPS = ['Run it', 'See what it does', 'Keep it in shape', 'Connect it'] as const

type Inferred<O> = { [K in keyof O]: O[K] extends Options | PositionalOptions ? InferredOptionType<O[K]> : never }

export interface Spec<P, O> {
  /** `inspect [session]` */
  usage: string
  group: (typeof GROUPS)[number]
  /** One line in the list of commands. */
  summary: string
  /** What somebody should know before using it. */
  about: string
  examples: readonly (readonly [command: string, what: string])[]
  positionals: P
  options: O
  /** The exit code. */
  run(args: Inferred<P> & Inferred<O>, cli: Cli): Promise<number>
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
  const { usage, group, summary, about, examples, positionals, options, run } = spec
  return {
    name: usage.split(' ', 1)[0] ?? usage,
    usage,
    group,
    summary,
    optionNames: Object.keys(options),
    add: (yargs, cli, ended) =>
      yargs.command(
        usage,
        // The list of commands is our own, in groups.
        false,
        (builder) => {
          builder.usage(`claude-mem ${usage}\n\n${about}`).options(options)
          for (const [name, positional] of Object.entries(positionals)) {
            // Without the number yargs takes `-` for an option that nobody wrote.
            builder.positional(name, positional).nargs(name, 1)
          }
          for (const [line, what] of examples) builder.example(line, what)
          return builder
        },
        // yargs parsed the arguments by this very spec; its types cannot follow a loop over positionals.
        async (args) => ended(await run(args as unknown as Inferred<P> & Inferred<O>, cli)),
      ),
  }
}

export const jsonOption = { type: 'boolean', describe: 'One line of JSON, for programs' } as const
