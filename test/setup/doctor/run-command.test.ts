import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { runCommand } from '../../../src/setup/run-command.ts'

describe.skipIf(process.platform === 'win32')('doctor.runCommand', () => {
  it('kills a hanging program and everything that the shell started', async () => {
    const { code, stdout } = await runCommand('sleep 1000 & echo $!; wait; true', null, '', process.env, 1_000)
    expect(code).toBe(null)
    expect(stdout).toMatch(/^\d+\n$/)
    await vi.waitUntil(() => !isAlive(Number(stdout)), { timeout: 5_000 })
  })
})

function isAlive(pid: number): boolean {
  try {
    // One that ended stays in the list until somebody asks how.
    return process.kill(pid, 0) && !/^State:\s+Z/m.test(statusOf(pid))
  } catch {
    return false
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}
