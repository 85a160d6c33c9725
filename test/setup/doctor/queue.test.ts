import { expect, test } from 'vitest'
import { DoctorFacts, type Finding, problem } from '../../../src/setup/doctor/check.ts'
import { checkQueue } from '../../../src/setup/doctor/storage.ts'
import { events } from '../../daemon/actors/harness.ts'
import { type Served, served } from '../../transport/served.ts'

async function examine(s: Served): Promise<{ findings: Finding[]; result: string | null }> {
  const facts = new DoctorFacts({
    paths: s.paths,
    env: {},
    home: s.directory,
    root: s.directory,
    dist: s.directory,
    node: process.execPath,
    now: Date.now(),
    deep: false,
    hookRuns: 1,
    freeBytes: async () => 1e12,
  })
  const findings: Finding[] = []
  const run = checkQueue(facts)
  for (;;) {
    const { value, done } = await run.next()
    if (done === true) return { findings, result: value }
    findings.push(value)
  }
}

test('doctor.queue: an alert of the daemon is a problem with its reason and what to do; else the length is shown', async () => {
  const text = 'the queue is long: 610 messages; the provider does not answer since 12:30: key rejected'
  const alert = { since: 1, text, fix: 'claude-mem providers test shows what is wrong' }
  let isOn = true
  const s = await served({ process: { queueAlert: () => (isOn ? alert : null), queueTrend: () => 'growing' } })
  try {
    await s.h.supervisor.accept(events.tool('s', 't'))
    const bad = await examine(s)
    expect(bad.findings).toEqual([problem(text, alert.fix)])
    isOn = false
    expect(await examine(s)).toEqual({ findings: [], result: '1 message pending, the oldest for 0 min, growing' })
  } finally {
    await s.close()
  }
})
