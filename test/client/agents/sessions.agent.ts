/**
 * Sessions of a real client other than Claude Code, through `claude-mem install --client NAME`: what they do is stored
 * once, what earlier ones learned is known to the next, and uninstalling leaves the client's files as they were. Run by
 * `npm run test:clients -- --client NAME`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventTool, type MemoryEvent } from '../../../src/domain/event.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import type { CheckResult } from '../../../src/setup/doctor/check.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { TRANSCRIPT_READERS } from '../../../src/transfer/transcripts/readers.ts'
import { waitUntil } from '../../support/waiting.ts'
import type { StoredEvent } from '../memory-place.ts'
import { textsIn } from '../scripted-api.ts'
import { countsOf } from '../work.ts'
import { AGENT_NAME, AgentPlace, type TestedAgent } from './agent.ts'
import { TESTED_AGENTS } from './index.ts'

/** The first session starts with nothing; each of the five after it finds the daemon as `daemon` says. */
const COLD_RUNS = ['stopped', 'killed', 'stopped', 'killed', 'stopped'].map((daemon, n) => ({ run: n + 1, daemon }))
const wordOf = (run: number) => `zephyrQuota${run}`
const LAST = wordOf(COLD_RUNS.length)
const SINCE = 'borealisQuota'
const LAST_WORDS = 'All of it is done.'

const tools = (stored: readonly StoredEvent[]) =>
  stored.flatMap(({ kind, tool }) => (kind.startsWith('tool_') ? [`${kind} ${tool}`] : [])).sort()

/** What the model is told about earlier sessions, whatever the client made of our tags. */
const isTold = (body: Record<string, unknown>, word: string) => textsIn(body).some((text) => text.includes(word))

const agent = TESTED_AGENTS.find(({ name }) => name === AGENT_NAME)
if (agent === undefined) throw new Error(`no test knows the client "${AGENT_NAME}"`)

