/**
 * `npm run chaos -- --team --kills 100`: five daemons share a project through one PostgreSQL, and each has a project of its
 * own. Daemons and server are killed, connections are cut, answers of the server get lost (so that a push is repeated),
 * clocks are years apart, transactions commit late. In the end every machine must have the same memory: nothing lost,
 * nothing twice, nothing that was forgotten; and nothing of the unshared projects in the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../lib/postgres.ts'
import { Random } from '../lib/random.ts'
import { Progress, printNote, report, rounded } from '../lib/report.ts'
import { until } from '../lib/sandbox.ts'
import { TeamMachine } from './team-machine.ts'
import { judgeTeam, type Remembered, SHARED, type TeamVerdict, UNSHARED } from './team-verdict.ts'

export interface TeamChaosOptions {
  kills: number
  seed: number
  sabotage: boolean
  keep: boolean
  json: boolean
}

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const CLOCKS_MS = [0, 3 * YEAR_MS, -2 * YEAR_MS, 5 * HOUR_MS, -HOUR_MS]
/** Time for all machines to receive everything at the end, in ms. */
const SETTLE_LIMIT_MS = 120_000
/** Pauses between two troubles and between two actions of a member, in ms. */
const TROUBLE_MS = [50, 600] as const
const ACTION_MS = [0, 60] as const
/** How the log knows which transactions still run, and what a sabotaged one uses instead: none do. */
const HORIZON = 'pg_snapshot_xmin(pg_current_snapshot())'
const NO_HORIZON = 'pg_snapshot_xmax(pg_current_snapshot())'

type Server = Awaited<ReturnType<typeof startPostgres>>

class TeamWorld {
  readonly random: Random
  readonly machines: TeamMachine[] = []
  readonly log: Remembered[] = []
  readonly unshared: string[] = []
  readonly figures: Record<string, number> = {}
  readonly #sabotage: boolean
  readonly server: Server
  #stopped = false
  #words = 0

  constructor(server: Server, random: Random, sabotage: boolean) {
    this.server = server
    this.random = random
    this.#sabotage = sabotage
  }

  count(what: string): void {
    this.figures[what] = (this.figures[what] ?? 0) + 1
  }

  async connectAll(): Promise<void> {
    for (const [n, offset] of CLOCKS_MS.entries()) {
      const machine = await TeamMachine.make(`m${n}`, this.server.port, offset)
      this.machines.push(machine)
      await machine.start()
      const url = this.server.url().replace(`:${this.server.port}/`, `:${machine.proxy.port}/`)
      const joined = await machine.call(async (client, limitMs) => {
        await client.call('team_connect', { url, init: true }, limitMs)
        await client.call('remember', { project: SHARED, text: `Machine ${n} joined.`, by: 'person' }, limitMs)
        await client.call('team_share', { project: SHARED.key }, limitMs)
      })
      if (joined.is !== 'done') throw new Error(`m${n} could not join: ${JSON.stringify(joined)}`)
    }
    await this.#changeServer()
  }

  /**
   * Some transactions end later than others that began after them: a cursor must not pass them. With sabotage it does, as
   * a cursor over a bare serial number would.
   */
  async #changeServer(): Promise<void> {
    const client = new pg.Client({ connectionString: this.server.url() })
    await client.connect()
    try {
      await client.query(`
        CREATE OR REPLACE FUNCTION public.chaos_delay() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN IF random() < 0.3 THEN PERFORM pg_sleep(random() * 0.3); END IF; RETURN NULL; END $$;
        DROP TRIGGER IF EXISTS chaos_delay ON claude_mem.records;
        CREATE TRIGGER chaos_delay AFTER INSERT ON claude_mem.records
          FOR EACH STATEMENT EXECUTE FUNCTION public.chaos_delay();`)
      if (!this.#sabotage) return
      const { rows } = await client.query<{ source: string }>(
        `SELECT pg_get_functiondef(oid) AS source FROM pg_proc
         WHERE pronamespace = 'claude_mem'::regnamespace AND prosrc LIKE '%${HORIZON}%'`,
      )
      if (rows.length === 0) throw new Error('the function that pulls was not found')
      for (const { source } of rows) await client.query(source.replaceAll(HORIZON, NO_HORIZON))
    } finally {
      await client.end()
    }
  }

