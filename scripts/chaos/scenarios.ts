/**
 * Scenarios of `npm run chaos -- --scenario NAME`: each puts the program into one kind of trouble and goes on working.
 * At the end nothing that was reported is lost or doubled, nothing is stuck, no process is left, and no word of private,
 * excluded or forgotten text is found anywhere. With `--sabotage` each must find something.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { listSpool } from '../../src/hook/spool.ts'
import { RESERVE_BYTES } from '../../src/lib/disk-space.ts'
import type { Fault } from '../../test/observer/servers/fault.ts'
import { git, repository } from '../../test/support/repository.ts'
import * as say from '../lib/payloads.ts'
import { type DaemonProcess, daemonStatus, isAlive, servingPid, until } from '../lib/sandbox.ts'
import { ChaosModel } from './clients.ts'
import { canRecord, powerCuts } from './power-cut.ts'
import type { World } from './world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export interface Scenario {
  about: string
  /** With `--sabotage` it breaks something else, so its daemons drop no commits. */
  sabotagesItself?: boolean
  /** Why it cannot run on this machine; null if it can. */
  unavailable?: () => string | null
  run: (world: World) => Promise<void>
}

export const SCENARIOS: Record<string, Scenario> = {
  'full-disk': {
    about: 'the disk is full, nearly full, and free again',
    unavailable: () => (canMount() ? null : 'it needs a small tmpfs, which only root on Linux can mount'),
    run: fullDisk,
  },
  spool: { about: 'unreadable and poisoned files in the spool', run: poisonedSpool },
  clock: { about: 'the clock jumps by hours, both ways, while sessions wait for a provider', run: clockJumps },
  damage: { about: 'pages of the database are overwritten, at rest and at work', run: damagedPages },
  'directory-removed': {
    about: 'the data directory is removed or moved under a running daemon',
    run: removedDirectory,
  },
  'provider-down': { about: 'the provider fails for hours, the daemon is killed meanwhile', run: providerDown },
  private: {
    about: 'private turns with late events, excluded projects, forgotten memories, at every door',
    sabotagesItself: true,
    run: privateTurns,
  },
  'power-cut': {
    about: 'the power is cut: what was not synced is gone, as a whole or in part',
    sabotagesItself: true,
    unavailable: () =>
      canRecord() ? null : 'it needs Linux and strace, allowed to trace: install the package "strace"',
    run: powerCuts,
  },
  'hostile-repository': {
    about: 'repositories with special files and claimed identities',
    sabotagesItself: true,
    run: hostileRepositories,
  },
}

interface Session {
  id: string
  cwd: string
}

/** One turn with a prompt, tool uses and its end, reported by hooks one after the other. */
async function work(world: World, { id, cwd }: Session, uses = 3, keep: boolean | 'maybe' = true): Promise<void> {
  const turn = world.turn(id, cwd)
  await world.report(say.userPrompt(turn, `do ${turn.prompt}`), keep)
  for (let n = 0; n < uses; n++) {
    await world.report(say.bash(turn, `${turn.prompt}-tool${n}`, `echo ${n}`, `result ${n} of ${turn.prompt}`), keep)
  }
  await world.report(say.stop(turn, `done with ${turn.prompt}`), keep)
}

function sessionsIn(world: World, count: number, name = 'project'): Session[] {
  const cwd = world.directory(name)
  return Array.from({ length: count }, (_, n) => ({ id: `${name}-session-${n}`, cwd }))
}

async function workAll(
  world: World,
  sessions: readonly Session[],
  uses = 3,
  keep: boolean | 'maybe' = true,
): Promise<void> {
  await Promise.all(sessions.map((session) => work(world, session, uses, keep)))
}

function canMount(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0
}

/** Size of the small disk. */
const DISK_MB = 64

