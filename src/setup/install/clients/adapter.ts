/** What the installer needs to know about a client. To add one, write a file beside this one and list it in index.ts. */
import type { EntryFormat, WantedEntries } from '../entries.ts'

export type InstallScope = 'user' | 'project'

/** Where to install: for the user or for one project. */
export interface InstallTarget {
  scope: InstallScope
  env: NodeJS.ProcessEnv
  home: string
  /** Root of the project's working tree. */
  root: string
}

/** The files of this program that a client runs. */
export interface ProgramPaths {
  node: string
  /** `hook.cjs` */
  hook: string
  /** `cli.js` */
  cli: string
  /** The curl of the fast hook; missing: the hook's own process is registered. */
  curl?: string
}

export interface ClientFile {
  path: string
  format: EntryFormat
}

/** The client found on this machine; version null if it does not report one. */
export interface InstalledClient {
  path: string
  version: string | null
}

export interface RegistrationOptions {
  /** Null if no client was found, or it does not report one. */
  version: string | null
  /** CLAUDE_MEM_FILE_CONTEXT: register the hook that runs before a file is read. */
  fileContext: boolean
  /** The names of our entries that are already registered. */
  registered: readonly string[]
}

export interface Registration extends WantedEntries {
  /** Events that this version of the client does not support. */
  leftOut: readonly string[]
  /** All command lines that are written; our entries are recognised by them later. */
  commands: readonly string[]
}

/** For an installation in a project. */
export const PROJECT_NOTE =
  'These files contain paths of this machine. They do not work for other people who get them with the project.'

export interface InstallAdapter {
  /** As in `--client`. */
  name: string
  /** For messages. */
  title: string
  /** In the order in which they are changed. */
  files(where: InstallTarget): readonly ClientFile[]
  find(where: InstallTarget): Promise<InstalledClient | null>
  registration(program: ProgramPaths, circumstances: RegistrationOptions): Registration
  /** What the user should know. `texts`: the content of the files after installing. */
  notes(where: InstallTarget, texts: readonly string[]): string[]
}
