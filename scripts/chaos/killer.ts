/**
 * Starts daemons and kills them: at every fault point, at random times, one of two that were started together, and those
 * that a hook started. After each kill another daemon starts on the data directory as it was left.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { listSpool } from '../../src/hook/spool.ts'
import type { FaultPoint } from '../../src/lib/faults.ts'
import type { Random } from '../lib/random.ts'
import {
  connect,
  type DaemonProcess,
  EXIT_ALREADY_RUNNING,
  isAlive,
  kill,
  type Sandbox,
  StartLock,
  servingPid,
  spawnDaemon,
  until,
} from '../lib/sandbox.ts'

/** A fault point that a serving daemon does not reach within this time is given up, and the daemon is killed, in ms. */
const FAULT_LIMIT_MS = 30_000
const SERVE_LIMIT_MS = 60_000
/** A daemon that does not serve yet is killed within this time after its start, in ms. */
const START_LIFE_MS = 900
/** One that serves is killed after so many acks, so that most events go through the socket; or after the limit, in ms. */
const ACKS_IN_LIFE = [1, 60] as const
const LIFE_LIMIT_MS = 30_000

export type Way = FaultPoint | 'random' | 'twins' | 'launched'

export class Killer {
  /** Number of kills by cause. */
  readonly kills: Partial<Record<Way, number>> = {}
  /** Fault points that were armed but not reached in time; the daemon was killed at a random time instead. */
  readonly missed: Partial<Record<FaultPoint, number>> = {}
  /** Daemons that ended by themselves, which is always an error. */
  readonly crashes: string[] = []
  starts = 0
  /** The daemon that answered last. */
  serving = false
  readonly #sandbox: Sandbox
  readonly #random: Random
  readonly #sabotage: string
  readonly #acks: () => number
  readonly #lock: StartLock

