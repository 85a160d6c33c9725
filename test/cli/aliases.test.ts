/** Names that scripts written for the original claude-mem use. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/index.ts'
import { ObserverError } from '../../src/observer/port.ts'
import { events } from '../daemon/actors/harness.ts'
import { type Served, served } from '../transport/served.ts'
import { InProcessProgram } from './in-process-program.ts'

let s: Served
let program: InProcessProgram
beforeEach(async () => {
  s = await served()
  program = new InProcessProgram(s.paths.dataDir, COMMANDS)
})
afterEach(() => s.close())

test('worker status and worker start are status and start', async () => {
  const status = await program.run(['worker', 'status', '--json'])
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, pid: process.pid })
  expect(JSON.parse((await program.run(['worker', '--json'])).stdout)).toMatchObject({ running: true })
  const start = await program.run(['worker', 'start', '--json'])
  expect(JSON.parse(start.stdout)).toMatchObject({ running: true, started: false })
  expect((await program.run(['worker', 'dance'])).stderr).toContain('action')
})

test('start --daemon is start, and not together with --foreground', async () => {
  const start = await program.run(['start', '--daemon', '--json'])
  expect({ code: start.code, answer: JSON.parse(start.stdout) }).toMatchObject({ code: 0, answer: { started: false } })
  expect((await program.run(['start', '--daemon', '--foreground'])).code).toBe(2)
})

test('queue --errors lists only what failed', async () => {
  const observe = async (): Promise<never> => {
    throw new ObserverError('message', 'cannot be read')
  }
  s.h.observer = { ...s.h.observer, observe }
  s.h.policy = { ...s.h.policy, maxAttempts: 1 }
  await s.h.supervisor.accept(events.prompt('s', 'p'))
  await s.h.supervisor.accept(events.tool('s', 'failing'))
  await s.client.call('flush', { session: null, wait: true })
  await s.h.settle()
  await s.h.supervisor.accept(events.tool('s', 'waiting'))
  const ids = async (...args: string[]) => {
    const { stdout } = await program.run(['queue', ...args, '--json'])
    return (JSON.parse(stdout) as { messages: { eventId: string }[] }).messages.map(({ eventId }) => eventId)
  }
  expect(await ids()).toEqual(['failing', 'waiting'])
  expect(await ids('--errors')).toEqual(['failing'])
})