async function fullDisk(world: World): Promise<void> {
  const { dataDir } = world.paths
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'claude-mem-chaos', dataDir])
  try {
    world.restoreDirectory()
    const ballast = join(dataDir, 'ballast')
    const sessions = sessionsIn(world, 2)
    world.holdStart()
    let daemon = await startWithReserve(world)
    await workAll(world, sessions)
    // So little is free that a backup would take the last of it.
    fill(ballast, 600_000)
    await refusedOrKept(world)
    await workAll(world, sessions)
    rmSync(ballast)
    await reserveExists(world)
    fill(ballast, 0)
    await workAll(world, sessions)
    await world.kill(daemon)
    rmSync(ballast)
    daemon = await startWithReserve(world)
    await world.kill(daemon)
    fill(ballast, 0)
    // No daemon and no space: the spool takes the reserve.
    await workAll(world, sessions, 2)
    fill(ballast, 0)
    const last = world.turn('told-session', world.work)
    const { stdout } = await world.report(say.userPrompt(last, 'x'.repeat(20_000)), 'maybe')
    if (!stdout.includes('systemMessage')) world.failures.push('nobody is told that an event could not be kept')
    rmSync(ballast)
    await world.start()
    await workAll(world, sessions)
    await world.finish()
  } finally {
    spawnSync('umount', ['-l', dataDir])
  }
}

async function startWithReserve(world: World): Promise<DaemonProcess> {
  const daemon = await world.start()
  await reserveExists(world)
  return daemon
}

/** The daemon keeps some space for events, and makes the file again when the disk has room. */
async function reserveExists(world: World): Promise<void> {
  const { reserve } = world.paths
  // The daemon looks once a minute.
  world.advanceClock(2 * MINUTE_MS)
  const whole = () => (statSync(reserve, { throwIfNoEntry: false })?.size ?? 0) >= RESERVE_BYTES
  if (!(await until(whole, 100_000, 100))) world.failures.push('the daemon keeps no space in reserve')
}

/** A backup on a nearly full disk fails with a clear error, or fits. */
async function refusedOrKept(world: World): Promise<void> {
  const client = await world.client()
  await client.call('backup', {}, 20_000).catch((error: unknown) => {
    if (!/space/i.test(String(error))) world.failures.push(`the backup failed with an unclear error: ${String(error)}`)
  })
  client.close()
}

/** Writes a file until only `leave` bytes are free. */
function fill(file: string, leave: number): void {
  const fd = openSync(file, 'a')
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(file)
      const room = bavail * bsize - leave
      if (room <= 0) return
      writeSync(fd, Buffer.alloc(Math.min(room, 1_000_000), 1))
    }
  } catch {
    // The disk is full.
  } finally {
    closeSync(fd)
  }
}

async function poisonedSpool(world: World): Promise<void> {
  const sessions = sessionsIn(world, 3)
  world.holdStart()
  mkdirSync(world.paths.spool, { recursive: true, mode: 0o700 })
  // Hooks without a daemon write to the spool, between files that no hook wrote.
  poison(world, '000')
  await workAll(world, sessions)
  poison(world, '999')
  const daemon = await world.start()
  await workAll(world, sessions)
  poison(world, '001')
  await workAll(world, sessions)
  await world.workOff(15_000)
  // What cannot be used is set aside: it does not come back at each tick.
  const left = () => listSpool(world.paths.spool).filter((file) => !file.includes('newer'))
  if (!world.sabotage && !(await until(() => left().length === 0, 20_000, 100))) {
    world.failures.push(`still in the spool: ${left().join(', ')}`)
  }
  await world.kill(daemon)
}

/** Files in the spool that are not events, or no good ones. Their names sort before or after those of hooks. */
function poison(world: World, prefix: string): void {
  const { spool } = world.paths
  const at = (name: string) => join(spool, `${prefix}-${name}.json`)
  const event = (fields: Record<string, unknown>) => ({
    v: 1,
    event: { ...say.eventOf(say.userPrompt(world.turn('poison', world.work), 'a poisoned prompt')), ...fields },
  })
  mkdirSync(at('directory'), { recursive: true })
  spawnSync('mkfifo', [at('fifo')])
  symlinkSync('/dev/zero', at('zero'))
  symlinkSync(at('nothing'), at('loop'))
  writeFileSync(at('empty'), '')
  writeFileSync(at('half'), JSON.stringify(event({})).slice(0, 80))
  writeFileSync(at('binary'), randomBytes(5_000))
  writeFileSync(at('deep'), `${'['.repeat(100_000)}${']'.repeat(100_000)}`)
  writeFileSync(at('no-session'), JSON.stringify(event({ session: '' })))
  writeFileSync(at('no-kind'), JSON.stringify(event({ kind: 'gossip' })))
  writeFileSync(at('locked'), JSON.stringify(event({ session: 7 })), { mode: 0o000 })
  const huge = openSync(at('huge'), 'w')
  ftruncateSync(huge, 200 * 1024 * 1024)
  closeSync(huge)
}

