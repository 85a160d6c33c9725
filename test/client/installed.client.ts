/** What an installation leaves with the real Claude Code, what people are told, and what is left when it is gone. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CheckResult, CheckState } from '../../src/setup/doctor/check.ts'
import { isAlive } from '../support/programs.ts'
import { can, needs } from './abilities.ts'
import { ClientPlace } from './client-place.ts'
import type { Scripts } from './messages-api.ts'
import { contextsIn, missingFrom } from './requests.ts'
import { bash, countsOf, expectedTools, storedTools } from './work.ts'

const MARKER = 'zephyrQuota'
const SETTINGS = `{\r\n\t"permissions": {"allow": ["Bash(ls:*)"]},\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}`
const OTHER_SERVER = { type: 'stdio', command: 'node', args: ['-e', '0'] }
/** Only people are told so. */
const TOLD = 'tokens given to this session'

const scripts = (): Scripts => ({
  work: [{ tools: [bash(`echo ${MARKER}`)] }, { text: `Set ${MARKER} to 2.` }],
  ask: [{ text: 'Nothing to do.' }],
})

let place: ClientPlace
beforeAll(async () => {
  place = await ClientPlace.make(scripts)
  mkdirSync(dirname(place.settings), { recursive: true })
  writeFileSync(place.settings, SETTINGS)
  writeFileSync(place.state, JSON.stringify({ mcpServers: { other: OTHER_SERVER } }, null, 2))
  await place.memOk('install')
})
afterAll(() => place?.dispose())

async function doctor(): Promise<{ code: number | null; problems: string[]; checks: CheckResult[] }> {
  const { code, stdout } = await place.mem('doctor', '--json')
  const { checks }: { checks: CheckResult[] } = JSON.parse(stdout)
  const said = (wanted: CheckState) =>
    checks.filter(({ state }) => state === wanted).map(({ title, detail }) => `${title}: ${detail}`)
  for (const advice of said('advice')) console.log(`doctor advises: ${advice}`)
  return { code, problems: said('problem'), checks }
}

describe('claude-mem install', () => {
  it('is well before the first session, says doctor', async () => {
    const { code, problems } = await doctor()
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
  })

  it('gives the client a server that it finds well', async () => {
    const { stdout } = await place.client('mcp', 'list')
    expect(stdout.split('\n').filter((line) => /^claude-mem: .*(?:✓|✔) ?Connected/.test(line))).toHaveLength(1)
  })

  it('is well after a session, and doctor sees that its hooks fire', async () => {
    await place.claude('[[script:work]] raise the limit')
    await place.settled()
    await place.kept(MARKER)
    const { code, problems, checks } = await doctor()
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
    const detailOf = (wanted: string) => checks.filter(({ id }) => id === wanted).map(({ detail }) => detail)
    expect(detailOf('hook-run.claude-code')).toEqual([expect.stringMatching(/^answers/)])
    expect(detailOf('sessions.claude-code')).toEqual([expect.stringMatching(/^the newest 1 .* reported$/)])
  })

  it('tells the user what is known, and the model only what it knows, once', async () => {
    const talk = place.talk()
    await talk.say('[[script:ask]] go on')
    await talk.end()
    const request = place.api.firstRequest('ask')
    expect(contextsIn(request).map((text) => text.includes(MARKER))).toEqual([true])
    expect(missingFrom(request, [TOLD])).toEqual([TOLD])
    const started = talk.lines.filter(({ hook_name: name }) => name === 'SessionStart:startup')
    const told = started.filter(({ output }) => output?.includes(TOLD) === true)
    if (can('hookOutput')) expect(told).toHaveLength(1)
  })

  it('has the client keep for the user what it told', async (test) => {
    needs('hookOutput', test)
    const kept = place.transcripts().flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    const shown = kept.filter((line) => line.includes('"hook_system_message"') && line.includes(TOLD))
    expect(shown).toHaveLength(1)
  })

  it('beside the plugin: what both report counts once', async (test) => {
    needs('plugin', test)
    const session = await place.claude('[[script:work]] raise it again', '--plugin-dir', place.copyPlugin())
    await place.settled()
    expect(contextsIn(place.api.firstRequest('work'))).toHaveLength(1)
    const stored = await place.events(session)
    expect(storedTools(stored)).toEqual(expectedTools(place.api.issued))
    const { prompts, turnEnds } = countsOf(stored)
    expect({ prompts, turnEnds }).toEqual({ prompts: 1, turnEnds: 1 })
  })
})

describe('claude-mem uninstall', () => {
  const state = (): Record<string, unknown> => JSON.parse(readFileSync(place.state, 'utf8'))

  it('leaves the settings as they were, to the byte, and of what the client keeps all but our entry', async () => {
    const { mcpServers: before, ...own } = state()
    expect(before).toMatchObject({ other: OTHER_SERVER, 'claude-mem': {} })
    expect(own).not.toEqual({})
    await place.memOk('uninstall')
    expect(readFileSync(place.settings, 'utf8')).toBe(SETTINGS)
    expect(state()).toEqual({ ...own, mcpServers: { other: OTHER_SERVER } })
  })

  it('has nothing more reported', async () => {
    const session = await place.claude('[[script:ask]] go on')
    expect(contextsIn(place.api.firstRequest('ask'))).toEqual([])
    expect(await place.events(session)).toEqual([])
  })

  it('--purge leaves no process, no socket and no file of ours', async () => {
    await place.memOk('install')
    await place.claude('[[script:work]] raise the limit')
    const { pid } = await place.running()
    await place.memOk('uninstall', '--purge', '--yes')
    expect(isAlive(pid)).toBe(false)
    expect(ourProcesses()).toEqual([])
    expect(existsSync(place.paths.socket)).toBe(false)
    const files = readdirSync(place.home, { recursive: true, encoding: 'utf8' })
    // The client's own transcripts and logs bear our name where they are about us.
    const others = files.filter((name) => !/^\.(?:claude|cache)[\\/]/.test(name))
    expect(others.filter((name) => name.includes('claude-mem'))).toEqual([])
    expect(readFileSync(place.settings, 'utf8')).toBe(SETTINGS)
    expect(state().mcpServers).toEqual({ other: OTHER_SERVER })
  })
})

/** Whatever runs from the build or from what was installed. */
function ourProcesses(): string[] {
  if (process.platform === 'win32') return []
  const rows = execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes(place.built('')) || row.includes(place.paths.program))
}
