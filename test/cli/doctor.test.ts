/** `claude-mem doctor` as people run it. */
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkLines, verdictLine } from '../../src/cli/render/doctor.ts'
import { styleOf } from '../../src/cli/style.ts'
import type { Check } from '../../src/doctor/check.ts'
import { Built, Patient, SLOW } from '../doctor/patient.ts'
import { Program } from './program.ts'

describe.skipIf(process.platform === 'win32')('claude-mem doctor', () => {
  let program: Program
  let built: Built
  let patient: Patient
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    program = await Program.make()
    built = new Built()
    patient = new Patient(built)
    patient.use(program.dist)
    patient.install()
    env = { HOME: patient.home, PATH: patient.bin, CLAUDE_CONFIG_DIR: '', CLAUDE_MEM_DATA_DIR: patient.dataDir }
  }, 60_000)
  afterAll(async () => {
    await run('stop')
    patient.dispose()
    built.dispose()
    await program.end()
  }, 60_000)
  const run = (...args: string[]) => program.run(args, { env, cwd: patient.root })

  it('ends well after an install, and starts no daemon', async () => {
    const { code, stdout, stderr } = await run('doctor')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^✓ Daemon +not running; the next hook starts it$/m)
    expect(stdout).toMatch(/^✓ Claude Code hooks +9 events in /m)
    expect(readdirSync(patient.dataDir)).toEqual(['install'])
  })

  it('ends well with a daemon, and says when it is not the right one', async () => {
    await run('start')
    const { code, stdout } = await run('doctor', '--json', '--deep')
    const { checks, ...rest }: { checks: Check[] } = JSON.parse(stdout)
    expect({ code, ...rest }).toMatchObject({ code: 0, ok: true, dataDir: patient.dataDir })
    // Without the optional packages it says what would be better with them.
    const told = checks.filter(({ id, state }) => state !== 'ok' && !(id === 'native-modules' && state === 'advice'))
    expect(told.filter(({ detail }) => !SLOW.test(detail))).toEqual([])
    expect(checks.find(({ id }) => id === 'daemon')?.detail).toMatch(/^\S+ serving, pid \d+$/)
    patient.write(join(patient.dataDir, 'settings.json'), '{"CLAUDE_MEM_PROVIDER": "offline"}')
    // From the sources the program calls itself 0.0.0.
    const faults = await patient.faults({ dist: program.dist })
    expect(faults.filter((fault) => fault.startsWith('daemon'))).toEqual([
      expect.stringMatching(/^daemon problem: version \S+ runs, and this program is the older 0\.0\.0-source/),
      'daemon advice: settings.json was changed since it started -> claude-mem restart, which takes it up',
    ])
    expect(faults).toContain(
      'observer advice: the daemon observes with plain; the settings say offline -> claude-mem restart',
    )
  })

  it('ends with 1 where something is wrong, and says what to do', async () => {
    chmodSync(patient.dataDir, 0o755)
    const { code, stdout } = await run('doctor')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ Data directory +.* is open to others \(mode 755\)\n +→ chmod 700 /m)
    expect(stdout).toMatch(/\n1 problem; what to do stands behind the arrows\n$/)
  })
})

describe('what the doctor prints', () => {
  const look = { style: styleOf(true), columns: 60, now: 0 }
  const check: Check = {
    id: 'disk',
    title: 'Disk',
    state: 'problem',
    detail: 'full \x1b[2J of everything that there is in the world',
    fix: 'make room',
  }

  it('fits the terminal and leaves no control character in it', () => {
    const lines = checkLines(check, look)
    expect(lines[0]?.startsWith(`${look.style.red('✗')} Disk${' '.repeat(17)}full \\x1b[2J of everything`)).toBe(true)
    expect(lines.at(-1)).toContain(look.style.bold('→ make room'))
    expect(lines.length).toBeGreaterThan(2)
  })

  it('counts what was found', () => {
    expect(verdictLine([check, { ...check, state: 'advice' }], look)).toContain('1 problem;')
    expect(verdictLine([{ ...check, state: 'advice' }], look)).toContain('It works; 1 thing could be better')
    expect(verdictLine([{ ...check, state: 'ok' }], look)).toContain('All is well')
  })
})
