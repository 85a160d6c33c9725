/** What every command is given: where things are, and where its words go. */
import { dirname } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { dataDirectory, type Paths, pathsOf } from '../paths.ts'
import { isAscii, type Look, styleOf, wantsColour } from './style.ts'
import { clean, jsonLine } from './text.ts'

export interface Cli {
  readonly paths: Paths
  readonly env: NodeJS.ProcessEnv
  /** Where `daemon.js` lies. */
  readonly dist: string
  /** Somebody is looking and can answer. */
  readonly interactive: boolean
  look(): Look
  /** Height of the terminal; null when the output goes elsewhere. */
  rows(): number | null
  print(...lines: string[]): void
  printJson(value: unknown): void
  /** Written as it is, with no line end. */
  write(text: string): void
  /** For people beside the result: progress, hints, log lines. */
  tell(line: string): void
  /** A line on the terminal that the next one replaces; an empty one clears it. Nothing elsewhere. */
  progress(line: string): void
  /** A yes from somebody at the terminal. */
  confirm(question: string): Promise<boolean>
}

/** For a terminal that does not know its size. */
const USUAL_COLUMNS = 80
const USUAL_ROWS = 24

export function makeCli(mainUrl: string): Cli {
  const { stdin, stdout, stderr, env } = process
  const style = styleOf(wantsColour(stdout.isTTY === true, env))
  return {
    paths: pathsOf(dataDirectory()),
    env,
    dist: dirname(fileURLToPath(mainUrl)),
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    look: () => ({
      style,
      columns: stdout.isTTY === true ? stdout.columns || USUAL_COLUMNS : null,
      now: Date.now(),
      ascii: isAscii(env),
    }),
    rows: () => (stdout.isTTY === true ? stdout.rows || USUAL_ROWS : null),
    print: (...lines) => void stdout.write(`${lines.join('\n')}\n`),
    printJson: (value) => void stdout.write(`${jsonLine(value)}\n`),
    write: (text) => void stdout.write(text),
    tell: (line) => void stderr.write(`${line}\n`),
    progress: (line) => {
      if (stderr.isTTY === true) stderr.write(`\r\x1b[K${clean(line)}`)
    },
    confirm: async (question) => {
      const prompt = createInterface({ input: stdin, output: stderr })
      const answer = await prompt.question(`${question} [y/N] `).finally(() => prompt.close())
      return /^\s*y(es)?\s*$/i.test(answer)
    },
  }
}
