/**
 * The power is cut: hooks and daemons work while strace records what they write and sync. Then the data directory is
 * rebuilt as it could be after a cut at many moments (recorded-disk.ts), a daemon starts on it, and everything that was
 * acknowledged before the cut must be there.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'
import { listSpool, readSpool } from '../../src/hook/spool.ts'
import { RESERVE_BYTES } from '../../src/lib/disk-space.ts'
import type { Payload } from '../lib/payloads.ts'
import * as say from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { connect, kill, makeSandbox, processesIn, type Sandbox, spawnDaemon, until } from '../lib/sandbox.ts'
import { type LogEntry, logEntry } from './clients.ts'
import { RecordedDisk, recorder, snapshotOf } from './recorded-disk.ts'
import { contentDigest, judge, placeOf, storedContents, type Verdict } from './verdict.ts'
import { mutantEnvironment, World, workOff } from './world.ts'

/** A mutant is found by fewer. */
const CUTS_OF_MUTANT = 30
const AT_A_TIME = 3
/** Shares of the sectors and entries that survive without a sync. */
const SHARES = [0, 0, 0.1, 0.5, 0.9] as const
const START_LIMIT_MS = 60_000
const WORK_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 20_000

/** What `--sabotage` takes away in turn; each must be noticed. */
const MUTANTS = ['spool-files-unsynced', 'directories-unsynced', 'files-unsynced', 'database-unsynced']

export function canRecord(): boolean {
  // A container may forbid tracing.
  return process.platform === 'linux' && spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
}

/** An event and when it was reported, in ms. */
interface Told extends LogEntry {
  began: number
  acked: number
}

interface Recording {
  disk: RecordedDisk
  told: readonly Told[]
  /** Names of complete backups, and when they were answered. */
  backups: readonly { name: string; acked: number }[]
}

interface Cut {
  number: number
  /** In ms. */
  at: number
  seed: number
  share: number
}

export async function powerCuts(world: World): Promise<void> {
  if (!world.sabotage) {
    const recording = await record(world)
    world.figures.calls = recording.disk.size
    world.figures.cuts = world.cuts
    const verdicts = await cutAll(recording, world.random, world.cuts, () => false)
    for (const verdict of verdicts) world.found(verdict)
    return
  }
  const noticed: Verdict[] = []
  for (const mutant of MUTANTS) {
    const broken = new World('power-cut', world.random, { sabotage: false, cuts: CUTS_OF_MUTANT })
    Object.assign(broken.sandbox.env, mutantEnvironment(mutant))
    try {
      const verdicts = await cutAll(await record(broken), world.random, broken.cuts, isLoss)
      world.figures[mutant] = verdicts.filter(isLoss).length
      const loss = verdicts.find(isLoss)
      if (loss === undefined) world.failures.push(`nothing is lost with ${mutant}`)
      else noticed.push(loss)
    } finally {
      broken.remove(false)
    }
  }
  if (noticed.length === MUTANTS.length) for (const verdict of noticed) world.found(verdict)
}

const isLoss = ({ lost, altered, damage }: Verdict): boolean => lost.length + altered.length + damage.length > 0

/** Events through spool and socket, a backup, a daemon that is killed, and one that is stopped. */
async function record(world: World): Promise<Recording> {
  const { sandbox, paths } = world
  // The daemon would write it, and nobody would read it.
  writeFileSync(paths.reserve, Buffer.alloc(RESERVE_BYTES))
  const before = snapshotOf(paths.dataDir)
  before.delete(basename(paths.reserve))
  const traces = mkdtempSync(join(world.work, 'traces-'))
  sandbox.under = recorder(join(traces, 'record'))
  // Reads and writes of asynchronous files, too, are system calls of their own.
  sandbox.env.UV_USE_IO_URING = '0'
  const told: Told[] = []
  const tell = async (payload: Payload) => {
    const began = Date.now()
    const run = await world.report(payload)
    // The clock counts whole milliseconds.
    told.push({ ...logEntry(payload, run.reported), began, acked: Date.now() + 1 })
  }
  const cwd = world.directory('project')
  const turn = async (session: string, uses: number) => {
    const at = world.turn(session, cwd)
    await tell(say.userPrompt(at, `do ${at.prompt}`))
    for (let n = 0; n < uses; n++) {
      await tell(
        say.bash(at, `${at.prompt}-tool${n}`, `echo ${n}`, `result ${n}\n`.repeat(world.random.between(1, 900))),
      )
    }
    await tell(say.stop(at, `done with ${at.prompt}`))
  }
  world.holdStart()
  await turn('first', 3)
  let daemon = await world.start()
  await Promise.all([turn('first', 5), turn('second', 5)])
  const client = await world.client()
  const made = await client.call('backup', {}, START_LIMIT_MS)
  const backups = made.backups.map(({ file }) => ({ name: basename(file), acked: Date.now() + 1 }))
  client.close()
  await turn('second', 3)
  await world.kill(daemon)
  await turn('first', 4)
  daemon = await world.start()
  await Promise.all([turn('first', 6), turn('second', 6)])
  await world.stop(daemon)
  // The tracers, too, have ended and written everything.
  await until(() => processesIn(sandbox).length === 0, STOP_LIMIT_MS)
  delete sandbox.under
  const disk = new RecordedDisk(paths.dataDir, before, join(traces, 'record'))
  rmSync(traces, { recursive: true })
  return { disk, told, backups }
}

