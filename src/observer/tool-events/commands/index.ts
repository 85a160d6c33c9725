/** What a shell command did, read from the command line and its output. */
import { unique } from '../text.ts'
import type { CommandKind, CommandResult } from '../types.ts'
import { readBuild, readChecks } from './build-and-lint.ts'
import { findErrors, hasCrashed } from './errors.ts'
import { readGit } from './git.ts'
import { readInstall, readVersions } from './installs.ts'
import {
  clipLine,
  lastMatch,
  type OutputReader,
  type OutputReading,
  outputLines,
  parseCount,
  type ShellRun,
} from './output.ts'
import { readContainers, readHttp, readMigration, readServer } from './services.ts'
import { mainFailedRun, mainRun, readShellLine, type ShellLine } from './shell-line.ts'
import { readTests } from './tests.ts'

export interface CommandInput {
  command: string
  stdout: string
  stderr: string
  failed: boolean
  error: string | null
}

/** The readers of the output of each kind of command; the first that recognises it wins. */
const READERS: Record<CommandKind, OutputReader[]> = {
  test: [readTests, readBuild],
  build: [readContainers, readBuild, readChecks],
  lint: [readChecks],
  typecheck: [readChecks, readBuild],
  install: [readInstall],
  migration: [readMigration],
  server: [readContainers, readServer, readBuild],
  commit: [readGit],
  git: [readGit],
  run: [readHttp, readContainers, readServer, readMigration, readTests],
  look: [],
}

const MAX_FACTS = 16
const MAX_FACT_CHARS = 480
/** Their output shows whether they failed, even where a pipe hides the exit code. */
const REPORTS_FAILURE = new Set<CommandKind>(['test', 'build', 'typecheck', 'lint', 'commit', 'git', 'server'])

/** `lines`: its output, for a caller that has read it already. */
export function readCommand(input: CommandInput, lines: string[] = commandOutput(input)): CommandResult {
  const line = readShellLine(input.command)
  const exitCode = findExitCode(input, line, lines)
  const readings = new Map(line.runs.map((run) => [run, readRun(run, lines)]))
  const failedRun = line.runs.find((run) => REPORTS_FAILURE.has(run.kind) && readings.get(run)?.failed)
  const exitFailed = input.failed || (exitCode !== null && exitCode !== 0)
  const hiddenCrash = line.exitHidden && line.runs.some((run) => run.kind !== 'look') && hasCrashed(lines)
  const ok = !exitFailed && failedRun === undefined && !hiddenCrash
  const main = ok ? mainRun(line.runs) : (failedRun ?? mainFailedRun(line.runs, (run) => readings.get(run) !== null))
  const reading = readings.get(main) ?? readVersions(line.runs, lines)
  const facts = [reading, ...readings.values()].flatMap((one) => one?.facts ?? [])
  return {
    kind: kindByReading(main, reading),
    command: main.shown,
    key: main.key,
    ok,
    exitCode: ok ? (exitCode ?? 0) : exitCode === 0 ? null : exitCode,
    headline: reading?.headline ? clipLine(reading.headline) : null,
    errors: ok ? [] : findErrors(lines, reading?.errors ?? [], exitCode),
    facts: unique(facts.map((fact) => clipLine(fact, MAX_FACT_CHARS))).slice(0, MAX_FACTS),
  }
}

/** The lines of its output. The error of a failed command often repeats the rest of it. */
export function commandOutput(input: CommandInput): string[] {
  const error = (input.error ?? '').replace(/^(?:Error: )?Exit code \d+\n?/, '')
  const parts = [input.stdout, input.stderr, error]
  return outputLines(
    parts.filter((part, i) => !parts.slice(0, i).some((other) => other !== '' && other.includes(part))),
  )
}

function findExitCode(input: CommandInput, line: ShellLine, lines: string[]): number | null {
  const stated = /^(?:Error: )?(?:Exit code|Command failed with exit code|exit status) (\d{1,3})\b/m.exec(
    (input.error ?? '').slice(0, 2_000),
  )
  if (stated) return parseCount(stated[1])
  if (input.failed) return null
  const printed = line.printsExit
    ? lastMatch(lines, /(?:exit|code|status|rc|ret)\w{0,20}\s{0,8}[:=]?\s{0,8}(\d{1,3})\s{0,8}$/i)
    : null
  return printed ? parseCount(printed[1]) : null
}

function readRun(run: ShellRun, lines: string[]): OutputReading | null {
  for (const read of READERS[run.kind]) {
    const reading = read(run, lines)
    if (reading !== null) return reading
  }
  return null
}

/** Only its output shows that `python tests/all.py` was a test run. */
function kindByReading(run: ShellRun, reading: OutputReading | null): CommandKind {
  if (run.kind !== 'run' || reading === null) return run.kind
  if (reading.facts.some((fact) => fact.startsWith('Tests: '))) return 'test'
  return reading.facts.some((fact) => fact.startsWith('Server listens')) ? 'server' : 'run'
}
