/**
 * Three machines with a real database each, and a shared log that is an array. Whatever they do, and in whatever batches
 * the records come, all three have the same memory in the end, and what was forgotten on one is in no file of any.
 */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OBSERVATIONS_ONLY } from '../../src/domain/search-query.ts'
import type { ReceivedRecord } from '../../src/domain/team-record.ts'
import { openSearchDatabase } from '../../src/store/sqlite/search-reader.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from './place.ts'
import { commitOf, NOW, observationOf, passageOf, stateOf } from './samples.ts'
import { EVEN_WEIGHTS } from './search/place.ts'

const KEY = 'repo:example.org/me/shop'
const EMBEDDER = 'test'

const OPS = [
  'remember',
  'remember',
  'remember_in_path',
  'correct',
  'pin',
  'unpin',
  'link',
  'unlink',
  'resolve',
  'rename',
  'forget',
  'erase_session',
  'merge_project',
  'retention',
  'push',
  'push',
  'deliver',
  'deliver',
  'deliver',
] as const

interface Step {
  op: (typeof OPS)[number]
  machine: number
  /** Choose among what there is; the size of a batch. */
  a: number
  b: number
}

/** Few choices, so that several steps are about the same memory. */
const small = fc.nat({ max: 8 })
const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom(...OPS),
  machine: fc.nat({ max: 2 }),
  a: small,
  b: small,
})