/** Every second cut follows an ack at once. Ends early when a verdict is enough. */
async function cutAll(
  recording: Recording,
  random: Random,
  count: number,
  isEnough: (verdict: Verdict) => boolean,
): Promise<Verdict[]> {
  const acks = recording.told.map(({ acked }) => acked)
  const [first, last] = [Math.min(...acks), Math.max(...acks)]
  const cuts = Array.from({ length: count }, (_, number) => ({
    number,
    at: number % 2 === 0 ? random.between(first, last + 1_500) : random.pick([first, ...acks]),
    seed: random.between(1, 2 ** 30),
    share: random.pick(SHARES),
  }))
  const verdicts: Verdict[] = []
  const work = async () => {
    for (let cut = cuts.pop(); cut !== undefined; cut = cuts.pop()) {
      const verdict = await judgeCut(recording, cut)
      verdicts.push(named(verdict, ` (cut ${cut.at - first} ms after the first ack, ${cut.share} survives)`))
      if (isEnough(verdict)) cuts.length = 0
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return verdicts
}

/** A daemon starts after every fifth cut, and after each that its files alone do not show to be good. */
async function judgeCut(recording: Recording, { number, at, seed, share }: Cut): Promise<Verdict> {
  const { disk, told, backups } = recording
  const log = told.filter(({ began }) => began <= at).map((entry) => ({ ...entry, reported: entry.acked <= at }))
  const sandbox = makeSandbox('chaos-cut')
  const { dataDir } = sandbox.paths
  const cutPower = () => disk.cut(at, { random: new Random(seed), share }, dataDir)
  try {
    cutPower()
    const damage = backups.filter(({ acked }) => acked <= at).flatMap(({ name }) => backupDamage(sandbox.paths, name))
    if (number % 5 > 0 && isKept(sandbox.paths, log)) return { ...NOTHING_FOUND, damage }
    rmSync(dataDir, { recursive: true })
    cutPower()
    const verdict = await judgeStart(sandbox, log)
    return { ...verdict, damage: [...verdict.damage, ...damage] }
  } finally {
    for (const pid of processesIn(sandbox)) kill(pid)
    sandbox.remove()
  }
}

const NOTHING_FOUND: Verdict = { lost: [], altered: [], duplicated: [], stuck: [], damage: [] }

async function judgeStart(sandbox: Sandbox, log: readonly LogEntry[]): Promise<Verdict> {
  const daemon = spawnDaemon(sandbox)
  const client = await connect(sandbox, START_LIMIT_MS)
  client?.close()
  const isDone = client !== null && (await workOff(sandbox, WORK_LIMIT_MS))
  daemon.child.kill('SIGTERM')
  if (!(await until(() => daemon.exit !== null, STOP_LIMIT_MS))) kill(daemon.pid)
  if (client === null) return { ...NOTHING_FOUND, damage: ['no daemon starts'] }
  const verdict = judge(sandbox.paths.database, log)
  return isDone ? verdict : { ...verdict, stuck: [...verdict.stuck, 'work is left'] }
}

/** Whether every reported event is whole in the spool or in a database without damage. */
function isKept(paths: World['paths'], log: readonly LogEntry[]): boolean {
  const kept = new Map<string, string | null>()
  for (const file of listSpool(paths.spool)) {
    const event = readSpool(file)
    if (event !== null && !('bad' in event)) kept.set(placeOf({ ...event, event: event.id }), contentDigest(event))
  }
  if (existsSync(paths.database)) {
    const db = new Database(paths.database)
    try {
      if (db.pragma('integrity_check', { simple: true }) !== 'ok') return false
      for (const [place, content] of storedContents(db)) kept.set(place, content)
    } catch {
      return false
    } finally {
      db.close()
    }
  }
  return log.every((entry) => {
    const content = kept.get(placeOf(entry))
    return entry.reported ? content === entry.content : content === undefined || content === entry.content
  })
}

function backupDamage({ backups }: World['paths'], name: string): string[] {
  try {
    const db = new Database(join(backups, name), { readonly: true, fileMustExist: true })
    const problems = db.pragma('integrity_check', { simple: true })
    db.close()
    return problems === 'ok' ? [] : [`the backup ${name}: ${String(problems)}`]
  } catch (error) {
    return [`the backup ${name}: ${String(error)}`]
  }
}

function named(verdict: Verdict, where: string): Verdict {
  const add = (list: readonly string[]) => list.map((item) => item + where)
  return {
    lost: add(verdict.lost),
    altered: add(verdict.altered),
    duplicated: add(verdict.duplicated),
    stuck: add(verdict.stuck),
    damage: add(verdict.damage),
  }
}
