/** What several checks need to know: found out once, when the first one asks. */
import { ChannelClient } from '../channel/client.ts'
import type { Status } from '../channel/protocol.ts'
import { messageOf, systemCode } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { type LoadedSettings, loadSettings } from '../settings.ts'
import { type Connection, connectionsOf } from './installed.ts'

/** What the doctor looks at, and from where. */
export interface Surroundings {
  paths: Paths
  env: NodeJS.ProcessEnv
  home: string
  /** Top of the project that somebody is in. */
  root: string
  /** Where this program lies, and the node that runs it. */
  dist: string
  node: string
  /** Epoch ms. */
  now: number
  /** Also what reads the whole memory. */
  deep: boolean
  /** How often a hook is run; the middle one of its times counts. */
  hookRuns: number
  /** What is free on the disk of a directory. */
  freeBytes(directory: string): Promise<number>
}

export type DaemonState =
  | { type: 'running'; status: Status }
  | { type: 'stopped' }
  /** Something is there and does not answer as a daemon does. */
  | { type: 'mute'; reason: string }

export class Facts {
  readonly around: Surroundings
  readonly settings: LoadedSettings
  #daemon: Promise<DaemonState> | null = null
  #connections: Promise<Connection[]> | null = null

  constructor(around: Surroundings) {
    this.around = around
    this.settings = loadSettings(around.paths.dataDir, around.env)
  }

  daemon(): Promise<DaemonState> {
    this.#daemon ??= daemonState(this.around.paths)
    return this.#daemon
  }

  connections(): Promise<Connection[]> {
    this.#connections ??= connectionsOf(this.around, this.settings.values.CLAUDE_MEM_FILE_CONTEXT)
    return this.#connections
  }
}

/** A daemon answers in milliseconds; one that takes this long (ms) is in trouble. */
const ANSWER_MS = 5_000
const NOBODY = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED']

async function daemonState(paths: Paths): Promise<DaemonState> {
  let client: ChannelClient
  try {
    client = await ChannelClient.connect(paths)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    if (NOBODY.includes(systemCode(cause) ?? '')) return { type: 'stopped' }
    return { type: 'mute', reason: messageOf(cause ?? error) }
  }
  try {
    return { type: 'running', status: (await client.request('status', { type: 'status' }, ANSWER_MS)).status }
  } catch (error) {
    return { type: 'mute', reason: messageOf(error) }
  } finally {
    client.close()
  }
}