async function clockJumps(world: World): Promise<void> {
  const model = await ChaosModel.listen()
  try {
    // After a jump of hours a daemon may find that it was idle for so long and leave, as after a night; here none may start.
    world.useModel(model, { CLAUDE_MEM_IDLE_EXIT_MINUTES: '0' })
    const sessions = sessionsIn(world, 2)
    world.holdStart()
    world.setClock(0)
    const daemon = await world.start()
    await workAll(world, sessions)
    for (const hours of [-6, 3, -30, 20, 0]) {
      // Sessions wait for the provider when the clock jumps.
      model.fail({ fault: 'status', status: 429, retryAfterSeconds: 20 })
      await workAll(world, sessions, 2)
      await until(() => model.failed > 0, 10_000)
      world.setClock(hours * HOUR_MS)
      model.recover()
      await workAll(world, sessions, 2)
      if (!(await idle(world, 45_000))) world.failures.push(`work stalls after the clock jumped to ${hours} h`)
    }
    await world.kill(daemon)
    world.setClock(0)
    await world.finish()
  } finally {
    await model.close()
  }
}

/** Whether everything is observed within a limit, without a flush by hand. */
async function idle(world: World, limitMs: number): Promise<boolean> {
  return await until(
    async () => {
      const { queue, spooled } = await daemonStatus(world.sandbox)
      return queue.pending + queue.processing + spooled === 0
    },
    limitMs,
    200,
  )
}

async function damagedPages(world: World): Promise<void> {
  const sessions = sessionsIn(world, 4)
  world.holdStart()
  let daemon = await world.start()
  await workAll(world, sessions, 6)
  await world.workOff()
  await backup(world)
  // May be on a page that is overwritten.
  await workAll(world, sessions, 2, 'maybe')
  await world.kill(daemon)
  overwrite(world, 'sdk_sessions', 1)
  daemon = await world.start()
  await workAll(world, sessions, 2)
  await world.workOff()
  await backup(world)
  overwrite(world, 'events', 3)
  overwrite(world, 'user_prompts', 3)
  overwrite(world, 'sdk_sessions', 3)
  // Until the daemon notices.
  await workAll(world, sessions, 2, 'maybe')
  await until(() => recovered(world, 2), 60_000, 100)
  await workAll(world, sessions, 2)
  await world.kill(daemon)
}

async function backup(world: World): Promise<void> {
  const client = await world.client()
  await client.call('backup', {}, 30_000)
  client.close()
}

/** Whether at least so many damaged files were set aside. */
function recovered(world: World, times: number): boolean {
  const names = execFileSync('ls', [world.paths.dataDir], { encoding: 'utf8' }).split('\n')
  return names.filter((name) => /\.corrupt-[^.]*$/.test(name) && !/-(wal|shm)$/.test(name)).length >= times
}

