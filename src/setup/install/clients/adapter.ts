/** What the installer needs to know about a client. To add one, write a file beside this one and list it in index.ts. */
import { execFile } from 'node:child_process'
import { isProgram, programFiles } from '../../../lib/find-program.ts'
import type { EntryFormat, IsOurs, TrustedHook, WantedEntries } from '../entry-format.ts'

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
  /** Written into what a client runs: its environment may be that of a project, and must not move the memory. */
  dataDir: string
  /** The curl of the fast hook; missing: the hook's own process is registered. */
  curl?: string
  /** Where the files of the program are now, if what is registered is copied only later; missing: beside `hook`. */
  built?: string
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
  /** Hooks whose trust is written (`InstallAdapter.hashes`). */
  trust?: readonly TrustedHook[]
  /** The names of our entries that are already registered. */
  registered: readonly string[]
}

export interface Registration extends WantedEntries {
  /** Events that this version of the client does not support. */
  leftOut: readonly string[]
  /** All command lines that are written; our entries are recognised by them later. */
  commands: readonly string[]
}

export interface InstalledText {
  text: string
  /** By this installation. */
  changed: boolean
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
  /**
   * For a client that runs a hook only after its user has trusted it: the hashes of our installed hooks, which `--trust-hooks`
   * writes for the user, and the events that are not trusted by what the files say, and by those hashes where they are known.
   * Absent: there is no such trust.
   */
  trust?: {
    hashes(where: InstallTarget, client: InstalledClient, command: string): Promise<TrustedHook[]>
    missing(where: InstallTarget, isOurs: IsOurs, current?: readonly TrustedHook[]): string[]
  }
  /** What the user should know. `files`: after installing; `isOurs`: whether a hook's command line is the one that was written. */
  notes(where: InstallTarget, files: readonly InstalledText[], isOurs: IsOurs): string[]
}

/** Starting a client to ask for its version takes seconds on a slow disk. */
const VERSION_TIMEOUT_MS = 15_000

/** What `--version` prints; null if it prints no version. */
export function reportedVersion(path: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  // Node can run a .cmd file only through the shell.
  const shell = /\.(?:cmd|bat)$/i.test(path)
  return new Promise((resolve) => {
    const child = execFile(
      shell ? `"${path}"` : path,
      ['--version'],
      { env, shell, timeout: VERSION_TIMEOUT_MS, windowsHide: true },
      (error, stdout) =>
        resolve(error === null ? (/(?<!\d)\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\w.]+)?/.exec(stdout)?.[0] ?? null) : null),
    )
    child.stdin?.end()
  })
}

/** The first program of this name on the PATH that reports a version; null if there is none. */
export async function findClientProgram(name: string, env: NodeJS.ProcessEnv): Promise<InstalledClient | null> {
  for (const path of programFiles(name, env, process.platform)) {
    if (!(await isProgram(path))) continue
    const version = await reportedVersion(path, env)
    if (version !== null) return { path, version }
  }
  return null
}
