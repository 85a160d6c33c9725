/** `claude-mem doctor`, run as a process. */
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { doctorCheckLines, doctorVerdictLine } from '../../src/cli/commands/doctor.ts'
import { createStyle } from '../../src/cli/style.ts'
import type { CheckResult } from '../../src/setup/doctor/check.ts'
import { Built, DoctorFixture, SLOW } from '../setup/doctor/fixture.ts'
import { Program } from './program.ts'

describe.skipIf(process.platform === 'win32')('doctor', () => {
  let program: Program
  let built: Built
  let fixture: DoctorFixture
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    program = await Program.make()
    built = new Built()
    fixture = new DoctorFixture(built)
    fixture.use(program.dist)
    fixture.install()
    env = { HOME: fixture.home, PATH: fixture.bin, CLAUDE_CONFIG_DIR: '', CLAUDE_MEM_DATA_DIR: fixture.dataDir }
  }, 60_000)
  afterAll(async () => {
    await run('stop')
    fixture.dispose()
    built.dispose()
    await program.end()
  }, 60_000)
  const run = (...args: string[]) => program.run(args, { env, cwd: fixture.root })

  it('exits with 0 after an install and starts no daemon', async () => {
    const { code, stdout, stderr } = await run('doctor')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^✓ Daemon +not running; the next hook starts it$/m)
    expect(stdout).toMatch(/^✓ Claude Code hooks +9 events in /m)
    expect(readdirSync(fixture.dataDir)).toEqual(['install'])
  })

  it('exits with 0 with a daemon and reports a daemon of another version', async () => {
    await run('start')
    const { code, stdout } = await run('doctor', '--json', '--deep')
    const { checks, ...rest }: { checks: CheckResult[] } = JSON.parse(stdout)
    expect({ code, ...rest }).toMatchObject({ code: 0, ok: true, dataDir: fixture.dataDir })
    // Without the optional packages it prints advice.
    const told = checks.filter(({ id, state }) => state !== 'ok' && !(id === 'native-modules' && state === 'advice'))
    expect(told.filter(({ detail }) => !SLOW.test(detail))).toEqual([])
    expect(checks.find(({ id }) => id === 'daemon')?.detail).toMatch(/^\S+ serving, pid \d+$/)
    fixture.write(join(fixture.dataDir, 'settings.json'), '{"CLAUDE_MEM_PROVIDER": "offline"}')
    // The version of unbuilt sources is 0.0.0.
    const faults = await fixture.faults({ dist: program.dist })
    expect(faults.filter((fault) => fault.startsWith('daemon'))).toEqual([
      expect.stringMatching(/^daemon problem: version \S+ runs, and this program is the older 0\.0\.0-source/),
      'daemon advice: settings.json was changed since it started -> claude-mem restart, to apply it',
    ])
    expect(faults).toContain('observer advice: the daemon uses plain; the settings say offline -> claude-mem restart')
  })

  it('exits with 1 on a problem and prints the fix', async () => {
    chmodSync(fixture.dataDir, 0o755)
    const { code, stdout } = await run('doctor')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ Data directory +.* is open to others \(mode 755\)\n +→ chmod 700 /m)
    expect(stdout).toMatch(/\n1 problem; the lines with → say what to do\n$/)
  })
})

describe('doctor.output', () => {
  const display = { style: createStyle(true), columns: 60, now: 0 }
  const check: CheckResult = {
    id: 'disk',
    title: 'Disk',
    state: 'problem',
    detail: 'full \x1b[2J of everything that there is in the world',
    fix: 'make room',
  }

  it('fits the terminal and is sanitised', () => {
    const lines = doctorCheckLines(check, display)
    expect(lines[0]?.startsWith(`${display.style.red('✗')} Disk${' '.repeat(17)}full \\x1b[2J of everything`)).toBe(
      true,
    )
    expect(lines.at(-1)).toContain(display.style.bold('→ make room'))
    expect(lines.length).toBeGreaterThan(2)
  })

  it('counts problems and advice', () => {
    expect(doctorVerdictLine([check, { ...check, state: 'advice' }], display)).toContain('1 problem;')
    expect(doctorVerdictLine([{ ...check, state: 'advice' }], display)).toContain('It works; 1 thing could be better')
    expect(doctorVerdictLine([{ ...check, state: 'ok' }], display)).toContain('No problems found')
  })
})