/** Overwrites leaf pages of a table in the file. */
function overwrite(world: World, table: string, count: number): void {
  const db = new Database(world.paths.database)
  db.pragma('wal_checkpoint(TRUNCATE)')
  const pageSize = Number(db.pragma('page_size', { simple: true }))
  const pages = db
    .prepare<[string], number>(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno`)
    .pluck()
    .all(table)
  db.close()
  const fd = openSync(world.paths.database, 'r+')
  for (const page of world.random.shuffled(pages).slice(0, count)) {
    writeSync(fd, randomBytes(pageSize), 0, pageSize, (page - 1) * pageSize)
  }
  closeSync(fd)
}

async function removedDirectory(world: World): Promise<void> {
  const { dataDir } = world.paths
  const sessions = sessionsIn(world, 2)
  for (const way of ['removed', 'moved'] as const) {
    world.releaseStart()
    // A hook starts the daemon, as on a user's machine; a sabotaged one is started by hand.
    if (world.sabotage) await world.start()
    await workAll(world, sessions, 2, 'maybe')
    const pid = await servingPid(world.sandbox, 20_000)
    const { port } = await daemonStatus(world.sandbox)
    if (way === 'removed') rmSync(dataDir, { recursive: true, force: true })
    else renameSync(dataDir, join(world.work, 'moved'))
    if (pid !== null && !(await until(() => !isAlive(pid), 20_000, 100))) {
      world.failures.push(`the daemon goes on though its data directory was ${way}`)
      process.kill(pid, 'SIGKILL')
    }
    // The threads of a process may end a moment after its first one.
    if (port !== null && !(await until(() => isFree(port), 5_000, 100))) {
      world.failures.push(`port ${port} is still taken`)
    }
    if (existsSync(dataDir)) world.failures.push(`the daemon made its directory again after it was ${way}`)
    world.log.length = 0
    world.restoreDirectory()
  }
  if (world.sabotage) await world.start()
  await workAll(world, sessions, 3)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Hours of the outage, and how far the clock moves at a time. */
const OUTAGE_HOURS = 5
const STEP_MS = 10 * MINUTE_MS
/** More calls than this in the outage would be a flood. */
const MAX_CALLS_IN_OUTAGE = 200

async function providerDown(world: World): Promise<void> {
  const model = await ChaosModel.listen()
  try {
    world.useModel(model, { CLAUDE_MEM_IDLE_EXIT_MINUTES: '30' })
    const sessions = sessionsIn(world, 3)
    world.holdStart()
    world.setClock(0)
    let daemon = await world.start()
    await workAll(world, sessions)
    for (let at = 0, step = 0; at < OUTAGE_HOURS * HOUR_MS; at += STEP_MS, step++) {
      model.fail(
        world.random.pick<Fault>([
          { fault: 'status', status: 429, retryAfterSeconds: 3_600 },
          { fault: 'status', status: 529 },
          { fault: 'reset' },
          { fault: 'html', status: 502 },
        ]),
      )
      world.setClock(at)
      if (step % 5 === 0) await workAll(world, sessions, 1)
      await sleep(1_200)
      if (daemon.exit !== null) {
        world.failures.push(`the daemon left after ${at / MINUTE_MS} min though messages wait`)
        daemon = await world.start()
      } else if (step % 10 === 9) {
        await world.kill(daemon)
        daemon = await world.start()
      }
    }
    world.figures.calls_in_outage = model.failed
    if (model.failed > MAX_CALLS_IN_OUTAGE) world.failures.push(`${model.failed} calls during the outage`)
    model.recover()
    world.setClock((OUTAGE_HOURS + 3) * HOUR_MS)
    if (!(await idle(world, 60_000))) world.failures.push('work is left after the provider came back')
    await world.kill(daemon)
    await world.finish()
  } finally {
    await model.close()
  }
}

async function privateTurns(world: World): Promise<void> {
  const cwd = world.directory('project')
  const session = 'private-session'
  // Sabotage: the words are not marked as private, so they are kept.
  const hide = (text: string) => (world.sabotage ? text : `<private>${text}</private>`)
  world.configure({ CLAUDE_MEM_EXCLUDED_PROJECTS: world.directory('excluded') })
  let daemon = await world.start()
  const open = world.turn(session, cwd)
  await world.report(say.userPrompt(open, 'an open prompt'))
  await world.report(say.bash(open, 'open-tool', 'echo', 'an open result'))
  await world.report(say.stop(open, 'an open answer'))
  const closed = world.turn(session, cwd)
  const secret = (what: string) => world.marker(what)
  const keep = world.sabotage ? 'maybe' : false
  await world.report(say.userPrompt(closed, hide(`remember ${secret('prompt')}`)), 'maybe')
  await world.report(say.bash(closed, 'private-tool', `echo ${secret('command')}`, secret('output')), keep)
  const next = world.turn(session, cwd)
  await world.report(say.userPrompt(next, 'the next prompt'))
  // The background agent of the private turn goes on.
  await world.report(say.bash(closed, 'late-tool', `echo ${secret('latecommand')}`, secret('lateoutput')), keep)
  await world.report(say.subagentStop(closed, `found ${secret('subagent')}`), keep)
  await world.kill(daemon)
  world.holdStart()
  // Without a daemon: to the spool.
  await world.report(say.bash(closed, 'later-tool', `cat ${secret('spoolcommand')}`, secret('spooloutput')), keep)
  await world.report(say.stop(closed, `did ${secret('answer')}`), keep)
  await world.report(say.bash(next, 'next-tool', 'echo', `half open ${hide(secret('part'))}`))
  daemon = await world.start()
  await rawEvents(world, cwd, hide)
  const excluded = world.turn('excluded-session', world.sabotage ? cwd : world.directory('excluded'))
  await world.report(say.userPrompt(excluded, `do ${secret('excludedprompt')}`), keep)
  await world.report(say.bash(excluded, 'excluded-tool', 'echo', secret('excludedoutput')), keep)
  await world.report(say.stop(next, 'the next answer'))
  await forgotten(world, cwd)
  await world.workOff()
  await world.kill(daemon)
  world.releaseStart()
}

/** Events that no hook cleaned, over the socket and over HTTP. */
async function rawEvents(world: World, cwd: string, hide: (text: string) => string): Promise<void> {
  const turn = world.turn('raw-session', cwd)
  const base = say.eventOf(say.userPrompt(turn, 'x'))
  const client = await world.client()
  const prompt = {
    ...base,
    kind: 'prompt' as const,
    text: `open words ${hide(world.marker('socketprompt'))}`,
    private: false,
  }
  await client.call('event', { event: prompt, version: '' })
  world.expect(say.userPrompt(turn, 'x'), !world.sabotage, false)
  const { port } = (await client.call('status', {})).status
  client.close()
  if (port === null) return
  const token = execFileSync('cat', [world.paths.token], { encoding: 'utf8' }).trim()
  const { text: _text, private: _private, ...rest } = prompt
  const use = say.bash(turn, 'rest-tool', 'echo', 'x')
  const body = { ...rest, id: 'rest-tool', kind: 'tool_use', tool: 'Bash', durationMs: 1, input: { command: 'echo' } }
  const response = { stdout: `a ${hide(world.marker('restoutput'))} b`, stderr: '' }
  const answer = await fetch(`http://127.0.0.1:${port}/api/sessions/observations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, response }),
  })
  if (!answer.ok) world.failures.push(`REST refused an event: ${answer.status} ${await answer.text()}`)
  world.expect(use, true, false)
}

