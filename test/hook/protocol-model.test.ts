/**
 * docs/hook-protocol.md as a model: hooks, the real spool on a real disk, and daemons that may die anywhere.
 * Whatever happens, in the end an event that a hook gave out of its hands (acknowledged, P5; or spooled, P9) is
 * there, and no event is there twice (P6).
 */
import { renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { listSpool, readSpool, removeSpooled, setAside, writeSpool } from '../../src/hook/spool.ts'
import { temporaryDirectory } from '../support/directories.ts'

/** What became of one run of the hook. */
const HOOK_OUTCOMES = [
  'acknowledged',
  'refused, spooled',
  'ack lost after the commit, spooled',
  'daemon killed before the commit, spooled',
  'hook killed before it sent',
  'hook killed after the commit, before the ack',
  'hook killed before it spooled',
  'hook killed while it wrote the spool file',
  'hook killed between writing and renaming',
  'hook killed after it spooled',
] as const

/** How far a daemon comes with the spool. */
const READER_FATES = ['lives', 'killed before the commit', 'killed between commit and removal'] as const

type Step =
  | { type: 'report'; event: number; outcome: (typeof HOOK_OUTCOMES)[number] }
  | { type: 'read'; fate: (typeof READER_FATES)[number]; files: number }
  | { type: 'two daemons read' }
  | { type: 'a minute passes' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('report' as const),
      event: fc.nat(7),
      outcome: fc.constantFrom(...HOOK_OUTCOMES),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('read' as const),
      fate: fc.constantFrom(...READER_FATES),
      files: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'two daemons read' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'a minute passes' as const }) },
)

class World {
  readonly directory = temporaryDirectory('protocol')
  private readonly spool = join(this.directory, 'spool')
  private now = Date.now()
  /** On disk: survives every kill. One entry each time an event was counted. */
  readonly counted: string[] = []
  readonly promised = new Set<string>()
  readonly reported = new Set<string>()

  run(next: Step): void {
    if (next.type === 'report') this.report(eventOf(next.event), next.outcome)
    else if (next.type === 'read') this.read(next.fate, next.files)
    else if (next.type === 'two daemons read') this.readAtOnce()
    else this.now += 61_000
  }

  /** In the end a daemon lives long enough; what dead hooks left is stale by then (P11). */
  settle(): void {
    this.now += 61_000
    this.read('lives', 0)
    expect(listSpool(this.spool, this.now)).toEqual([])
  }

  private report(event: MemoryEvent, outcome: (typeof HOOK_OUTCOMES)[number]): void {
    this.reported.add(event.id)
    switch (outcome) {
      case 'hook killed before it sent':
      case 'hook killed before it spooled':
        return
      case 'acknowledged':
        this.commit(event)
        this.promised.add(event.id)
        return
      case 'hook killed after the commit, before the ack':
        this.commit(event)
        return
      case 'ack lost after the commit, spooled':
        this.commit(event)
        writeSpool(this.spool, event)
        this.promised.add(event.id)
        return
      case 'hook killed while it wrote the spool file':
        truncateSync(unrenamed(writeSpool(this.spool, event)), 40)
        return
      case 'hook killed between writing and renaming':
        unrenamed(writeSpool(this.spool, event))
        return
      default:
        writeSpool(this.spool, event)
        this.promised.add(event.id)
    }
  }

  /** The daemon's reading of the spool (P10), dying at the file with number `files`. */
  private read(fate: (typeof READER_FATES)[number], files: number): void {
    for (const [n, file] of listSpool(this.spool, this.now).entries()) {
      const dies = fate !== 'lives' && n === files
      const event = readSpool(file)
      if (event === null) continue
      if ('bad' in event) {
        setAside(file)
        continue
      }
      if (dies && fate === 'killed before the commit') return
      this.commit(event)
      if (dies) return
      removeSpooled(file)
    }
  }

  /** Should two ever read at once, in step: each file is read twice before either removes it. */
  private readAtOnce(): void {
    const [one, other] = [listSpool(this.spool, this.now), listSpool(this.spool, this.now)]
    for (const file of one) {
      const events = [readSpool(file), readSpool(file)]
      for (const event of events) if (event !== null && !('bad' in event)) this.commit(event)
      removeSpooled(file)
    }
    for (const file of other) expect(readSpool(file)).toBeNull()
  }

  /** P6: the record of the event and everything it causes are one transaction, unique by (session, id). */
  private commit(event: MemoryEvent): void {
    if (!this.counted.includes(event.id)) this.counted.push(event.id)
  }
}

function unrenamed(file: string): string {
  const temporary = file.replace(/\.json$/, '.tmp')
  renameSync(file, temporary)
  return temporary
}

/** Few ids, so that deliveries repeat: hooks registered twice, a client that retries. */
function eventOf(n: number): MemoryEvent {
  return {
    kind: 'pre_compact',
    id: `event-${n}`,
    session: 's',
    at: 1_000 + n,
    client: 'claude-code',
    project: { key: 'dir:/x', name: 'x' },
    cwd: '/x',
    transcriptPath: null,
    promptId: null,
    agent: null,
    trigger: 'auto',
  }
}

function play(steps: readonly Step[]): World {
  const world = new World()
  try {
    for (const next of steps) world.run(next)
    world.settle()
    return world
  } finally {
    rmSync(world.directory, { recursive: true, force: true })
  }
}

describe('the protocol of hook, spool and daemon', () => {
  it('loses nothing that was acknowledged or spooled, and counts nothing twice', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const { counted, promised, reported } = play(steps)
        for (const id of promised) expect(counted).toContain(id)
        expect(new Set(counted).size).toBe(counted.length)
        for (const id of counted) expect(reported).toContain(id)
      }),
      { numRuns: 150 },
    )
  }, 60_000)

  it.each(HOOK_OUTCOMES)('counts an event once however often it comes: %s', (outcome) => {
    const report: Step = { type: 'report', event: 1, outcome }
    const { counted, promised } = play([
      report,
      report,
      { type: 'report', event: 1, outcome: 'refused, spooled' },
      report,
    ])
    expect(promised).toContain('event-1')
    expect(counted).toEqual(['event-1'])
  })

  it('takes up what a hook wrote whole before it was killed', () => {
    expect(play([{ type: 'report', event: 1, outcome: 'hook killed between writing and renaming' }]).counted).toEqual([
      'event-1',
    ])
  })

  it('does not count again what a daemon committed and could not remove', () => {
    const spooled: Step = { type: 'report', event: 1, outcome: 'refused, spooled' }
    const { counted } = play([spooled, { type: 'read', fate: 'killed between commit and removal', files: 0 }])
    expect(counted).toEqual(['event-1'])
  })
})
