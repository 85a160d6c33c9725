/** What a command works with: data paths, standard streams, terminal and Ctrl-C. Tests replace it with a fake. */
import { dirname } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { dataDirectory, dataPaths, type Paths } from '../lib/paths.ts'
import { createStyle, type Display, isAsciiTerminal, shouldUseColour } from './style.ts'
import { jsonLine, terminalSafe } from './text.ts'

export interface Cli {
  readonly paths: Paths
  readonly env: NodeJS.ProcessEnv
  /** The directory of the built program (`daemon.js`, `hook.cjs`). */
  readonly dist: string
  /** Standard input and standard error are terminals, so that questions can be asked. */
  readonly interactive: boolean
  /** `--json`: results are printed as one line of JSON. */
  readonly json: boolean
  display(): Display
  /** Height of the terminal; null when the output is not a terminal. */
  rows(): number | null
  print(...lines: string[]): void
  printJson(value: unknown): void
  /** Writes text unchanged, without a line end. */
  write(text: string): void
  /** For hints and warnings that are not part of the result. */
  printStderr(line: string): void
  /** Replaces the progress line on the terminal; an empty line clears it. Does nothing without a terminal. */
  progress(line: string): void
  /** Asks a yes/no question on the terminal; anything but "y" or "yes" is no. */
  confirm(question: string): Promise<boolean>
}

/** For a terminal that does not report its size. */
const DEFAULT_COLUMNS = 80
const DEFAULT_ROWS = 24

export function createCli(mainUrl: string, dataDir: string = dataDirectory()): Cli {
  const { stdin, stdout, stderr, env } = process
  const style = createStyle(shouldUseColour(stdout.isTTY === true, env))
  let lastProgress = ''
  return {
    paths: dataPaths(dataDir),
    env,
    dist: dirname(fileURLToPath(mainUrl)),
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    json: false,
    display: () => ({
      style,
      columns: stdout.isTTY === true ? stdout.columns || DEFAULT_COLUMNS : null,
      now: Date.now(),
      ascii: isAsciiTerminal(env),
    }),
    rows: () => (stdout.isTTY === true ? stdout.rows || DEFAULT_ROWS : null),
    print: (...lines) => void stdout.write(`${lines.join('\n')}\n`),
    printJson: (value) => void stdout.write(`${jsonLine(value)}\n`),
    write: (text) => void stdout.write(text),
    printStderr: (line) => void stderr.write(`${line}\n`),
    progress: (line) => {
      if (stderr.isTTY !== true || line === lastProgress) return
      lastProgress = line
      stderr.write(`\r\x1b[K${terminalSafe(line)}`)
    },
    confirm: async (question) => {
      const prompt = createInterface({ input: stdin, output: stderr })
      const answer = await prompt.question(`${question} [y/N] `).finally(() => prompt.close())
      return /^\s*y(es)?\s*$/i.test(answer)
    },
  }
}

/** Prints the result of a command: `value` with `--json`, else the lines. */
export function printResult(cli: Cli, value: unknown, lines: () => string | readonly string[]): void {
  if (cli.json) cli.printJson(value)
  else cli.print(...[lines()].flat())
}

/**
 * Asks before a change. Without a terminal the answer is no, and `--yes` is required. `unchanged`: "Nothing was
 * merged"; `reason`: why a confirmation is needed.
 */
export async function confirmChange(
  cli: Cli,
  question: string,
  unchanged: string,
  { reason, canAsk = cli.interactive }: { reason?: string; canAsk?: boolean } = {},
): Promise<boolean> {
  if (!canAsk) {
    cli.printStderr(`${unchanged}: ${reason === undefined ? '' : `${reason}; `}pass --yes to confirm`)
    return false
  }
  const yes = await cli.confirm(question)
  if (!yes) cli.printStderr(unchanged)
  return yes
}

const INTERRUPT_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs work that must clean up when the user presses Ctrl-C or closes the terminal. */
export async function withInterruptSignal<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort(new Error('interrupted'))
  for (const signal of INTERRUPT_SIGNALS) process.on(signal, abort)
  try {
    return await run(controller.signal)
  } finally {
    for (const signal of INTERRUPT_SIGNALS) process.off(signal, abort)
  }
}

/** Aborted by the first Ctrl-C, for commands that run until then. A second Ctrl-C kills the process. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())
  return controller.signal
}