/** Memories that were written, backed up, and forgotten everywhere. */
async function forgotten(world: World, cwd: string): Promise<void> {
  const turn = world.turn('forgotten-session', cwd)
  const word = world.marker('forgotten')
  await world.report(say.userPrompt(turn, `do ${word}`), 'maybe')
  await world.report(say.bash(turn, 'forgotten-tool', `echo ${word}`, word), 'maybe')
  await world.report(say.stop(turn, `did ${word}`), 'maybe')
  await world.workOff()
  await backup(world)
  if (world.sabotage) return
  const { code, stderr } = world.cli('forget', '--session', turn.session, '--kind', 'all', '--everywhere', '--yes')
  if (code !== 0) world.failures.push(`forget failed: ${stderr}`)
  world.ignore(turn.session)
}

async function hostileRepositories(world: World): Promise<void> {
  const victim = repository(world.directory('victim'))
  git(victim, 'remote', 'add', 'origin', VICTIM_REMOTE)
  const known = { id: 'victim-session', cwd: victim }
  const daemon = await world.start()
  // The victim's own memory stays; it must not reach another directory.
  const word = `victimword${world.random.between(1e8, 9e8)}`
  const turn = world.turn(known.id, victim)
  await world.report(say.sessionStart(turn))
  await world.report(say.userPrompt(turn, `do ${word}`))
  await world.report(say.bash(turn, 'victim-tool', `echo ${word}`, word))
  await world.report(say.stop(turn, `did ${word}`))
  await world.workOff()
  const hostile = hostileDirectories(world, victim)
  for (const [name, cwd] of Object.entries(hostile)) {
    const attack = world.turn(`hostile-${name}`, cwd)
    const { stdout } = await world.report(say.sessionStart(attack))
    if (stdout.includes(word)) world.leak(`${name} received the memory of another project`)
    await world.report(say.userPrompt(attack, `plant ${name}`))
    await world.report(say.edit(attack, `${name}-tool`, join(cwd, 'a.ts')))
    await world.report(say.stop(attack, `planted by ${name}`))
  }
  await world.workOff()
  const { stdout } = await world.report(say.sessionStart(world.turn('victim-next', victim)))
  for (const name of Object.keys(hostile)) {
    if (stdout.includes(`planted by ${name}`) || stdout.includes(`plant ${name}`)) {
      world.leak(`${name} wrote into the memory of another project`)
    }
  }
  await world.stop(daemon)
}

