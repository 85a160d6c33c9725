/** Checks of the daemon, the observer and the embedder. A daemon that does not run is fine: the next hook starts it. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonStatus } from '../../api/operations/daemon.ts'
import { parseJsonObject } from '../../hook/payload.ts'
import { errorMessage } from '../../lib/errors.ts'
import { readFileEnd } from '../../lib/files.ts'
import { isProgram } from '../../lib/find-program.ts'
import { LOG_FILE } from '../../lib/log.ts'
import { INSTALL_NEWER } from '../../lib/names.ts'
import { compareVersions, VERSION } from '../../lib/version.ts'
import { chooseProvider, findProviderOffers, readProviderEnvironment } from '../../observer/provider-choice.ts'
import { staticEmbedder } from '../../search/embedders/static.ts'
import { settingsFileName } from '../../settings/settings.ts'
import { readTeamFile } from '../../team/team-file.ts'
import { advice, type CheckRun, type DoctorEnvironment, type DoctorFacts, type Finding, problem } from './check.ts'
import { realPathOrSame } from './installed.ts'

export async function* checkDaemon(facts: DoctorFacts): CheckRun {
  const { paths } = facts.environment
  const daemon = await facts.daemon()
  if (daemon.type === 'stopped') {
    const failure = lastFailure(paths.logs)
    if (failure === null) return 'not running; the next hook starts it'
    yield problem(`the last one ended with an error: ${failure}`, 'fix it, then claude-mem start; see claude-mem logs')
    return null
  }
  if (daemon.type === 'unresponsive') {
    yield problem(daemon.reason, 'claude-mem restart; if that does not help, end the process named in claude-mem logs')
    return null
  }
  const { status } = daemon
  yield* identityFaults(status, facts.environment)
  const fix = 'see claude-mem status and claude-mem logs; claude-mem restart clears it'
  for (const { level, text } of status.notices) {
    if (level !== 'info') yield level === 'error' ? problem(text, fix) : advice(text, fix)
  }
  return `${status.version} ${status.state}, pid ${status.pid}`
}

function* identityFaults(status: DaemonStatus, { paths, dist }: DoctorEnvironment): Generator<Finding> {
  const difference = compareVersions(status.version, VERSION)
  if (difference < 0) {
    yield problem(`version ${status.version} runs, and this program is ${VERSION}`, 'claude-mem restart')
  } else if (difference > 0) {
    const text = `version ${status.version} runs, and this program is the older ${VERSION} (${dist})`
    yield problem(text, `${INSTALL_NEWER}; or remove the older one from your PATH`)
  }
  if (realPathOrSame(status.dataDir) !== realPathOrSame(paths.dataDir)) {
    const text = `it uses ${status.dataDir}, and this program uses ${paths.dataDir}`
    yield problem(text, 'compare CLAUDE_MEM_DATA_DIR here and where the daemon was started')
  }
  if (status.state !== 'serving') {
    yield advice(`it is ${status.state}`, 'wait a moment, then run claude-mem doctor again')
  }
  const settingsFile = settingsFileName(paths.dataDir)
  const settings = statSync(join(paths.dataDir, settingsFile), { throwIfNoEntry: false })
  if (settings !== undefined && settings.mtimeMs > status.startedAt) {
    yield advice(`${settingsFile} was changed since it started`, 'claude-mem restart, to apply it')
  }
}

/** Enough for a last line with a stack trace. */
const LOG_END_BYTES = 65_536
/** pino's number for `error`. */
const LEVEL_ERROR = 50

/** The error with which the last daemon ended; null if it ended without one, or there is no log. */
function lastFailure(directory: string): string | null {
  const line = readFileEnd(join(directory, LOG_FILE), LOG_END_BYTES).trimEnd().split('\n').at(-1) ?? ''
  // Null without a log, or with a truncated last line.
  const { level, msg } = parseJsonObject(line) ?? {}
  return Number(level) >= LEVEL_ERROR && typeof msg === 'string' ? msg : null
}

/** Makes no call to a model. */
export async function* checkObserver(facts: DoctorFacts): CheckRun {
  const { settings, environment } = facts
  const surroundings = await readProviderEnvironment(environment.env)
  const { provider, why, config } = chooseProvider(settings, surroundings)
  for (const text of config?.problems ?? []) yield problem(`${provider}: ${text}`, 'then claude-mem restart')
  for (const text of config?.notes ?? []) yield advice(`${provider}: ${text}`, 'then claude-mem restart')
  if (config?.provider === 'claude-code' && config.program !== null && !(await isProgram(config.program))) {
    const fix = 'claude-mem config set claude-code-path FILE, or unset it to use the one on the PATH'
    yield problem(`claude-code: there is no program ${config.program}`, fix)
  }
  const daemon = await facts.daemon()
  if (daemon.type === 'running' && daemon.status.provider !== provider) {
    yield advice(`the daemon uses ${daemon.status.provider}; the settings say ${provider}`, 'claude-mem restart')
  }
  const offers = config === null && provider === 'offline' ? findProviderOffers(settings, surroundings) : []
  const more = offers.length === 0 ? '' : '; claude-mem providers shows which models are available'
  const model = config === null ? '' : ` with ${config.model}; claude-mem providers test makes one small call`
  return `${provider}${model} (${why})${more}`
}

const STATIC = 'static'

export async function* checkEmbedder(facts: DoctorFacts): CheckRun {
  const { settings, environment } = facts
  const name = settings.values.CLAUDE_MEM_EMBEDDER
  let dimensions = 0
  try {
    dimensions = name === STATIC ? (await staticEmbedder()).dimensions : await load(name, environment.paths.models)
  } catch (error) {
    const [meanwhile, fix] =
      name === STATIC
        ? ['search uses words only', 'run node dist/cli.js install in a clone of claude-mem (after npm run build)']
        : ['static is used instead', `claude-mem models pull ${name}; or claude-mem models use static`]
    yield problem(`${name} cannot be used, ${meanwhile}: ${errorMessage(error)}`, fix)
  }
  const daemon = await facts.daemon()
  if (daemon.type === 'running' && daemon.status.indexing !== null) {
    const { done, total } = daemon.status.indexing
    const text = `${done} of ${total} memories are indexed for search`
    yield advice(text, 'nothing to do: indexing continues in the background')
  }
  return `${name} loads, ${dimensions} dimensions`
}

/** Loads the local copy; nothing is downloaded. */
async function load(model: string, cacheDir: string): Promise<number> {
  const { transformersEmbedder } = await import('../../search/embedders/transformers.ts')
  const loaded = await transformersEmbedder({ model, cacheDir, allowRemote: false })
  await loaded.close()
  return loaded.dimensions
}

/** Nothing to report without a team: most people have none. The server itself is checked by `claude-mem team doctor`. */
export async function* checkTeam(facts: DoctorFacts): CheckRun {
  const { paths } = facts.environment
  let isConfigured: boolean
  try {
    isConfigured = readTeamFile(paths) !== null
  } catch (error) {
    yield problem(errorMessage(error), 'claude-mem team connect, or remove the file')
    return null
  }
  if (!isConfigured) return null
  const daemon = await facts.daemon()
  if (daemon.type !== 'running') return 'configured; the daemon is not running'
  const { team } = daemon.status
  if (!team) {
    yield advice('the daemon does not know the connection yet', 'claude-mem restart')
    return null
  }
  if (team.state === 'problem') yield problem(team.text, 'claude-mem team doctor shows more')
  return team.text
}