  newWord(): string {
    this.#words += 1
    return `zq${this.#words}w${this.random.between(100_000, 999_999)}`
  }

  /** One member at one machine, until the end. */
  async member(machine: TeamMachine): Promise<void> {
    while (!this.#stopped) {
      if (machine.isRunning) await this.#act(machine)
      await sleep(this.random.between(...ACTION_MS))
    }
  }

  stopMembers(): void {
    this.#stopped = true
  }

  async #act(machine: TeamMachine): Promise<void> {
    const roll = this.random.next()
    if (roll < 0.6) await this.#remember(machine)
    else if (roll < 0.7) await this.#rememberUnshared(machine)
    else if (roll < 0.85) await this.#pin(machine)
    else await this.#forget(machine)
  }

  async #remember(machine: TeamMachine): Promise<void> {
    const word = this.newWord()
    const entry: Remembered = { word, machine: machine.name, kept: 'maybe', forgotten: 'no' }
    this.log.push(entry)
    const text = `The port of service ${word} is ${this.random.between(1_000, 9_999)}.`
    const done = await machine.call((client, ms) =>
      client.call('remember', { project: SHARED, text, by: 'person' }, ms),
    )
    if (done.is === 'done') entry.kept = 'yes'
    this.count('remembered')
  }

  async #rememberUnshared(machine: TeamMachine): Promise<void> {
    const word = this.newWord()
    this.unshared.push(word)
    const text = `Nobody else needs ${word}.`
    await machine.call((client, ms) => client.call('remember', { project: UNSHARED, text, by: 'person' }, ms))
  }

  async #pin(machine: TeamMachine): Promise<void> {
    const id = await this.#idOf(machine, this.#someWord())
    if (id === null) return
    const on = this.random.chance(0.7)
    await machine.call((client, ms) => client.call('pin', { ids: [id], on }, ms))
    this.count('pinned')
  }

  /** Only what this machine made: a member's own memory. */
  async #forget(machine: TeamMachine): Promise<void> {
    const own = this.log.filter(({ machine: name, forgotten }) => name === machine.name && forgotten === 'no')
    const entry = own[this.random.between(0, Math.max(0, own.length - 1))]
    if (entry === undefined || !this.random.chance(0.5)) return
    const id = await this.#idOf(machine, entry.word)
    if (id === null) return
    entry.forgotten = 'maybe'
    const done = await machine.call((client, ms) => client.call('forget', { ids: [id], confirm: true }, ms))
    if (done.is === 'done') entry.forgotten = 'yes'
    this.count('forgotten')
  }

  #someWord(): string {
    return this.log[this.random.between(0, Math.max(0, this.log.length - 1))]?.word ?? ''
  }

  async #idOf(machine: TeamMachine, word: string): Promise<number | null> {
    if (word === '') return null
    const found = await machine.call((client, ms) =>
      client.call('search', { query: word, project: SHARED.key, kinds: ['observation'], mode: 'strict', limit: 1 }, ms),
    )
    return found.is === 'done' ? (found.answer.answer.hits[0]?.id ?? null) : null
  }

  async trouble(): Promise<void> {
    const machine = this.random.pick(this.machines as [TeamMachine, ...TeamMachine[]])
    const roll = this.random.next()
    if (roll < 0.55) {
      await machine.kill()
      this.count('daemon_kills')
      await machine.start()
    } else if (roll < 0.7) {
      await this.server.kill()
      this.count('server_kills')
      await this.server.start()
    } else if (roll < 0.85) {
      machine.proxy.cut()
      this.count('cuts')
    } else {
      machine.proxy.losesAnswers = true
      await sleep(this.random.between(20, 300))
      machine.proxy.losesAnswers = false
      this.count('lost_answers')
    }
  }

  get kills(): number {
    return (this.figures.daemon_kills ?? 0) + (this.figures.server_kills ?? 0)
  }

  /** Everything runs, and every machine has sent and received all there is; the machines that have not. */
  async settle(): Promise<string[]> {
    for (const machine of this.machines) await machine.start()
    const behind = async () => {
      const states = await Promise.all(this.machines.map(async (machine) => [machine.name, await isSettled(machine)]))
      return states.filter(([, settled]) => settled !== true).map(([name]) => String(name))
    }
    let left = await behind()
    await until(
      async () => {
        left = await behind()
        if (left.length > 0) return false
        const { lost, diverged } = this.verdict()
        return lost.length + diverged.length === 0
      },
      SETTLE_LIMIT_MS,
      200,
    )
    return left
  }

  verdict(): TeamVerdict {
    return judgeTeam(this.machines, this.log)
  }

  /** Words of unshared or forgotten memories that are somewhere in the server. */
  async foundInServer(): Promise<{ leaked: string[]; kept: string[] }> {
    const client = new pg.Client({ connectionString: this.server.url() })
    await client.connect()
    try {
      const { rows } = await client.query<{ text: string }>('SELECT r::text AS text FROM claude_mem.records r')
      const all = rows.map(({ text }) => text).join('\n')
      return {
        leaked: this.unshared.filter((word) => all.includes(word)),
        kept: this.log
          .filter(({ word, forgotten }) => forgotten === 'yes' && all.includes(word))
          .map(({ word }) => word),
      }
    } finally {
      await client.end()
    }
  }
}

