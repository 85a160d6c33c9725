/** What is read from a tool event: the change of a file, the result of a command. */
import type { FunctionChange } from '../../domain/observation.ts'

/** One hunk of a patch, as Claude Code's `structuredPatch` gives it. Lines begin with a blank, + or -. */
export interface Hunk {
  oldStart: number
  newStart: number
  lines: string[]
}

/** A file before and after an edit, as far as the tool reported it. */
export interface FileEdit {
  file: string
  /** Null: the file is new. Undefined: not reported. */
  before: string | null | undefined
  /** Null: the file was deleted. Undefined: not reported. */
  after: string | null | undefined
  hunks: Hunk[]
}

/** A value before and after: `timeout: 30 -> 60`. Null: it was not there. */
export interface ValueChange {
  name: string
  from: string | null
  to: string | null
}

/** What an edit did to a file, in terms of its language. */
export interface CodeChange {
  file: string
  /** `typescript`, `python`, …; null for an unknown kind of file. */
  language: string | null
  kind: 'created' | 'edited' | 'deleted'
  /** The named parts of the language: functions, methods, classes, types, tables, targets, headings. */
  symbols: FunctionChange[]
  /** Symbols with another name than before. */
  renamed: { from: string; to: string }[]
  /** Constants, settings, options, columns and dependencies with a value that changed, was added or was removed. */
  values: ValueChange[]
  /** Modules and packages. */
  imports: { added: string[]; removed: string[] }
  /** Routes, exports, environment variables, flags and the like, one short sentence each. */
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
/** `look`: the command only shows something, like ls, cat, git status. */
export type CommandKind = (typeof COMMAND_KINDS)[number]

/** What a shell command did. */
export interface CommandResult {
  kind: CommandKind
  /** One line, without `cd … &&`, redirections and pipes to head or tail. */
  command: string
  /** The same for two runs of the same command, whatever flags for its output they have: `pytest tests/test_cart.py`. */
  key: string
  ok: boolean
  exitCode: number | null
  /** `12 passed, 1 failed in 3.4 s`; null where the output has no result worth a line. */
  headline: string | null
  /** Short, most informative first: message, then location. */
  errors: string[]
  /** Sentences that are understood alone: versions installed, ports, commit hash and message, migrations applied. */
  facts: string[]
  /** Of a commit: its whole message, from the command line. */
  message?: string | null
  /** Of a commit: it replaces the one before. */
  amends?: boolean
  /** Of a commit: the paths that the same command line added; null if it names none, or everything. */
  staged?: string[] | null
}
