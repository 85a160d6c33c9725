/**
 * Calls that Windows does not have, or where they mean something else, with what is done there instead. Each file that uses
 * one is listed with its reason; `npm run lint` reports a use in any other file of `src/`, and a file that no longer uses
 * it. The table of docs/platforms.md has the same calls (test/docs/platforms.test.ts).
 */
export const PLATFORM_CALLS = [
  {
    name: 'chmod, chown',
    imported: /^[fl]?ch(?:mod|own)(?:Sync)?$/,
    pattern: /\.ch(?:mod|own)\(/,
    windows: 'access lists of the user profile protect the data directory; only the read-only bit could be set',
    files: {
      'src/daemon/daemon.ts': 'the data directory, not called on Windows',
      'src/transport/server.ts': 'the socket, not called on Windows: a named pipe has no mode',
      'src/setup/install/settings-file.ts': 'a replaced file keeps its mode and owner, not called on Windows',
      'src/context/files/edit-file.ts': 'a replaced file keeps its mode and owner, not called on Windows',
      'src/store/sqlite/original-database.ts': 'makes a copy writable: on Windows it clears the read-only bit',
      'src/store/recovery/database-files.ts': 'a database that others could read, not called on Windows',
      'src/transport/daemon-lock.ts': 'the lock file, not called on Windows',
      'src/setup/install/fast-hook.ts': 'the directory of a trial of the fast hook, which Windows does not have',
    },
  },
  {
    name: 'umask',
    pattern: /\bprocess\.umask\(/,
    windows: 'not called; new files inherit the access list of their directory',
    files: { 'src/daemon/daemon.ts': 'private files by default, not called on Windows' },
  },
  {
    name: 'getuid',
    imported: /^userInfo$/,
    pattern: /\b(?:get(?:e?uid|e?gid|groups)\b|set(?:e?uid|e?gid)\()/,
    windows: 'undefined; whatever compares owners is left out',
    files: {
      'src/hook/private-turn.ts': 'the owner of a directory for marks in /dev/shm; undefined on Windows: not compared',
      'src/lib/start-failure.ts': 'whose files keep a daemon from starting; undefined on Windows: not compared',
      'src/lib/own-directory.ts': 'the owner of the data directory and the socket; undefined on Windows: not compared',
      'src/hook/worker.ts': 'own files of the fast hook in /dev/shm, which Windows does not have',
      'src/lib/paths.ts': 'the owner of a socket directory in a shared /tmp; Windows has a named pipe instead',
      'src/setup/program/shell-command.ts': 'the login shell; Windows has none and is not asked',
      'src/setup/doctor/storage.ts': 'the owner of the data directory; undefined on Windows: not checked',
      'src/setup/install/settings-file.ts': 'root keeps the owner of a file; undefined on Windows: not called',
    },
  },
  {
    name: 'signals to other processes',
    pattern: /\bprocess\.kill\(|\.kill\('SIG|\bsignalGroup\(/,
    windows:
      'every signal ends the process at once; a process tree is ended with `taskkill /t /f`, a daemon by request',
    files: {
      'src/cli/daemon-process.ts':
        'ends a daemon that hangs; on Windows its process is not known for sure, so not called',
      'src/lib/exit.ts': 'ends this process at once, on Windows too',
      'src/lib/faults.ts': 'ends this process at once, on Windows too',
      'src/lib/temporary.ts': 'signal 0 asks whether a process runs, on Windows too',
      'src/cli/purge.ts': 'signal 0 asks whether a process runs, on Windows too',
      'src/search/embedders/models.ts': 'signal 0 asks whether a process runs, on Windows too',
      'src/lib/fetch-packages.ts': 'signal 0 asks whether a process runs, on Windows too',
      'src/setup/run-command.ts': 'a process group; taskkill on Windows',
      'src/observer/providers/claude-code/guard.ts': 'a process group; taskkill on Windows',
      'src/observer/providers/claude-code/run-guarded.ts': 'a process group; taskkill on Windows',
    },
  },
  {
    name: 'signal handlers',
    pattern: /'SIG(?:TERM|INT|HUP|USR1|USR2|QUIT|PIPE|CHLD|WINCH|CONT|TSTP)'/,
    windows:
      'Ctrl-C is SIGINT, closing the console is SIGHUP with ten seconds left, SIGTERM never arrives: nothing relies on it',
    files: {
      'src/cli/daemon-process.ts':
        'ends a daemon that hangs; on Windows its process is not known for sure, so not called',
      'src/daemon/daemon.ts': 'drains; on Windows the daemon is stopped by request (`claude-mem stop`)',
      'src/cli/cli.ts': 'cleans up; on Windows after Ctrl-C and a closed console',
      'src/cli/input.ts': 'Ctrl-C while a line is read, by readline on every system',
      'src/cli/backfill.ts': 'stops between sessions; on Windows after Ctrl-C',
      'src/cli/commands/daemon.ts': 'ends with its terminal; Windows sends it when the console is closed',
      'src/hook/run.ts': 'spools the event first; on Windows a killed hook may lose its event',
      'src/observer/providers/claude-code/guard.ts': 'ends with its parent; on Windows by the broken channel',
    },
  },
  {
    name: 'rename',
    imported: /^rename(?:Sync)?$/,
    windows: 'fails while another program has one of the files open: `moveFile` and `moveFileSync` try again',
    files: {
      'src/lib/files.ts': 'moveFile and moveFileSync',
      'src/hook/launch.ts': 'takes a lock away from others: whoever fails has lost it',
    },
  },
  {
    name: 'fsync',
    imported: /^f(?:data)?sync(?:Sync)?$/,
    windows: 'needs a file that is open for writing, and fails for a directory: `syncFile` and `syncDirectory` know',
    files: { 'src/lib/files.ts': 'syncFile and syncDirectory' },
  },
  {
    name: 'links',
    imported: /^(?:sym)?link(?:Sync)?$/,
    pattern: /\bmkfifo\b/,
    windows: 'symbolic links need a right that users do not have; junctions are made instead',
    files: {
      'src/hook/launch.ts': 'a hard link to a lock, which NTFS has; where it fails, another hook has the lock',
      'src/setup/program/place.ts': 'the current version of the program; on Windows a junction, which needs no right',
    },
  },
  {
    name: 'POSIX paths',
    pattern: /['"`]\/(?:tmp|dev|proc|etc|usr|var|bin)(?:\/|['"`])/,
    windows: 'not used: the directories of the system come from `node:os`',
    files: {
      'src/hook/shared-memory.ts':
        'files in memory; where the directory does not exist, as on Windows, that for temporary files is used',
      'src/lib/processes.ts': 'when a process started, read on Linux only; null on Windows',
      'src/lib/own-directory.ts': 'a home directory by the current process is refused; Windows has no such path',
      'src/lib/paths.ts': 'where the directory for temporary files has too long a path for a Unix socket',
      'src/setup/program/shell-command.ts': 'the PATH that a login shell begins with; Windows has none',
      'src/cli/browser.ts': 'snaps, which only Linux has',
      'src/cli/commands/client-programs.ts': 'the text of an example',
      'src/setup/doctor/hooks.ts': 'settings of the machine, beside those of Windows and macOS',
      'src/setup/install/command-line.ts': 'the shell of the fast hook, which Windows does not have',
      'src/setup/install/change.ts': 'the name of a missing file in a diff, as git writes it on every system',
    },
  },
  {
    name: 'socket addresses',
    pattern: /ws\+unix:|['"`]unix:/,
    windows: 'a path in an address breaks at `:`, `?` and `#`: sockets and pipes are opened with `net.connect(path)`',
    files: {},
  },
]

/** Lines without comments. */
function codeLines(text) {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/.*$/, '$1'))
}

/** Names that a file imports from modules of Node, with the line of the import. */
function importedNames(text) {
  return [...text.matchAll(/^import (?:\w+, )?\{([^}]*)\} from 'node:[^']+'/gm)].flatMap(({ 1: names, index }) => {
    const line = text.slice(0, index).split('\n').length
    return names.split(',').map((name) => ({ name: name.trim().split(' as ')[0], line }))
  })
}

/** The line of the first use; 0 if there is none. */
function lineOfUse({ imported, pattern }, text, lines) {
  const inImport = imported && importedNames(text).find(({ name }) => imported.test(name))?.line
  return inImport || (pattern === undefined ? 0 : lines.findIndex((line) => pattern.test(line)) + 1)
}

/** Broken rules of a source tree, as lines for people. `texts`: path in the repository to content. */
export function platformCallProblems(texts, calls = PLATFORM_CALLS) {
  const problems = []
  for (const [file, text] of texts) {
    const lines = codeLines(text)
    for (const call of calls) {
      const line = lineOfUse(call, text, lines)
      const isListed = Object.hasOwn(call.files, file)
      if (line > 0 && !isListed) {
        const todo = 'handle Windows, then add the file with its reason to scripts/platform-calls.mjs'
        problems.push(`${file}:${line}: ${call.name} (Windows: ${call.windows}); ${todo}`)
      }
      if (line === 0 && isListed) {
        problems.push(`${file}: no longer uses ${call.name}; remove it from scripts/platform-calls.mjs`)
      }
    }
  }
  return problems
}