const VICTIM_REMOTE = 'https://github.com/acme/victim.git'

/** Directories as an archive could contain them. Sabotage: a real worktree of the victim, which shares its memory. */
function hostileDirectories(world: World, victim: string): Record<string, string> {
  if (world.sabotage) {
    const worktree = join(world.work, 'worktree')
    git(victim, 'worktree', 'add', '--quiet', worktree)
    return { worktree }
  }
  const make = (name: string, build: (directory: string) => void): [string, string] => {
    const directory = world.directory(name)
    build(directory)
    return [name, directory]
  }
  const plain = (directory: string) => {
    mkdirSync(join(directory, '.git', 'logs'), { recursive: true })
    writeFileSync(join(directory, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  }
  const fifo = (path: string) => spawnSync('mkfifo', [path])
  const claiming = (directory: string) => {
    repository(directory)
    git(directory, 'remote', 'add', 'origin', VICTIM_REMOTE)
    git(directory, 'update-ref', '--no-deref', 'refs/heads/claimed', 'HEAD')
    writeFileSync(join(directory, '.git', 'refs', 'heads', 'claimed'), git(victim, 'rev-parse', 'HEAD'))
  }
  const objects = (directory: string) => join(directory, '.git', 'objects')
  return Object.fromEntries([
    make('remote', claiming),
    make('alternates', (at) => {
      claiming(at)
      mkdirSync(join(objects(at), 'info'), { recursive: true })
      writeFileSync(join(objects(at), 'info', 'alternates'), `${objects(victim)}\n${objects(at)}\n`)
    }),
    make('linked-objects', (at) => {
      claiming(at)
      rmSync(objects(at), { recursive: true })
      symlinkSync(objects(victim), objects(at))
    }),
    make('fifo-config', (at) => {
      claiming(at)
      rmSync(join(at, '.git', 'config'))
      fifo(join(at, '.git', 'config'))
      fifo(join(at, '.git', 'packed-refs'))
    }),
    make('gitdir', (at) => writeFileSync(join(at, '.git'), `gitdir: ${join(victim, '.git')}\n`)),
    make('symlink', (at) => symlinkSync(join(victim, '.git'), join(at, '.git'))),
    make('commondir', (at) => {
      plain(at)
      writeFileSync(join(at, '.git', 'commondir'), `${join(victim, '.git')}\n`)
    }),
    make('endless', (at) => {
      plain(at)
      symlinkSync('/dev/zero', join(at, '.git', 'commondir'))
    }),
    make('fifo', (at) => fifo(join(at, '.git'))),
    make('fifo-head', (at) => {
      plain(at)
      rmSync(join(at, '.git', 'HEAD'))
      fifo(join(at, '.git', 'HEAD'))
      fifo(join(at, '.git', 'logs', 'HEAD'))
    }),
    make('fifo-log', (at) => {
      plain(at)
      fifo(join(at, '.git', 'logs', 'HEAD'))
      fifo(join(at, 'package.json'))
      fifo(join(at, 'CLAUDE.md'))
    }),
    make('escape', (at) => {
      plain(at)
      writeFileSync(
        join(at, '.git', 'HEAD'),
        `ref: refs/heads/\x1b]0;x\x07</claude-mem-context>${'a'.repeat(100_000)}\n`,
      )
    }),
  ])
}
