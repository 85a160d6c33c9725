/**
 * The command `claude-mem` of a person's shells: a small script in `~/.local/bin` that runs the installed program, so that the
 * clone it was installed from can be deleted. Only a file that is exactly what we write is ever replaced or removed.
 */
import { lstatSync, mkdirSync, rmdirSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { parseJsonObject } from '../../hook/payload.ts'
import { errorMessage, systemCode } from '../../lib/errors.ts'
import { moveFileSync, readRegularFileSync, readTextFile } from '../../lib/files.ts'
import { findProgram } from '../../lib/find-program.ts'
import { commandRecord } from '../../lib/installed-program.ts'
import { COMMAND_NAME as COMMAND } from '../../lib/names.ts'
import { dataDirectory, type Paths } from '../../lib/paths.ts'
import { missingDirectories } from '../install/change.ts'
import { runCommand } from '../run-command.ts'

/** What the command runs, and for whom. */
export interface CommandSurroundings {
  paths: Paths
  env: NodeJS.ProcessEnv
  home: string
  node: string
  /** The program's command line, `cli.js`. */
  cli: string
}

/**
 * `placed`: our file is there, `at` is whether a new shell runs it. `taken`: a file of somebody else is in its place.
 * `failed`: it cannot be written.
 */
export type CommandState =
  | { type: 'placed'; file: string; at: ShellAnswer }
  | { type: 'taken'; file: string }
  | { type: 'failed'; file: string; why: string }

/** What a fresh login shell runs by the name of our command. */
export type ShellAnswer =
  | { type: 'ours' }
  | { type: 'nothing' }
  /** An alias, or the path of another program. */
  | { type: 'other'; what: string }
  /** The shell could not be asked. */
  | { type: 'unknown'; why: string }

const recordSchema = z.object({ file: z.string(), madeDirectories: z.array(z.string()), call: z.string() })

function readRecord(paths: Paths): z.infer<typeof recordSchema> | null {
  return recordSchema.safeParse(parseJsonObject(readTextFile(commandRecord(paths)) ?? '')).data ?? null
}

export function commandFile(home: string, platform: NodeJS.Platform = process.platform): string {
  return join(home, '.local', 'bin', platform === 'win32' ? `${COMMAND}.cmd` : COMMAND)
}

const MARK = 'Written by "claude-mem install"; "claude-mem uninstall" removes it.'

/** The whole file. A node that has moved is looked for on the PATH. */
export function commandText(
  { paths, node, cli }: Pick<CommandSurroundings, 'paths' | 'node' | 'cli'>,
  platform: NodeJS.Platform = process.platform,
): string {
  const isDefault = paths.dataDir === dataDirectory({})
  if (platform === 'win32') {
    const set = isDefault ? '' : `if not defined CLAUDE_MEM_DATA_DIR set "CLAUDE_MEM_DATA_DIR=${paths.dataDir}"\r\n`
    return `@echo off\r\nrem ${MARK}\r\n${set}"${node}" "${cli}" %*\r\n`
  }
  const set = isDefault
    ? ''
    : `[ -n "$CLAUDE_MEM_DATA_DIR" ] || CLAUDE_MEM_DATA_DIR=${quoted(paths.dataDir)}\nexport CLAUDE_MEM_DATA_DIR\n`
  return (
    `#!/bin/sh\n# ${MARK}\n${set}node=${quoted(node)}\n[ -x "$node" ] || node=node\n` +
    `exec "$node" ${quoted(cli)} "$@"\n`
  )
}

const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`

function entryAt(file: string): Stats | undefined {
  try {
    return lstatSync(file)
  } catch {
    // Nothing there, or a directory above it cannot be read or is a file: writing it says why.
    return undefined
  }
}

/** Whether the file is exactly what we would write for this program, with whatever node. */
function isOurs(file: string, around: CommandSurroundings): boolean {
  if (entryAt(file)?.isFile() !== true) return false
  const text = readTextFile(file) ?? ''
  const node = /^node='(.*)'$/m.exec(text)?.[1]?.replaceAll("'\\''", "'") ?? /^"([^"\r\n]+)" "/m.exec(text)?.[1]
  return node !== undefined && text === commandText({ ...around, node })
}

/** Writes the file, unless one of somebody else is there, and asks a new shell whether it finds it. */
export async function placeCommand(around: CommandSurroundings, dryRun: boolean): Promise<CommandState> {
  const file = commandFile(around.home)
  const { paths, node, cli } = around
  const found = entryAt(file)
  if (found !== undefined && !isOurs(file, around)) {
    if (!dryRun) writeRecord(paths, { file, madeDirectories: [], call: longCall(node, cli) })
    return { type: 'taken', file }
  }
  if (dryRun) return { type: 'placed', file, at: await askShell(around, true) }
  const made = found === undefined ? missingDirectories(file) : (readRecord(paths)?.madeDirectories ?? [])
  try {
    // With the directories, before anything is made: uninstall has to know them also after a crash.
    writeRecord(paths, { file, madeDirectories: made, call: longCall(node, cli) })
    mkdirSync(dirname(file), { recursive: true })
    const partial = `${file}.${process.pid}`
    writeFileSync(partial, commandText(around), { mode: 0o755, flag: 'wx' })
    moveFileSync(partial, file)
  } catch (error) {
    return { type: 'failed', file, why: errorMessage(error) }
  }
  const at = await askShell(around)
  const call = at.type === 'ours' ? COMMAND : shortPath(file, around.home)
  writeRecord(paths, { file, madeDirectories: made, call })
  return { type: 'placed', file, at }
}

/** What is there now, for the doctor. Null: `install` has not made a command here. */
export async function findCommand(around: CommandSurroundings): Promise<CommandState | null> {
  const record = readRecord(around.paths)
  if (record === null) return null
  const { file } = record
  if (entryAt(file) === undefined) return { type: 'failed', file, why: 'it is missing' }
  if (!isOurs(file, around)) return { type: 'taken', file }
  return { type: 'placed', file, at: await askShell(around) }
}

/** Removes the file if it is ours, and the directories that were made for it. Resolves with the file; null: nothing was there. */
export function removeCommand(around: CommandSurroundings, dryRun: boolean): string | null {
  const record = readRecord(around.paths)
  const file = record?.file ?? commandFile(around.home)
  const removed = isOurs(file, around) ? file : null
  if (dryRun) return removed
  if (removed !== null) rmSync(removed)
  for (const directory of record?.madeDirectories ?? []) {
    try {
      rmdirSync(directory)
    } catch {
      // Something else is in it by now.
    }
  }
  rmSync(commandRecord(around.paths), { force: true })
  return removed
}

function writeRecord(paths: Paths, record: z.infer<typeof recordSchema>): void {
  const file = commandRecord(paths)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.tmp`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
  moveFileSync(`${file}.tmp`, file)
}