/** The only word of a memory that no other has: letters, so that the index has it as one word. */
function wordOf(number: number): string {
  const letters = [...String(number).padStart(5, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('')
  return `zyx${letters}wvu`
}

/** A vector that no other memory has. */
function vectorOf(word: string): Float32Array {
  return Float32Array.from([...word].map((letter, i) => letter.charCodeAt(0) / 128 + i))
}

const NO_PASSAGES = {
  payloadDays: 30,
  payloadBytes: 1e9,
  passageDays: 0,
  passageBytes: 0,
  traceDays: 30,
  tracePerSession: 1_000,
  observerTurnDays: 30,
}

class Machine {
  readonly name: string
  readonly here: Place
  readonly store: SqliteStore
  /** How many records of each machine it has received. */
  readonly received = [0, 0, 0]
  readonly pushed: ReceivedRecord[] = []
  #session = 0

  constructor(name: string, here: Place, store: SqliteStore) {
    this.name = name
    this.here = here
    this.store = store
  }

  get session(): string {
    return `${this.name}-${this.#session}`
  }

  startSession(): void {
    this.#session += 1
  }

  /** Each in a turn of its own. */
  remember(word: string, at: number, key: string, supersedes: readonly number[] = []): void {
    const session = key === KEY ? this.session : `${this.name}-path`
    const project = { key, name: 'shop' }
    const revision = (this.store.session(session)?.revision ?? 0) + 1
    const observation = observationOf([], {
      title: `About ${word}`,
      narrative: `It is ${word}.`,
      facts: [`the fact ${word}`],
      promptNumber: revision,
      createdAt: at,
      contentHash: word,
      status: at % 3 === 0 ? 'open' : null,
      links: supersedes.map((to) => ({ to, kind: 'supersedes', by: 'model' })),
    })
    const passages = [passageOf(`words ${word}`, { eventId: word, promptNumber: revision, at })]
    const state = stateOf({ project, prompts: revision })
    const [result] = this.store.commit([
      commitOf(session, revision, { at, state, observations: [observation], passages }),
    ])
    if (result?.ok !== true) throw new Error(`not stored: ${JSON.stringify(result)}`)
  }

  /** Oldest first. */
  observations() {
    return this.store.observations({ project: KEY }).toSorted((x, y) => x.createdAt - y.createdAt)
  }

  pick(n: number) {
    const all = this.observations()
    return all[n % Math.max(1, all.length)]
  }

  push(): number {
    const { records, upTo } = this.store.outbox(1_000, 10_000_000)
    this.store.outboxDone(upTo)
    const origin = { author: 'me', machine: this.name }
    for (const record of records) this.pushed.push({ ...origin, ...structuredClone(record) })
    return records.length
  }

  /** The next records of a machine, after some that it got before. */
  receive(sender: Machine, index: number, count: number, again: number): void {
    const from = Math.max(0, (this.received[index] ?? 0) - again)
    const to = Math.min(sender.pushed.length, (this.received[index] ?? 0) + count)
    this.received[index] = to
    const { refused } = this.store.applyRecords(structuredClone(sender.pushed.slice(from, to)), [], NOW + 1e6, 'me')
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`)
    this.index()
  }

  /** As the background does. */
  index(): void {
    for (let left = 1; left > 0; ) {
      const { done, total } = this.store.indexNext(1_000)
      left = total - done
    }
    const { observations } = this.store.missingEmbeddings(EMBEDDER, 0, 1_000)
    this.store.putEmbeddings(
      observations.map(({ id, title }) => ({
        observationId: id,
        fragment: 'narrative',
        embedder: EMBEDDER,
        vector: vectorOf((title ?? '').replace('About ', '')),
      })),
    )
  }

  /** What the user sees, without ids and times of this machine. */
  memory() {
    const titles = new Map(this.store.observations({}).map(({ id, title }) => [id, title]))
    const links = this.store.db.all<{ from: number; to: number }>`
      SELECT from_id AS "from", to_id AS "to" FROM links WHERE kind = 'supersedes'`
    const pins = new Set(this.store.db.ids`SELECT id FROM pins`)
    const name = this.store.projectSettings().find(({ key }) => key === KEY)?.name ?? null
    const observations = this.observations().map(({ id, type, title, narrative, facts, status, uid }) => ({
      ...{ type, title, narrative, facts, status, uid, pinned: pins.has(id) },
      supersedes: links.flatMap(({ from, to }) => (from === id ? [titles.get(to)] : [])).sort(),
    }))
    return { name, observations }
  }

  filesContain(text: string | Buffer): boolean {
    return readFileSync(this.here.file).includes(text)
  }
}

class Team {
  readonly machines: Machine[]
  readonly forgotten = new Set<string>()
  #words = 0

  constructor(machines: Machine[]) {
    this.machines = machines
  }

  static async open(): Promise<Team> {
    const machines = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => {
        const here = place()
        const store = await openSqliteStore(here.options)
        // No process is killed here: nothing needs to wait for the disk.
        store.db.pragma('synchronous = OFF')
        store.shareProject({ project: KEY, since: 0, passages: true }, NOW, false)
        return new Machine(name, here, store)
      }),
    )
    return new Team(machines)
  }

  async run({ op, machine: index, a, b }: Step): Promise<void> {
    const machine = this.machines[index]
    const [x, y] = [machine?.pick(a), machine?.pick(b)]
    if (machine === undefined) return
    const { store } = machine
    switch (op) {
      case 'remember':
        return this.#remember(machine, KEY)
      case 'remember_in_path':
        return this.#remember(machine, `git:/home/${machine.name}/shop`)
      case 'merge_project':
        store.updateProjects([{ key: `git:/home/${machine.name}/shop`, mergedInto: KEY }], NOW)
        while (store.moveMergedRows(100) > 0);
        return
      case 'retention':
        store.applyRetention(NO_PASSAGES, NOW)
        return
      case 'rename':
        store.updateProjects([{ key: KEY, name: a % 5 === 0 ? null : `name ${a}` }], NOW)
        return
      case 'push':
        machine.push()
        return
      case 'deliver': {
        const sender = this.machines[a % 3]
        if (sender !== undefined) machine.receive(sender, a % 3, 1 + (b % 7), b % 4)
        return
      }
      case 'erase_session':
        this.#rememberForgotten(machine.observations().filter(({ session }) => session === machine.session))
        await store.eraseSession(machine.session, NOW)
        machine.startSession()
        return
    }
    if (x === undefined || y === undefined) return
    const [older, newer] = x.createdAt < y.createdAt ? [x, y] : [y, x]
    switch (op) {
      case 'correct':
        return this.#remember(machine, KEY, [x.id])
      case 'pin':
      case 'unpin':
        store.pin([x.id], op === 'pin', NOW)
        return
      case 'link':
        if (x.id !== y.id) store.link({ from: newer.id, to: older.id, kind: 'supersedes', by: 'person', at: NOW })
        return
      case 'unlink':
        if (x.id !== y.id) store.unlink(newer.id, older.id, 'supersedes')
        return
      case 'resolve': {
        const revision = (store.session(machine.session)?.revision ?? 0) + 1
        const state = stateOf({ project: { key: KEY, name: 'shop' } })
        store.commit([commitOf(machine.session, revision, { state, resolved: [x.id] })])
        return
      }
      case 'forget':
        this.#rememberForgotten([x])
        await store.forget({ ids: [x.id], filters: null, dryRun: false, at: NOW + 1e6 })
        return
    }
  }

  #remember(machine: Machine, key: string, supersedes: readonly number[] = []): void {
    this.#words += 1
    machine.remember(wordOf(this.#words), NOW + this.#words, key, supersedes)
    machine.index()
  }

  #rememberForgotten(rows: readonly { title: string | null }[]): void {
    for (const { title } of rows) this.forgotten.add((title ?? '').replace('About ', ''))
  }

  /** Until nobody has anything to send. */
  settle(): void {
    const pushAll = () => this.machines.reduce((sum, machine) => sum + machine.push(), 0)
    do {
      for (const machine of this.machines) {
        for (const [i, sender] of this.machines.entries()) machine.receive(sender, i, 1_000, 3)
      }
    } while (pushAll() > 0)
  }

  /** Ids of records with a forgotten word that no tombstone erases in the log. */
  leftInLog(): string[] {
    const records = this.machines.flatMap(({ pushed }) => pushed)
    const erased = new Set(
      records.flatMap(({ kind, body }) => (kind === 'tombstone' && body !== null ? [body.target] : [])),
    )
    const words = [...this.forgotten]
    return records.flatMap(({ id, body }) => {
      const text = JSON.stringify(body)
      return !erased.has(id) && words.some((word) => text.includes(word)) ? [id] : []
    })
  }

  /** Where a forgotten memory is still found. */
  async leftovers(): Promise<string[]> {
    const found: string[] = []
    for (const { name, here, store } of this.machines) {
      const reader = openSearchDatabase(here.file)
      for (const text of this.forgotten) {
        const query = { text, how: 'any' } as const
        const memories = reader.lexical(query, { ...OBSERVATIONS_ONLY, kinds: [] }, EVEN_WEIGHTS, 10)
        const passages = reader.passages(query, { ...OBSERVATIONS_ONLY, kinds: [] }, { text: 1, around: 1 }, 10)
        if (memories.length + passages.length > 0) found.push(`${text} is found on ${name}`)
      }
      reader.close()
      while (!store.purgeForgotten(100));
      await store.close()
    }
    for (const machine of this.machines) {
      for (const word of this.forgotten) {
        if (machine.filesContain(word)) found.push(`${word} is in the file of ${machine.name}`)
        const vector = Buffer.from(vectorOf(word).buffer)
        if (machine.filesContain(vector)) found.push(`the vector of ${word} is in the file of ${machine.name}`)
      }
    }
    return found
  }
}

async function converges(steps: readonly Step[]): Promise<void> {
  const team = await Team.open()
  try {
    for (const one of steps) await team.run(one)
    team.settle()
    const [one, two, three] = team.machines.map((machine) => machine.memory())
    expect(two).toEqual(one)
    expect(three).toEqual(one)
    const words = one?.observations.map(({ title }) => (title ?? '').replace('About ', '')) ?? []
    expect(words.filter((word) => team.forgotten.has(word))).toEqual([])
    expect(team.leftInLog()).toEqual([])
    expect(await team.leftovers()).toEqual([])
  } finally {
    for (const { store, here } of team.machines) {
      if (store.db.open) await store.close()
      here.dispose()
    }
  }
}

test('team.convergesWhateverTheOrder_andWhatIsForgottenIsNowhere', { timeout: 300_000 }, async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }), converges), {
    numRuns: 25,
    endOnFailure: true,
  })
})
