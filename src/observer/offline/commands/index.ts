/** What a shell command did: read from its line and its output by rules, without a model. */

import { unique } from '../text.ts'
import type { CommandKind, CommandResult } from '../types.ts'
import { readBuild } from './build.ts'
import { readChecks } from './checks.ts'
import { readContainers } from './containers.ts'
import { crashed, faultsOf, filesOf, showErrors } from './faults/index.ts'
import { readGit } from './git.ts'
import { readHttp } from './http.ts'
import { readInstall } from './install/index.ts'
import { readMigration } from './migration.ts'
import { clip, int, lastLine, type Output, toOutput } from './output.ts'
import type { Reader, Reading, Run } from './reading.ts'
import { readServer } from './server.ts'
import { type Line, readLine, telling } from './shell/runs.ts'
import { readTests } from './tests/index.ts'
import { readVersions } from './version.ts'

export interface CommandInput {
  command: string
  description: string | null
  stdout: string
  stderr: string
  failed: boolean
  error: string | null
}

/** Who reads the output of which kind of command; the first that recognises it wins. */
const READERS: Record<CommandKind, Reader[]> = {
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
const FACT_CHARS = 480
/** Their output says whether they failed, even where a pipe hides the exit code. */
const SPEAK_FOR_THEMSELVES = new Set<CommandKind>(['test', 'build', 'typecheck', 'lint', 'commit', 'git', 'server'])

export function readCommand(input: CommandInput): CommandResult {
  const line = readLine(input.command)
  const out = outputOf(input)
  const exitCode = exitCodeOf(input, line, out)
  const readings = new Map(line.runs.map((run) => [run, readRun(run, out)]))
  const saidFailed = input.failed || (exitCode !== null && exitCode !== 0)
  const spokeOfFailure = line.runs.find((run) => SPEAK_FOR_THEMSELVES.has(run.kind) && readings.get(run)?.failed)
  const hiddenCrash = line.exitHidden && line.runs.some((run) => run.kind !== 'look') && crashed(out)
  const ok = !saidFailed && spokeOfFailure === undefined && !hiddenCrash
  const main = ok
    ? telling(line.runs, false, () => true)
    : (spokeOfFailure ?? telling(line.runs, true, (run) => readings.get(run) !== null))
  const told = readings.get(main) ?? readVersions(line.runs, out)
  const faults = ok ? [] : faultsOf(out, told?.faults ?? [], exitCode)
  const facts = [told, ...readings.values()].flatMap((one) => one?.facts ?? [])
  return {
    kind: kindFrom(main, told),
    command: main.shown,
    key: main.key,
    ok,
    exitCode: ok ? (exitCode ?? 0) : exitCode === 0 ? null : exitCode,
    headline: told?.headline ? clip(told.headline) : null,
    errors: showErrors(faults),
    facts: unique(facts.map((fact) => clip(fact, FACT_CHARS))).slice(0, MAX_FACTS),
    files: filesOf(faults),
  }
}

function outputOf(input: CommandInput): Output {
  const error = (input.error ?? '').replace(/^(?:Error: )?Exit code \d+\n?/, '')
  const parts = [input.stdout, input.stderr, error]
  return toOutput(parts.filter((part, i) => !parts.slice(0, i).some((other) => other !== '' && other.includes(part))))
}

function exitCodeOf(input: CommandInput, line: Line, out: Output): number | null {
  const stated = /^(?:Error: )?(?:Exit code|Command failed with exit code|exit status) (\d{1,3})\b/m.exec(
    (input.error ?? '').slice(0, 2_000),
  )
  if (stated) return int(stated[1])
  if (input.failed) return null
  const printed = line.printsExit ? lastLine(out, /(?:exit|code|status|rc|ret)\w*\s*[:=]?\s*(\d{1,3})\s*$/i) : null
  return printed ? int(printed[1]) : null
}

function readRun(run: Run, out: Output): Reading | null {
  for (const read of READERS[run.kind]) {
    const found = read(run, out)
    if (found !== null) return found
  }
  return null
}

/** `python tests/all.py` shows only by its output that it was a test run. */
function kindFrom(run: Run, told: Reading | null): CommandKind {
  if (run.kind !== 'run' || told === null) return run.kind
  if (told.facts.some((fact) => fact.startsWith('Tests: '))) return 'test'
  return told.facts.some((fact) => fact.startsWith('Server listens')) ? 'server' : 'run'
}
