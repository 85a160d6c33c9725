/** Sessions of the real Claude Code with the fast hook: cold, warm, and after the daemon was killed. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClientPlace } from './client-place.ts'
import type { Scripts } from './messages-api.ts'
import { contextsIn } from './requests.ts'
import { countsOf, expectedTools, SUB, storedTools, work } from './work.ts'

const wordOf = (run: string): string => `zephyrQuota${run}`

const scripts = (place: ClientPlace): Scripts => ({
  ...Object.fromEntries(['Cold', 'Warm', 'Killed'].map((run) => [`work${run}`, work(place, wordOf(run))])),
  sub: SUB,
})

describe.runIf(process.platform !== 'win32')('through claude-mem install --hook fast', () => {
  let place: ClientPlace
  let starts: string

  beforeAll(async () => {
    place = await ClientPlace.make(scripts)
    await place.memOk('install', '--hook', 'fast')
    // A node that counts how often the hook needs it.
    starts = join(place.home, 'node-starts')
    const node = join(place.home, 'node')
    writeFileSync(node, `#!/bin/sh\nprintf . >>'${starts}'\nexec '${process.execPath}' "$@"\n`)
    chmodSync(node, 0o755)
    const settings = readFileSync(place.settings, 'utf8')
    expect(settings).toContain('fast-hook.sh')
    writeFileSync(place.settings, settings.replaceAll(process.execPath, node))
  })
  afterAll(() => place?.dispose())

  const nodeStarts = (): number => (existsSync(starts) ? readFileSync(starts, 'utf8').length : 0)

  async function works(run: string): Promise<void> {
    const session = await place.claude(`[[script:work${run}]] raise the limit`)
    await place.running()
    await place.settled()
    const stored = await place.events(session)
    expect(storedTools(stored)).toEqual(expectedTools(place.api.issued))
    expect(countsOf(stored)).toMatchObject({ starts: 1, prompts: 1, turnEnds: 1 })
    await place.kept(wordOf(run))
  }

  it('a first session without a daemon: everything is stored, and the other hook started the daemon', async () => {
    await works('Cold')
    expect(nodeStarts()).toBeGreaterThan(0)
  })

  it('a session with a running daemon knows the earlier one, and starts no node for its hooks', async () => {
    const before = nodeStarts()
    await works('Warm')
    expect(nodeStarts() - before).toBe(0)
    expect(contextsIn(place.api.firstRequest('workWarm')).some((text) => text.includes(wordOf('Cold')))).toBe(true)
  })

  it('a session after the daemon was killed loses nothing', async () => {
    await place.killDaemon()
    await works('Killed')
  })

  it('doctor finds nothing wrong with it', async () => {
    const { stdout } = await place.mem('doctor', '--json')
    const { checks }: { checks: { id: string; state: string; detail: string }[] } = JSON.parse(stdout)
    expect(checks.find(({ id }) => id === 'hook-run.claude-code')).toMatchObject({ state: 'ok' })
  })
})
