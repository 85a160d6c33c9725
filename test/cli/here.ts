/** Commands run in the test's own process, against a real data directory: what they print is kept. */
import type { Cli } from '../../src/cli/cli.ts'
import type { Command } from '../../src/cli/command.ts'
import { exitCodeOf, failureText } from '../../src/cli/failure.ts'
import { parse } from '../../src/cli/parse.ts'
import { styleOf } from '../../src/cli/style.ts'
import { jsonLine } from '../../src/cli/text.ts'
import { type Paths, pathsOf } from '../../src/paths.ts'
import { DIST } from '../daemon-process.ts'
import type { Ran } from './program.ts'

interface Situation {
  env?: NodeJS.ProcessEnv
  /** What is said when it asks; without it nobody is there to be asked. */
  answer?: boolean
  now?: number
}

export class Here {
  readonly #commands: readonly Command[]
  readonly #paths: Paths

  constructor(dataDir: string, commands: readonly Command[]) {
    this.#commands = commands
    this.#paths = pathsOf(dataDir)
  }

  async run(args: readonly string[], { env = process.env, answer, now }: Situation = {}): Promise<Ran> {
    let stdout = ''
    let stderr = ''
    const cli: Cli = {
      paths: this.#paths,
      env,
      dist: DIST,
      interactive: answer !== undefined,
      look: () => ({ style: styleOf(false), columns: null, now: now ?? Date.now() }),
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
      tell: (line) => {
        stderr += `${line}\n`
      },
      progress: () => undefined,
      confirm: async () => answer === true,
    }
    try {
      return { code: await parse(args, this.#commands, cli), stdout, stderr }
    } catch (error) {
      return { code: exitCodeOf(error), stdout, stderr: stderr + failureText(error, env) }
    }
  }

  async json(...args: string[]) {
    const { code, stdout, stderr } = await this.run([...args, '--json'])
    if (code !== 0) throw new Error(`claude-mem ${args.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }
}
