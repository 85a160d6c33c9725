/** The words the offline observer's rules share. */
import type { FunctionChange } from '../../memory/observation.ts'

/** One hunk of a patch, as Claude Code's `structuredPatch` gives it. Lines begin with a blank, + or -. */
export interface Hunk {
  oldStart: number
  newStart: number
  lines: string[]
}

/** What a file was before and is now, as far as the tool said so. */
export interface FileEdit {
  file: string
  /** Null: the file is new. Undefined: nobody said. */
  before: string | null | undefined
  /** Null: the file is gone. Undefined: nobody said. */
  after: string | null | undefined
  hunks: Hunk[]
}

/** A value that got another one: `timeout: 30 -> 60`. */
export interface ValueChange {
  name: string
  from: string | null
  to: string | null
}

/** What an edit did to a file, in the words of its language. */
export interface CodeChange {
  file: string
  /** `typescript`, `python`, …; null where the file's kind is not known. */
  language: string | null
  kind: 'created' | 'edited' | 'deleted'
  /** Functions, methods, classes, types, tables, targets, headings: whatever the language names its parts. */
  symbols: FunctionChange[]
  /** Pairs that were one symbol before and are another now. */
  renamed: { from: string; to: string }[]
  /** Constants, settings, options, columns, dependencies with a value that changed, came or went. */
  values: ValueChange[]
  /** Modules and packages that came or went. */
  imports: { added: string[]; removed: string[] }
  /** Routes, exports, environment variables, flags and the like that came with this change, one short sentence each. */
  notable: string[]
  linesAdded: number
  linesRemoved: number
}

export const COMMAND_KINDS = [
  'test',
  'build',
  'lint',
  'typecheck',
  'install',
  'migration',
  'server',
  'commit',
  'git',
  'run',
  'look',
] as const
/** `look` is for commands that only show something: ls, cat, git status. */
export type CommandKind = (typeof COMMAND_KINDS)[number]

/** What a shell command did. */
export interface CommandResult {
  kind: CommandKind
  /** One line, without `cd … &&`, redirections and pipes to head or tail. */
  command: string
  /** The same for two runs of the same thing, whatever flags of output they have: `pytest tests/test_cart.py`. */
  key: string
  ok: boolean
  exitCode: number | null
  /** `12 passed, 1 failed in 3.4 s`; null where the output says nothing worth a line. */
  headline: string | null
  /** The lines that say what went wrong, cleaned and short, most telling first: message, then place. */
  errors: string[]
  /** Atomic sentences that stand by themselves: versions installed, ports, commit hash and message, migrations applied. */
  facts: string[]
  /** Files that the output names as the place of an error. */
  files: string[]
  /** A commit's whole message, as the command line gives it; null for anything else. */
  message?: string | null
}
