/** What package managers, databases, containers, version control and the system itself complain about. */
import { allLines, type Output } from '../output.ts'
import { type Fault, fault } from '../reading.ts'

/** Lines that are the complaint as they stand; the first group is kept. Strongest first. */
const PACKAGES: RegExp[] = [
  /^(npm (?:ERR!|error) Missing script: .+)$/,
  /^(npm (?:ERR!|error) (?:code E\w+|40\d .+|notarget .+|Could not resolve dependency:|peer .+ from .+|Found: .+|syscall .+|ENOENT.*))$/,
  /^\s*(ERR_PNPM_\w+.*)$/,
  /^(?:➤ )?(YN\d{4}: .*(?:error|fail|couldn't|doesn't).*)$/i,
  /^(error (?!Command failed)(?:Couldn't|An unexpected|Your lockfile|.+: The engine).*)$/,
  /^(?:ERROR|error): ((?:Could not find a version|No matching distribution|Cannot install|Failed building wheel|ResolutionImpossible|Package .+ requires|externally-managed).*)$/,
  /^(?:error|×): ?(.*(?:No solution found|failed to select a version|no matching package).*)$/i,
  /^\s*(Because .+ depends on .+)$/,
  /^(E: (?:Unable to locate package|Could not|Package) .+)$/,
  /^(Bundler (?:could not|cannot) .+|Could not find gem .+)$/,
  /^(go: .+: (?:no matching versions|unknown revision|module .+ not found|cannot find module).*)$/,
  /^\s+(?:- )?(Root composer\.json requires .+)$/,
  /^(Error: No (?:available formula|such keg).*)$/,
]

const SQL: RegExp[] = [
  /^(?:psql:\S+ )?(ERROR: {1,2}\S.+)$/,
  /^(psql: error: .+)$/,
  /^(ERROR \d{4} \(\w{5}\).*: .+)$/,
  /^((?:Runtime |Parse )?[Ee]rror:? (?:near line \d+|in prepare|near ".{1,40}").*)$/,
  /(SQLSTATE\[\w+\].{0,200})/,
  /((?:SQLITE_\w+|SqliteError|OperationalError|ProgrammingError|IntegrityError): .{1,200})/,
  /^(Error: P\d{4}.*)$/,
  /^(\(error\) [A-Z]+ .+)$/,
]

const VERSION_CONTROL: RegExp[] = [
  /^(CONFLICT \(.+)$/,
  /^\s*(! \[(?:remote )?rejected\] .+)$/,
  /^(error: (?:failed to push|could not apply|pathspec|Your local changes|The following untracked|cannot|src refspec).*)$/,
  /^(fatal: .+)$/,
  /^(husky - .+ (?:failed|exited).*)$/,
]

const CONTAINERS: RegExp[] = [
  /^(?:ERROR: |error: )?(failed to solve: .+)$/,
  /(Error response from daemon: .+)$/,
  /^(Error from server \(.+)$/,
  /^(?:[│╷╵]\s*)?(Error: (?:Invalid|Unsupported|Missing|Reference|Error|creating|Failed|No |Could not).+)$/,
  /^(Cannot connect to the Docker daemon.*)$/,
  /^(Error: INSTALLATION FAILED: .+|Error: UPGRADE FAILED: .+)$/,
]

const SYSTEM: RegExp[] = [
  /((?:address already in use|EADDRINUSE|Address already in use|port is already allocated|Port \d+ is (?:already )?in use).{0,120})/,
  /((?:connect )?ECONNREFUSED.{0,80})/,
  /^(curl: \(\d+\) .+)$/,
  /^(.{0,200}[Cc]onnection refused.{0,80})$/,
  /^((?:[\w./-]+: ){0,3}(?:line \d+: )?\S{1,100}: (?:command )?not found)$/,
  /^(zsh: command not found: .+)$/,
  /^(.{0,200}[Pp]ermission denied.{0,80})$/,
  /^(.{0,160}No such file or directory.{0,60})$/,
  /^(.{0,120}(?:No space left on device|ENOSPC).{0,60})$/,
  /^(.{0,120}(?:JavaScript heap out of memory|Out of memory|OutOfMemoryError|Cannot allocate memory).{0,80})$/,
  /^(.{0,120}Segmentation fault.{0,40})$/,
  /^(.{0,120}(?:getaddrinfo ENOTFOUND|Could not resolve host|Name or service not known|Temporary failure in name resolution).{0,80})$/,
  /^(.{0,100}Command timed out after .{1,40})$/,
  /^(Error: Cannot find module .+)$/,
]

const MAKE: RegExp[] = [
  /^((?:g?make|ninja)(?:\[\d+\])?: \*\*\* .+)$/,
  /^(ninja: (?:error|build stopped): .+)$/,
  /^(ELIFECYCLE .+)$/,
]

function lines(rules: RegExp[]): (out: Output) => Fault[] {
  return (out) => rules.flatMap((rule) => allLines(out, rule).map(([, said = '']) => fault(said)))
}

export const packages = lines(PACKAGES)
export const sql = lines(SQL)
export const versionControl = lines(VERSION_CONTROL)
export const containers = lines(CONTAINERS)
export const system = lines(SYSTEM)
export const make = lines(MAKE)

/** Any line that calls itself an error, for programs nobody wrote a rule for. */
export const anyError = lines([
  /^\s*(?:\S+: )?((?:fatal|FATAL|error|Error|ERROR|\w+Error|\w+Exception|✘|✖|×)(?:\[\w+\])?:? \S.+)$/,
  /^(.{1,80}: error: .+)$/i,
  /^\s*((?:Error|Fehler|Erreur|Errore|错误|エラー|Ошибка|오류)\s?[:：].+)$/i,
  /^(usage: .+|Usage: .+)$/,
])

const SIGNALS: Record<number, string> = {
  124: 'timed out (exit code 124)',
  126: 'not executable (exit code 126)',
  127: 'command not found (exit code 127)',
  134: 'aborted (exit code 134)',
  137: 'killed, often out of memory (exit code 137)',
  139: 'segmentation fault (exit code 139)',
  143: 'terminated (exit code 143)',
}

export function signal(exitCode: number | null): Fault[] {
  const said = exitCode === null ? undefined : SIGNALS[exitCode]
  return said === undefined ? [] : [fault(said)]
}