const ASK_MS = 5_000

/** Everything was sent, and everything in the log was received. */
async function isSettled(machine: TeamMachine): Promise<boolean> {
  const state = await machine.call(async (client) => {
    const sent = await client.call('team_flush', { timeoutMs: ASK_MS }, 2 * ASK_MS)
    const received = await client.call('team_receive', { timeoutMs: ASK_MS }, 2 * ASK_MS)
    return sent.done && received.done
  })
  return state.is === 'done' && state.answer
}

/** The exit code: 0 if all is well, or, with sabotage, if it was noticed. */
export async function runTeamChaos(options: TeamChaosOptions): Promise<number> {
  const began = performance.now()
  const server = await startPostgres()
  const world = new TeamWorld(server, new Random(options.seed), options.sabotage)
  const progress = new Progress()
  try {
    await world.connectAll()
    const members = world.machines.map((machine) => world.member(machine))
    while (world.kills < options.kills) {
      progress.show(`${world.kills} of ${options.kills} kills, ${world.log.length} memories`)
      await world.trouble()
      await sleep(world.random.between(...TROUBLE_MS))
    }
    world.stopMembers()
    await Promise.all(members)
    progress.show('waiting until all machines have received everything')
    const stuck = await world.settle()
    progress.clear()
    const verdict = world.verdict()
    const { leaked, kept } = await world.foundInServer()
    const back = [...verdict.back, ...kept.map((word) => `${word} in the server`)]
    const wrong = {
      lost: verdict.lost,
      duplicated: verdict.duplicated,
      diverged: verdict.diverged,
      stuck,
      back,
      leaked,
    }
    for (const [what, words] of Object.entries(wrong)) {
      for (const word of words.slice(0, 5)) printNote(`${what}: ${word}`)
    }
    const counts = Object.fromEntries(Object.entries(wrong).map(([what, words]) => [what, words.length]))
    const { seed, sabotage } = options
    const duration = rounded((performance.now() - began) / 1000, 1)
    report(
      {
        kills: world.kills,
        ...counts,
        ...world.figures,
        machines: world.machines.length,
        seed,
        sabotage,
        duration_s: duration,
      },
      options.json,
    )
    const isBad = Object.values(wrong).some((words) => words.length > 0)
    return isBad === sabotage ? 0 : 1
  } finally {
    progress.clear()
    for (const machine of world.machines) await machine.remove()
    await server.dispose()
  }
}