  /** `acks`: how many events were acknowledged. */
  constructor(sandbox: Sandbox, random: Random, sabotage: string, acks: () => number) {
    this.#sandbox = sandbox
    this.#random = random
    this.#acks = acks
    this.#sabotage = sabotage
    this.#lock = new StartLock(sandbox.paths.starting, Date.now, () => {
      this.serving = this.starts > 0
    })
  }

  get total(): number {
    return Object.values(this.kills).reduce((sum, count) => sum + count, 0)
  }

  holdStart(): void {
    this.#lock.hold()
  }

  letHooksStart(): void {
    this.#lock.release()
  }

  async kill(way: Way): Promise<void> {
    this.serving = false
    if (way === 'launched') return await this.#killLaunched()
    this.holdStart()
    if (way === 'twins') return await this.#killTwins()
    if (way === 'random') return await this.#killAtRandom(this.#spawn(null))
    await this.#killAtFault(way)
  }

  /** One more daemon that is killed when its work is done; not counted. */
  async serveUntil(done: () => boolean): Promise<void> {
    this.serving = false
    this.holdStart()
    const daemon = this.#spawn(null)
    await until(() => this.serving, SERVE_LIMIT_MS)
    await until(done, SERVE_LIMIT_MS)
    kill(daemon.pid)
    await daemon.exited
  }

  #spawn(faultPoint: string | null): DaemonProcess {
    this.starts += 1
    const armed = [faultPoint, this.#sabotage].filter((item) => item !== null && item !== '').join(',')
    return spawnDaemon(this.#sandbox, armed === '' ? {} : { CLAUDE_MEM_FAULT: armed })
  }

  async #killAtFault(point: FaultPoint): Promise<void> {
    const spooled = () => listSpool(this.#sandbox.paths.spool).length
    const passage = passageOf(point, this.#random, spooled())
    if (point.startsWith('spool.')) await until(() => spooled() >= passage, FAULT_LIMIT_MS)
    const daemon = this.#spawn(`${point}:${passage}`)
    await this.#provoke(point, daemon)
    await until(() => this.serving || daemon.exit !== null, SERVE_LIMIT_MS)
    const exit = await Promise.race([daemon.exited, sleep(FAULT_LIMIT_MS, null)])
    if (exit?.signal === 'SIGKILL') return this.#count(point)
    if (exit?.code === EXIT_ALREADY_RUNNING) return await this.#killStranger()
    if (exit === null) await this.#killNow(daemon, 'random')
    // A SIGTERM during the start ends it like any program.
    else if (exit.code !== 0 && exit.signal !== 'SIGTERM') this.#crashed(point, daemon)
    this.missed[point] = (this.missed[point] ?? 0) + 1
  }

  /** Triggers fault points that events alone do not reach. */
  async #provoke(point: FaultPoint, daemon: DaemonProcess): Promise<void> {
    if (point !== 'drain' && point !== 'backup.written') return
    // Waits for this daemon: another one that a hook started may still hold the data directory.
    await until(async () => daemon.exit !== null || (await servingPid(this.#sandbox, 0)) === daemon.pid, FAULT_LIMIT_MS)
    const client = await connect(this.#sandbox, 0)
    if (client === null) return
    await sleep(this.#random.between(0, 200))
    if (point === 'backup.written') {
      await client.call('backup', {}, FAULT_LIMIT_MS).catch(() => undefined)
    } else if (this.#random.chance(0.5)) {
      await client.call('stop', {}, FAULT_LIMIT_MS).catch(() => undefined)
    } else {
      daemon.child.kill('SIGTERM')
    }
    client.close()
  }

  async #killAtRandom(daemon: DaemonProcess): Promise<void> {
    if (this.#random.chance(0.8)) await this.#live(() => daemon.exit !== null)
    else await Promise.race([daemon.exited, sleep(this.#random.between(0, START_LIFE_MS))])
    await this.#killNow(daemon, 'random')
  }

  /** Lets a daemon serve for a number of acks. */
  async #live(isOver: () => boolean): Promise<void> {
    await until(() => this.serving || isOver(), SERVE_LIMIT_MS)
    const enough = this.#acks() + this.#random.between(...ACKS_IN_LIFE)
    await until(() => this.#acks() >= enough || isOver(), LIFE_LIMIT_MS)
  }

  /** Starts two daemons. When the one that serves is killed while the other waits for the lock, the other takes over. */
  async #killTwins(): Promise<void> {
    for (const daemon of this.#random.shuffled([this.#spawn(null), this.#spawn(null)])) {
      if (this.#random.chance(0.5)) await this.#live(() => daemon.exit !== null)
      else await sleep(this.#random.between(0, START_LIFE_MS))
      if (daemon.exit?.code !== EXIT_ALREADY_RUNNING) await this.#killNow(daemon, 'twins')
    }
  }

  async #killLaunched(): Promise<void> {
    this.letHooksStart()
    const pid = await servingPid(this.#sandbox, SERVE_LIMIT_MS)
    if (pid === null) {
      this.crashes.push(`no hook started a daemon within ${SERVE_LIMIT_MS / 1000} s`)
      return
    }
    this.starts += 1
    this.serving = true
    await this.#live(() => !isAlive(pid))
    this.holdStart()
    await this.#killPid(pid)
  }

  /** A daemon that a hook started answers instead. */
  async #killStranger(): Promise<void> {
    const pid = await servingPid(this.#sandbox, 0)
    if (pid === null) return
    this.starts += 1
    await this.#killPid(pid)
  }

  async #killPid(pid: number): Promise<void> {
    if (kill(pid)) this.#count('launched')
    await until(() => !isAlive(pid), FAULT_LIMIT_MS)
  }

  async #killNow(daemon: DaemonProcess, way: Way): Promise<void> {
    if (daemon.exit?.code === EXIT_ALREADY_RUNNING) return await this.#killStranger()
    if (daemon.exit !== null) return this.#crashed(way, daemon)
    kill(daemon.pid)
    const exit = await daemon.exited
    if (exit.signal === 'SIGKILL') this.#count(way)
    else if (exit.code === EXIT_ALREADY_RUNNING) await this.#killStranger()
    else this.#crashed(way, daemon)
  }

  #count(way: Way): void {
    this.kills[way] = (this.kills[way] ?? 0) + 1
  }

  #crashed(way: Way, daemon: DaemonProcess): void {
    this.crashes.push(`a daemon that was to die of ${way} ended by itself: ${JSON.stringify(daemon.exit)}`)
  }
}

/**
 * Fault points of a start are reached once. Those of an event are reached first by the spooled events, then by those that
 * come through the socket: some daemons die with the first, most with the second.
 */
function passageOf(point: FaultPoint, random: Random, spooled: number): number {
  const ofEvent = spooled + random.between(...ACKS_IN_LIFE)
  switch (point) {
    case 'migrate.step':
    case 'listen':
    case 'drain':
    case 'backup.written':
      return 1
    case 'spool.read':
    case 'spool.committed':
      return random.between(1, 4)
    case 'ack':
      return random.between(...ACKS_IN_LIFE)
    case 'effect.start':
    case 'passages.stored':
    case 'effect.result':
      // A third of the events are observed together.
      return Math.ceil(ofEvent / 3)
    default:
      return ofEvent
  }
}