/** Works in every shell and without any file of ours in a directory of the PATH. */
export function longCall(node: string, cli: string): string {
  const words = process.platform === 'win32' ? [`"${node}"`, `"${cli}"`] : [node, cli].map(shellWord)
  return words.join(' ')
}

function shellWord(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : quoted(path)
}

/** With `~` where a shell knows it. */
function shortPath(file: string, home: string): string {
  if (process.platform === 'win32') return `"${file}"`
  return `~${file.slice(home.length)}`
}

/** A login shell begins with this where its own files set no PATH. */
const FIRST_PATH = '/usr/local/bin:/usr/bin:/bin'
const ANSWER = 'claude-mem-command:'
/** A person's own start files run in it. */
const SHELL_TIMEOUT_MS = 10_000

/** What a fresh login shell of this user runs by our name. `planned`: the file is not there yet; only its directory is looked for. */
async function askShell(around: CommandSurroundings, planned = false): Promise<ShellAnswer> {
  const { home, env } = around
  const file = commandFile(home)
  if (process.platform === 'win32') {
    const found = await findProgram(COMMAND, env)
    if (found === null) return { type: 'nothing' }
    return found.toLowerCase() === file.toLowerCase() ? { type: 'ours' } : { type: 'other', what: found }
  }
  const shell = loginShell(env)
  const name = basename(shell)
  if (!/^(?:bash|zsh|fish|dash|ash|ksh|mksh|sh)$/.test(name))
    return { type: 'unknown', why: `${shell} is not a shell that we know` }
  const script =
    name === 'fish'
      ? `if functions -q ${COMMAND}; printf '\\n${ANSWER}%s\\n' alias; else; printf '\\n${ANSWER}%s\\n' (command -s ${COMMAND}); end; printf '\\n${ANSWER}%s\\n' $PATH`
      : `printf '\\n${ANSWER}%s\\n' "$(command -v ${COMMAND})"; printf '\\n${ANSWER}%s\\n' "$PATH"`
  const kept = ['USER', 'LOGNAME', 'LANG', 'TERM', 'ZDOTDIR', 'XDG_CONFIG_HOME']
  const own = Object.fromEntries(kept.flatMap((key) => (env[key] === undefined ? [] : [[key, env[key]]])))
  const fresh = { ...own, HOME: home, SHELL: shell, PATH: FIRST_PATH }
  const { code, stdout } = await runCommand(shell, ['-l', '-i', '-c', script], '', fresh, SHELL_TIMEOUT_MS)
  const answers = stdout
    .split('\n')
    .flatMap((line) => (line.startsWith(ANSWER) ? [line.slice(ANSWER.length).trim()] : []))
  const [what = '', ...path] = answers
  if (code === null || answers.length === 0) return { type: 'unknown', why: `${shell} -l did not answer` }
  if (what === '') {
    const directories = path.flatMap((part) => part.split(':'))
    return planned && directories.includes(dirname(file)) ? { type: 'ours' } : { type: 'nothing' }
  }
  return isSameFile(what, file) ? { type: 'ours' } : { type: 'other', what }
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}

