/** What the installer has to know about a client. A further one is a file beside this and a line in the index. */
import type { FormatName } from '../formats.ts'
import type { IsOurs } from '../hook-lists.ts'

export type Scope = 'user' | 'project'

/** Where an installation is for. */
export interface Where {
  scope: Scope
  env: NodeJS.ProcessEnv
  home: string
  /** Top of the project's working tree. */
  root: string
}

/** Where our own program lies. */
export interface Program {
  node: string
  /** `hook.cjs` */
  hook: string
  /** `cli.js` */
  cli: string
}

export interface ClientFile {
  path: string
  format: FormatName
}

/** The client as it was found here; its version is null where it does not say. */
export interface Client {
  path: string
  version: string | null
}

export interface Circumstances {
  /** Null when no client was found, or when it does not say. */
  version: string | null
  /** The user wants what is known about a file before it is read. */
  fileContext: boolean
  /** The entries of ours that are there already. */
  registered: readonly string[]
}

export interface Registration {
  events: readonly string[]
  /** What this client does not know. */
  leftOut: readonly string[]
  /** The command line of the hook. */
  command: string
  /** Every command line that is written, by which our entries are recognised later. */
  commands: readonly string[]
  merge(format: FormatName, text: string, isOurs: IsOurs, file: string): string
}

export interface Adapter {
  /** As in `--client`, and for people. */
  name: string
  title: string
  /** In the order in which they are changed. */
  files(where: Where): readonly ClientFile[]
  find(where: Where): Promise<Client | null>
  registration(program: Program, circumstances: Circumstances): Registration
  /** What somebody should know about these files, as they are after installing. */
  notes(where: Where, texts: readonly string[]): string[]
}
