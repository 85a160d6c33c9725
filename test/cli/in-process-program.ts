/** Runs commands in the test's process on a real data directory, and captures their output. */

import type { Cli } from '../../src/cli/cli.ts'
import type { CliCommand } from '../../src/cli/command.ts'
import { exitCodeFor, failureMessage, parse } from '../../src/cli/parse.ts'
import { createStyle } from '../../src/cli/style.ts'
import { jsonLine } from '../../src/cli/text.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { DIST } from '../support/paths.ts'
import type { ProgramResult } from './program.ts'

interface RunOptions {
  env?: NodeJS.ProcessEnv
  /** The answer to a confirmation; undefined: there is no terminal. */
  answer?: boolean
  now?: number
}

export class InProcessProgram {
  readonly #commands: readonly CliCommand[]
  readonly #paths: Paths

  constructor(dataDir: string, commands: readonly CliCommand[]) {
    this.#commands = commands
    this.#paths = dataPaths(dataDir)
  }

  async run(args: readonly string[], { env = process.env, answer, now }: RunOptions = {}): Promise<ProgramResult> {
    let stdout = ''
    let stderr = ''
    const cli: Cli = {
      paths: this.#paths,
      env,
      dist: DIST,
      interactive: answer !== undefined,
      json: false,
      display: () => ({ style: createStyle(false), columns: null, now: now ?? Date.now() }),
      rows: () => null,
      print: (...lines) => {
        stdout += `${lines.join('\n')}\n`
      },
      printJson: (value) => {
        stdout += `${jsonLine(value)}\n`
      },
      write: (text) => {
        stdout += text
      },
      printStderr: (line) => {
        stderr += `${line}\n`
      },
      progress: () => undefined,
      confirm: async () => answer === true,
    }
    try {
      return { code: await parse(args, this.#commands, cli), stdout, stderr }
    } catch (error) {
      return { code: exitCodeFor(error), stdout, stderr: stderr + failureMessage(error, env) }
    }
  }

  async json(...args: string[]) {
    const { code, stdout, stderr } = await this.run([...args, '--json'])
    if (code !== 0) throw new Error(`claude-mem ${args.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }
}