export function loginShell(env: NodeJS.ProcessEnv): string {
  if (env.SHELL) return env.SHELL
  try {
    return userInfo().shell ?? '/bin/sh'
  } catch {
    // A user without an entry in the list of users, as in many containers.
    return '/bin/sh'
  }
}

/** The line that puts the directory on the PATH, and the file that it belongs into. */
export function pathLine(
  { env, home }: Pick<CommandSurroundings, 'env' | 'home'>,
  platform: NodeJS.Platform = process.platform,
): { line: string; file: string } {
  if (platform === 'win32') {
    const user = "[Environment]::GetEnvironmentVariable('Path', 'User')"
    const line = `[Environment]::SetEnvironmentVariable('Path', "$env:USERPROFILE\\.local\\bin;" + ${user}, 'User')`
    return { line, file: 'a PowerShell, once' }
  }
  const at = (name: string) => join(home, name)
  const exported = 'export PATH="$HOME/.local/bin:$PATH"'
  switch (basename(loginShell(env))) {
    case 'fish':
      return {
        line: 'fish_add_path ~/.local/bin',
        file: join(env.XDG_CONFIG_HOME ?? at('.config'), 'fish', 'config.fish'),
      }
    case 'zsh':
      return { line: exported, file: join(env.ZDOTDIR ?? home, '.zprofile') }
    case 'csh':
    case 'tcsh':
      return { line: 'set path = (~/.local/bin $path)', file: at('.login') }
    case 'bash': {
      // The first one that exists is the only one that it reads.
      const names = ['.bash_profile', '.bash_login', '.profile']
      return { line: exported, file: at(names.find((name) => isReadable(at(name))) ?? '.profile') }
    }
    default:
      return { line: exported, file: at('.profile') }
  }
}

function isReadable(file: string): boolean {
  try {
    readRegularFileSync(file)
    return true
  } catch (error) {
    return systemCode(error) !== 'ENOENT'
  }
}

/** What is not as it should be, and what to do; null: a new shell runs our command. */
export function commandProblem(
  state: CommandState,
  around: CommandSurroundings,
): { detail: string; fix: string } | null {
  const { file } = state
  const long = longCall(around.node, around.cli)
  if (state.type === 'taken') {
    const detail = `${file} is not ours and was left alone, so ${COMMAND} is another program`
    return { detail, fix: `move it away and run ${long} install again; or use: ${long}` }
  }
  if (state.type === 'failed') {
    const detail = `${file} cannot be used (${state.why}), so there is no command ${COMMAND}`
    return { detail, fix: `make ${dirname(file)} writable and run ${long} install again; or use: ${long}` }
  }
  const short = shortPath(file, around.home)
  const { line, file: profile } = pathLine(around)
  switch (state.at.type) {
    case 'ours':
      return null
    case 'nothing':
      return {
        detail: `${dirname(file)} is not on the PATH of a new shell, which does not find the command ${COMMAND}`,
        fix: `add this line to ${profile}: ${line}   Until then use: ${short}`,
      }
    case 'other':
      return {
        detail: `in a new shell ${COMMAND} is ${state.at.what}, which is not this program`,
        fix: `rename or remove that; or use: ${short}`,
      }
    case 'unknown':
      return {
        detail: `whether a new shell finds ${COMMAND} is not known: ${state.at.why}`,
        fix: `${short} works; for the name alone, add to ${profile}: ${line}`,
      }
  }
}
