/** Checks of the daemon, the observer and the embedder. A daemon that does not run is fine: the next hook starts it. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonStatus } from '../../api/operations/daemon.ts'
import { errorMessage } from '../../lib/errors.ts'
import { readFileEnd } from '../../lib/files.ts'
import { isProgram } from '../../lib/find-program.ts'
import { LOG_FILE } from '../../lib/log.ts'
import { compareVersions, VERSION } from '../../lib/version.ts'
import { chooseProvider, findProviderOffers, readProviderEnvironment } from '../../observer/provider-choice.ts'
import { staticEmbedder } from '../../search/embedders/static.ts'
import { SETTINGS_FILE } from '../../settings/settings.ts'
import {
  advice,
  type DoctorCheck,
  type DoctorEnvironment,
  type DoctorFacts,
  type Finding,
  findingsOrOk,
  ok,
  problem,
} from './check.ts'
import { realPathOrSame } from './installed.ts'

export function daemonCheck(facts: DoctorFacts): DoctorCheck {
  return {
    id: 'daemon',
    title: 'Daemon',
    run: async () => {
      const { environment } = facts
      const state = await facts.daemon()
      if (state.type === 'stopped') return stopped(environment)
      if (state.type === 'unresponsive') {
        const text = `something listens on ${environment.paths.socket} and does not answer: ${state.reason}`
        return [problem(text, 'claude-mem restart; if that does not help, end the process named in claude-mem logs')]
      }
      const { status } = state
      const okDetail = `${status.version} ${status.state}, pid ${status.pid}`
      return findingsOrOk([...identityFaults(status, environment), ...noticeFaults(status)], okDetail)
    },
  }
}

function stopped({ paths }: DoctorEnvironment): Finding[] {
  const failure = lastFailure(paths.logs)
  if (failure === null) return [ok('not running; the next hook starts it')]
  return [problem(`the last one ended with an error: ${failure}`, 'fix it, then claude-mem start; see claude-mem logs')]
}

function identityFaults(status: DaemonStatus, { paths, dist }: DoctorEnvironment): Finding[] {
  const faults: Finding[] = []
  const difference = compareVersions(status.version, VERSION)
  if (difference < 0) {
    faults.push(problem(`version ${status.version} runs, and this program is ${VERSION}`, 'claude-mem restart'))
  } else if (difference > 0) {
    const text = `version ${status.version} runs, and this program is the older ${VERSION} (${dist})`
    faults.push(problem(text, 'npm install -g claude-mem@latest, or remove the older one from your PATH'))
  }
  if (realPathOrSame(status.dataDir) !== realPathOrSame(paths.dataDir)) {
    const text = `it uses ${status.dataDir}, and this program uses ${paths.dataDir}`
    faults.push(problem(text, 'compare CLAUDE_MEM_DATA_DIR here and where the daemon was started'))
  }
  if (status.state !== 'serving')
    faults.push(advice(`it is ${status.state}`, 'wait a moment, then run claude-mem doctor again'))
  const settings = statSync(join(paths.dataDir, SETTINGS_FILE), { throwIfNoEntry: false })
  if (settings !== undefined && settings.mtimeMs > status.startedAt) {
    faults.push(advice(`${SETTINGS_FILE} was changed since it started`, 'claude-mem restart, to apply it'))
  }
  return faults
}

/** The daemon's warnings and errors. */
function noticeFaults({ notices }: DaemonStatus): Finding[] {
  const fix = 'see claude-mem status and claude-mem logs; claude-mem restart clears it'
  return notices
    .filter(({ level }) => level !== 'info')
    .map(({ level, text }) => (level === 'error' ? problem(text, fix) : advice(text, fix)))
}

/** Enough for a last line with a stack trace. */
const LOG_END_BYTES = 65_536
/** pino's number for `error`. */
const LEVEL_ERROR = 50

/** The error with which the last daemon ended; null if it ended without one, or there is no log. */
function lastFailure(directory: string): string | null {
  const line = readFileEnd(join(directory, LOG_FILE), LOG_END_BYTES).trimEnd().split('\n').at(-1) ?? ''
  try {
    const { level, msg }: { level?: unknown; msg?: unknown } = JSON.parse(line)
    return Number(level) >= LEVEL_ERROR && typeof msg === 'string' ? msg : null
  } catch {
    // No log, or a truncated last line.
    return null
  }
}

const TEST_HINT = 'claude-mem providers test makes one small call'

/** Makes no call to a model. */
export function observerCheck(facts: DoctorFacts): DoctorCheck {
  return {
    id: 'observer',
    title: 'Observer',
    run: async () => {
      const { settings, environment } = facts
      const surroundings = await readProviderEnvironment(environment.env)
      const { provider, why, config } = chooseProvider(settings, surroundings)
      const faults: Finding[] = [
        ...(config?.problems ?? []).map((text) => problem(`${provider}: ${text}`, 'then claude-mem restart')),
        ...(config?.notes ?? []).map((text) => advice(`${provider}: ${text}`, 'then claude-mem restart')),
      ]
      if (config?.provider === 'claude-code' && config.program !== null && !(await isProgram(config.program))) {
        const fix = 'claude-mem config set claude-code-path FILE, or unset it to use the one on the PATH'
        faults.push(problem(`claude-code: there is no program ${config.program}`, fix))
      }
      const daemon = await facts.daemon()
      if (daemon.type === 'running' && daemon.status.provider !== provider) {
        const text = `the daemon uses ${daemon.status.provider}; the settings say ${provider}`
        faults.push(advice(text, 'claude-mem restart'))
      }
      const offers = config === null && provider === 'offline' ? findProviderOffers(settings, surroundings) : []
      const more = offers.length === 0 ? '' : '; claude-mem providers shows which models are available'
      const model = config === null ? '' : ` with ${config.model}; ${TEST_HINT}`
      return findingsOrOk(faults, `${provider}${model} (${why})${more}`)
    },
  }
}

const STATIC = 'static'

export function embedderCheck(facts: DoctorFacts): DoctorCheck {
  const { settings, environment } = facts
  const name = settings.values.CLAUDE_MEM_EMBEDDER
  return {
    id: 'embedder',
    title: 'Embedder',
    run: async () => {
      const faults: Finding[] = []
      let dimensions = 0
      try {
        dimensions = name === STATIC ? (await staticEmbedder()).dimensions : await load(name, environment.paths.models)
      } catch (error) {
        const fix =
          name === STATIC
            ? 'npm install -g claude-mem'
            : `claude-mem models pull ${name}; or claude-mem models use static`
        const meanwhile = name === STATIC ? 'search uses words only' : 'static is used instead'
        faults.push(problem(`${name} cannot be used, ${meanwhile}: ${errorMessage(error)}`, fix))
      }
      const daemon = await facts.daemon()
      if (daemon.type === 'running' && daemon.status.indexing !== null) {
        const { done, total } = daemon.status.indexing
        faults.push(
          advice(
            `${done} of ${total} memories are indexed for search`,
            'nothing to do: indexing continues in the background',
          ),
        )
      }
      return findingsOrOk(faults, `${name} loads, ${dimensions} dimensions`)
    },
  }
}

/** Loads the local copy; nothing is downloaded. */
async function load(model: string, cacheDir: string): Promise<number> {
  const { transformersEmbedder } = await import('../../search/embedders/transformers.ts')
  const loaded = await transformersEmbedder({ model, cacheDir, allowRemote: false })
  await loaded.close()
  return loaded.dimensions
}
