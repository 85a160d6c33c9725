/** When a daemon ends without being told to, or although a part of it does not. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

const prompt = { session_id: 'demo', cwd: '/nowhere/shop', hook_event_name: 'UserPromptSubmit', prompt: 'add a cart' }

describe('daemon.leaves', () => {
  test('when its data directory is removed, without creating it again', async () => {
    const daemon = await place.start()
    await place.hook(prompt)
    rmSync(place.dataDir, { recursive: true })
    await exited(daemon)
    expect(existsSync(place.dataDir)).toBe(false)
  })

  test('when its data directory is replaced, and touches nothing in the new one', async () => {
    const daemon = await place.start()
    await place.hook(prompt)
    renameSync(place.dataDir, `${place.dataDir}-moved`)
    mkdirSync(place.dataDir)
    writeFileSync(place.paths.socket, 'of another daemon')
    await exited(daemon)
    expect(readdirSync(place.dataDir)).toEqual(['daemon.sock'])
    rmSync(place.paths.socket)
  })

  test('within its deadline although a thread hangs, and loses nothing', async () => {
    const daemon = await place.start({ CLAUDE_MEM_FAULT: 'close.hang' })
    await place.hook(prompt)
    await place.ask((client) => client.call('stop', {}))
    await exited(daemon)
    expect(daemon.signalCode).toBe('SIGKILL')
    expect(place.log()).toContain('did not stop in time')
    await place.start()
    expect((await place.status()).sessions).toBe(1)
  })
})
