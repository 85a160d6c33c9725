/**
 * The environment of a daemon that a hook or a command starts on the side. One daemon serves all projects, but the
 * environment of a hook may come from one of them (`.env`, direnv, `env` in Claude Code's settings): a base URL in it would
 * get the stored key and the prompts of the other projects. So only what describes the user and the machine is passed on, and
 * none of it that leads into the project: a `claude` on such a PATH would get the words of all other projects.
 * CLAUDE_MEM_*, keys and addresses of other programs, proxies, NODE_OPTIONS and certificate authorities are not passed on. `claude-mem
 * start` and `restart`, which a person types, keep their environment. The hook bundles this file, so it may not import a package.
 */
import { delimiter, resolve } from 'node:path'
import { isOfProject } from './own-directory.ts'

/** In upper case: Windows ignores case. */
const PASSED_ON: ReadonlySet<string> = new Set([
  // The user and the place of their files; TMPDIR is also where the socket of a long data directory is.
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TEMP', 'TMP'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  // To find the `claude` program.
  ...['PATH', 'PATHEXT'],
  ...['LANG', 'LANGUAGE', 'TZ'],
  // Windows programs do not start without some of these.
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'OS', 'NUMBER_OF_PROCESSORS', 'PROCESSOR_ARCHITECTURE'],
  ...['USERPROFILE', 'USERNAME', 'USERDOMAIN', 'COMPUTERNAME', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA'],
  ...['PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'PROGRAMW6432', 'COMMONPROGRAMFILES', 'ALLUSERSPROFILE'],
])
const LOCALE_PREFIX = 'LC_'
/** Hooks look for the socket of a long data directory where their daemon does. */
const SOCKET_PLACES: ReadonlySet<string> = new Set(['TMPDIR', 'TEMP', 'TMP'])

interface DaemonEnvironmentOptions {
  /** Absolute: the daemon runs in another directory. */
  dataDir: string
  /** CLAUDE_MEM_CA_CERTS of the settings file; empty: none. */
  caCerts: string
  /** The working tree in which this program runs. */
  project: string
}

export function daemonEnvironment(
  env: NodeJS.ProcessEnv,
  { dataDir, caCerts, project }: DaemonEnvironmentOptions,
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).flatMap(([name, value = '']): [string, string][] => {
    const upper = name.toUpperCase()
    if (!PASSED_ON.has(upper) && !upper.startsWith(LOCALE_PREFIX)) return []
    const passedOn = SOCKET_PLACES.has(upper) ? value : withoutProject(value, project)
    return passedOn === '' && value !== '' ? [] : [[name, passedOn]]
  })
  return {
    ...Object.fromEntries(kept),
    CLAUDE_MEM_DATA_DIR: dataDir,
    // Node reads it only when it starts.
    ...(caCerts === '' ? {} : { NODE_EXTRA_CA_CERTS: caCerts }),
  }
}

/** A path or a list of paths, without those of the project. */
function withoutProject(value: string, project: string): string {
  const isPath = (part: string) => /^\.{0,2}[\\/]|^\.{1,2}$|^[A-Za-z]:[\\/]/.test(part)
  return value
    .split(delimiter)
    .filter((part) => !isPath(part) || !isOfProject(resolve(part), project))
    .join(delimiter)
}
