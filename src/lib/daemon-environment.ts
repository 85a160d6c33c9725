/**
 * The environment of a daemon that a hook or a command starts on the side. One daemon serves all projects, but the
 * environment of a hook may come from one of them (`.env`, direnv, `env` in Claude Code's settings): a base URL in it would
 * get the stored key and the prompts of the other projects. So only what describes the user and the machine is passed on;
 * CLAUDE_MEM_*, keys and addresses of other programs, proxies, NODE_OPTIONS and certificate authorities are not. `claude-mem
 * start` and `restart`, which a person types, keep their environment. The hook bundles this file, so it may not import a package.
 */

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

interface DaemonEnvironmentOptions {
  /** Absolute: the daemon runs in another directory. */
  dataDir: string
  /** CLAUDE_MEM_CA_CERTS of the settings file; empty: none. */
  caCerts: string
}

export function daemonEnvironment(
  env: NodeJS.ProcessEnv,
  { dataDir, caCerts }: DaemonEnvironmentOptions,
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => {
    const upper = name.toUpperCase()
    return PASSED_ON.has(upper) || upper.startsWith(LOCALE_PREFIX)
  })
  return {
    ...Object.fromEntries(kept),
    CLAUDE_MEM_DATA_DIR: dataDir,
    // Node reads it only when it starts.
    ...(caCerts === '' ? {} : { NODE_EXTRA_CA_CERTS: caCerts }),
  }
}
