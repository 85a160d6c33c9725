/** What a check of the doctor is, and the facts that several checks share. A check never throws: a failure is a finding. */

import type { DaemonStatus } from '../../api/operations/daemon.ts'
import { errorMessage, isUnresponsive, systemCode } from '../../lib/errors.ts'
import type { Paths } from '../../lib/paths.ts'
import { type LoadedSettings, loadSettings } from '../../settings/settings.ts'
import { DaemonClient } from '../../transport/client.ts'
import { type ClientConnection, findConnections } from './installed.ts'

/** `advice`: it works, but could be better or will stop working soon. */
export type CheckState = 'ok' | 'advice' | 'problem'

export interface Finding {
  state: CheckState
  detail: string
  /** What to do; null if nothing has to be done. */
  fix: string | null
}

export interface CheckResult extends Finding {
  id: string
  title: string
}

/** Yields one finding per fault. Returns what to report without a fault; null if there was nothing to check. */
export type CheckRun = AsyncGenerator<Finding, string | null>

export interface DoctorCheck {
  id: string
  title: string
  run(facts: DoctorFacts): CheckRun
}

export const advice = (detail: string, fix: string): Finding => ({ state: 'advice', detail, fix })
export const problem = (detail: string, fix: string): Finding => ({ state: 'problem', detail, fix })

export async function runCheck({ id, title, run }: DoctorCheck, facts: DoctorFacts): Promise<CheckResult[]> {
  try {
    const results: CheckResult[] = []
    const findings = run(facts)
    let next = await findings.next()
    for (; next.done !== true; next = await findings.next()) results.push({ id, title, ...next.value })
    if (results.length > 0 || next.value === null) return results
    return [{ id, title, state: 'ok', detail: next.value, fix: null }]
  } catch (error) {
    const detail = `the check failed: ${errorMessage(error)}`
    return [{ id, title, ...problem(detail, 'fix the cause, then run claude-mem doctor again') }]
  }
}

/** Quotes a path for a command that the user copies into a shell. */
export function shellQuote(path: string, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`
}

/** The machine and data directory that the doctor examines. */
export interface DoctorEnvironment {
  paths: Paths
  env: NodeJS.ProcessEnv
  home: string
  /** Root of the current project. */
  root: string
  /** Directory of this program, and the node that runs it. */
  dist: string
  node: string
  /** Epoch ms. */
  now: number
  /** Also check the whole database (`--deep`). */
  deep: boolean
  /** How often a hook is run; the median of its times counts. */
  hookRuns: number
  /** Free bytes on the disk of a directory. */
  freeBytes(directory: string): Promise<number>
}

export type DaemonState =
  | { type: 'running'; status: DaemonStatus }
  | { type: 'stopped' }
  /** The socket is open, but no daemon answers on it. */
  | { type: 'unresponsive'; reason: string }

/** Facts that several checks need; each is determined once, on first use. */
export class DoctorFacts {
  readonly environment: DoctorEnvironment
  readonly settings: LoadedSettings
  #daemon: Promise<DaemonState> | null = null
  #connections: Promise<ClientConnection[]> | null = null

  constructor(environment: DoctorEnvironment) {
    this.environment = environment
    this.settings = loadSettings(environment.paths.dataDir, environment.env)
  }

  daemon(): Promise<DaemonState> {
    this.#daemon ??= daemonState(this.environment.paths)
    return this.#daemon
  }

  connections(): Promise<ClientConnection[]> {
    this.#connections ??= findConnections(this.environment, this.settings.values.CLAUDE_MEM_FILE_CONTEXT)
    return this.#connections
  }
}

/** A healthy daemon answers in milliseconds. */
const STATUS_TIMEOUT_MS = 5_000
const NOT_LISTENING = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED']

async function daemonState(paths: Paths): Promise<DaemonState> {
  let client: DaemonClient
  try {
    client = await DaemonClient.connect(paths)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    if (NOT_LISTENING.includes(systemCode(cause) ?? '')) return { type: 'stopped' }
    if (isUnresponsive(error)) return { type: 'unresponsive', reason: errorMessage(error) }
    return { type: 'unresponsive', reason: `${paths.socket}: ${errorMessage(cause ?? error)}` }
  }
  try {
    return { type: 'running', status: (await client.call('status', {}, STATUS_TIMEOUT_MS)).status }
  } catch (error) {
    return { type: 'unresponsive', reason: errorMessage(error) }
  } finally {
    client.close()
  }
}