describe(`${agent.name} through claude-mem install`, () => {
  let place: AgentPlace
  let before: Map<string, string>
  beforeAll(async () => {
    place = await AgentPlace.make(agent)
    before = readConfig(place)
    await place.memOk('install', '--client', agent.name, '--yes', ...agent.installArgs)
  })
  afterAll(() => place?.dispose())

  let session: string
  async function worked(run: number): Promise<void> {
    const { turns, stored: expected } = agent?.work(place, wordOf(run)) ?? { turns: [], stored: [] }
    place.api.play({ [`work${run}`]: turns })
    session = await place.run(`[[script:work${run}]] raise the limit`)
    await ended(session, agent?.counts)
    await place.kept(wordOf(run))
    const stored = await place.events(session)
    console.log(`run ${run}: ${tools(stored).length} tool events stored of ${place.api.issued.length} calls`)
    expect(tools(stored)).toEqual([...expected].sort())
    expect(countsOf(stored)).toEqual(agent?.counts)
    expect(stored.filter(({ kind }) => kind === 'subagent_end')).toHaveLength(agent?.subagents ?? 0)
  }

  /** A client may exit while its last hooks run. */
  async function ended(id: string, counts: TestedAgent['counts'] | undefined): Promise<void> {
    await waitUntil('the ends of the turn and the session are stored', async () => {
      const { turnEnds, sessionEnds } = countsOf(await place.events(id).catch(() => []))
      return turnEnds >= (counts?.turnEnds ?? 0) && sessionEnds >= (counts?.sessionEnds ?? 0)
    })
    await place.settled()
  }

  it('the first session, with no daemon yet: every tool use, failure and end of a turn is stored once', async () => {
    await expect(place.status()).rejects.toThrow('not running')
    await worked(0)
  })

  it.each(COLD_RUNS)(
    'run $run of five, daemon $daemon: it begins with what the run before learned, and all of it is stored',
    async ({ run, daemon }) => {
      if (daemon === 'killed') await place.killDaemon()
      else await place.memOk('stop')
      await worked(run)
      expect(isTold(place.api.firstRequest(`work${run}`).body, wordOf(run - 1))).toBe(true)
    },
  )

  it('our own context is no part of a prompt that is stored', async () => {
    const { story } = await place.ask((client) => client.call('story', { session }))
    const prompts = JSON.stringify(story).match(/\[\[script:[^"]*/g) ?? []
    expect(prompts.length).toBeGreaterThan(0)
    expect(JSON.stringify(story)).not.toMatch(/hook_context|claude-mem-context/)
  })

  it("the client's own transcript holds the same tool uses, prompt and last words as the hooks reported", async (test) => {
    const reader = TRANSCRIPT_READERS.find(({ client }) => client === agent.name)
    if (reader === undefined) return test.skip('its transcripts are not read')
    const { files } = reader.find({ env: place.env, home: place.home })
    const settings = loadSettings('', {}).values
    const events: MemoryEvent[] = []
    for (const { file } of files) {
      for await (const event of readTranscriptEvents(file, { settings, client: agent.name })) {
        if (event.session === session) events.push(event)
      }
    }
    const stored = events.map((event) => ({ eventId: event.id, kind: event.kind, tool: eventTool(event) }))
    expect(tools(stored)).toEqual([...agent.work(place, LAST).stored].sort())
    expect(events.filter(({ kind }) => kind === 'prompt')).toMatchObject([
      { text: `[[script:work${COLD_RUNS.length}]] raise the limit`, client: agent.name, cwd: place.project },
    ])
    expect(events.filter(({ kind }) => kind === 'turn_end')).toMatchObject([
      { lastMessage: `Set ${LAST} to 2 because the old limit was too low.` },
    ])
    // Seen by hooks: a backfill leaves them alone.
    const planned: { projects: unknown[]; skipped: { reason: string; count: number }[] } = JSON.parse(
      await place.memOk('backfill', '--client', agent.name, '--dry-run', '--json'),
    )
    expect(planned.projects).toEqual([])
    expect(JSON.stringify(planned.skipped)).toContain('hooks')
  })

  it('resumed, it has its memory, and what happens then is stored in the same session', async () => {
    await place.memOk('remember', `Since then ${SINCE} is the limit.`)
    place.api.play({ resumed: [agent.shell('echo resumed'), { text: 'Fine.' }] })
    const stored = tools(await place.events(session)).length
    expect(await place.run('[[script:resumed]] go on', session)).toBe(session)
    expect(isTold(place.api.firstRequest('resumed').body, SINCE)).toBe(true)
    await ended(session, { ...agent.counts, turnEnds: 2, sessionEnds: 2 * agent.counts.sessionEnds })
    const events = await place.events(session)
    expect(tools(events)).toHaveLength(stored + 1)
    expect(countsOf(events)).toMatchObject({ prompts: 2, turnEnds: 2 })
  })

  it('its MCP tools are offered and answer, and asking them is not remembered', async () => {
    place.api.play({ asked: agent.mcp.search(LAST) })
    const asking = await place.run('[[script:asked]] what do you know about the quota?')
    expect(agent.mcp.isOffered(place.api.lastRequest('asked').body)).toBe(true)
    const answer = agent.mcp.result(place.api.lastRequest('asked').body)
    expect(answer).toContain(`${LAST}.ts`)
    await place.settled()
    expect(tools(await place.events(asking))).toEqual([])
  })

  it('a daemon that is killed in the middle loses nothing', async () => {
    place.api.play({
      killed: [
        agent.shell('echo one'),
        { ...agent.shell('echo two'), before: () => place.killDaemon() },
        agent.shell('echo three'),
        { text: LAST_WORDS, before: () => place.killDaemon() },
      ],
    })
    const killed = await place.run('[[script:killed]] go on')
    await place.running()
    await ended(killed, agent.counts)
    const stored = await place.events(killed)
    expect(tools(stored)).toEqual(['tool_use Bash', 'tool_use Bash', 'tool_use Bash'])
    expect(countsOf(stored)).toEqual(agent.counts)
  })

  it('doctor finds nothing to repair, and uninstalling leaves the files byte for byte', async () => {
    const report = await place.mem('doctor', '--json')
    const { checks }: { checks: CheckResult[] } = JSON.parse(report.stdout)
    const own = checks.filter(({ id }) => id.endsWith(`.${agent.name}`))
    expect(own.map(({ id }) => id)).toContain(`hooks.${agent.name}`)
    expect(own.filter(({ state }) => state === 'problem')).toEqual([])
    await place.memOk('uninstall', '--client', agent.name)
    expect(readConfig(place)).toEqual(before)
  })
})

/** The client's files that we change, with their content; a file that is not there has none. */
function readConfig(place: AgentPlace): Map<string, string> {
  const names = new Set([...Object.keys(place.agent.config(place)), '.codex/hooks.json', ...(place.agent.files ?? [])])
  return new Map(
    [...names].flatMap((name) => {
      const file = join(place.home, name)
      return existsSync(file) ? [[name, readFileSync(file, 'utf8')] as const] : []
    }),
  )
}
