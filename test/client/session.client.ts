/**
 * Sessions of the real Claude Code, through `claude-mem install` and through the plugin: what they do is stored, and
 * what earlier ones learned is known to the next. Run by `npm run test:client`; `npm test` needs no client.
 */
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MemoryEvent, OWN_MCP_TOOLS } from '../../src/domain/event.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { readTranscriptEvents } from '../../src/transfer/transcripts/index.ts'
import { can, needs, why } from './abilities.ts'
import { ClientPlace } from './client-place.ts'
import type { Scripts } from './messages-api.ts'
import { contextsIn, missingFrom, toolNames, toolResult } from './requests.ts'
import { countsOf, expectedTools, SUB, storedTools, WORK_TOOLS, work } from './work.ts'

/** The first session starts with nothing; each of the five after it finds the daemon as `daemon` says. */
const COLD_RUNS = ['stopped', 'killed', 'stopped', 'killed', 'stopped'].map((daemon, n) => ({ run: n + 1, daemon }))
const wordOf = (run: number) => `zephyrQuota${run}`
const LAST = wordOf(COLD_RUNS.length)
/** What is learned while a session sleeps. */
const SINCE = 'borealisQuota'
/** A client does not hold a request back for a server that starts slowly: it is asked again, so often. */
const ASKED = 30

const WAYS = [
  { way: 'claude-mem install', plugin: false, tools: 'mcp__claude-mem__' },
  { way: 'claude --plugin-dir with a copy of the plugin', plugin: true, tools: 'mcp__plugin_mem_claude-mem__' },
]

const scripts = (place: ClientPlace, tools: string): Scripts => {
  const runs = [0, ...COLD_RUNS.map(({ run }) => run)]
  const search = { name: `${tools}search_memory`, input: { query: LAST } }
  const idle = ['begun', 'cleared', 'more', 'compacted', 'resumed', 'look'].map((name) => [name, [{ text: 'Fine.' }]])
  return {
    ...Object.fromEntries(runs.map((run) => [`work${run}`, work(place, wordOf(run))])),
    ...Object.fromEntries(idle),
    sub: SUB,
    direct: [{ tools: [search] }, { text: 'Found it.' }],
    // Newer clients name the tools of a server and show their schemas when asked.
    deferred: [
      { tools: [{ name: 'ToolSearch', input: { query: `select:${search.name}`, max_results: 1 } }] },
      { tools: [search] },
      { text: 'Found it.' },
    ],
  }
}

const offered = WAYS.filter(({ plugin }) => !plugin || can('plugin'))
if (offered.length < WAYS.length) console.log(`without the plugin: ${why('plugin')}`)

describe.each(offered)('through $way', ({ plugin, tools }) => {
  let place: ClientPlace
  beforeAll(async () => {
    place = await ClientPlace.make((made) => scripts(made, tools), { plugin })
    if (!plugin) await place.memOk('install')
  })
  afterAll(() => place?.dispose())

  let session: string
  async function worked(run: number): Promise<void> {
    session = await place.claude(`[[script:work${run}]] raise the limit`)
    await place.settled()
    await place.kept(wordOf(run))
    const stored = await place.events(session)
    const { issued } = place.api
    console.log(`run ${run}: ${storedTools(stored).length} of ${issued.length} tool uses stored`)
    expect(issued).toHaveLength(WORK_TOOLS)
    expect(storedTools(stored)).toEqual(expectedTools(issued))
    expect(countsOf(stored)).toEqual({ starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 })
  }

  it('the first session, with no daemon yet: every tool use and the end of the turn are stored', async () => {
    await expect(place.status()).rejects.toThrow('not running')
    await worked(0)
  })

  it.each(COLD_RUNS)(
    'run $run of five, daemon $daemon: it begins with what the run before learned, and all of it is stored',
    async ({ run, daemon }) => {
      if (daemon === 'killed') await place.killDaemon()
      else await place.memOk('stop')
      await worked(run)
      const contexts = contextsIn(place.api.firstRequest(`work${run}`))
      expect(contexts.map((text) => text.includes(wordOf(run - 1)))).toEqual([true])
    },
  )

  it("the client's own transcript holds the same tool uses, prompt and last words as the hooks reported", async (test) => {
    needs('toolIds', test)
    const { issued } = place.api
    const file = place.transcripts().find((path) => basename(path) === `${session}.jsonl`)
    if (file === undefined) throw new Error('the client left no transcript of the last run')
    const events: MemoryEvent[] = []
    for await (const event of readTranscriptEvents(file, { settings: loadSettings('', {}).values })) events.push(event)
    const found = events.flatMap((event) => (event.kind === 'tool_use' || event.kind === 'tool_failure' ? event : []))
    expect(found.map(({ kind, tool, id }) => `${kind} ${tool} ${id}`).sort()).toEqual(expectedTools(issued))
    const prompt = `[[script:work${COLD_RUNS.length}]] raise the limit`
    expect(events.find((event) => event.kind === 'prompt')).toMatchObject({ text: prompt })
    expect(events.filter((event) => event.kind === 'turn_end')).toMatchObject([
      { lastMessage: `Set ${LAST} to 2 because the old limit was too low.` },
    ])
  })

  it('after /clear, after /compact and when it is resumed, a session has its memory again', async () => {
    const talk = place.talk()
    const began = await talk.say('[[script:begun]] go on')
    await talk.say('/clear')
    const cleared = await talk.say('[[script:cleared]] go on')
    await talk.say('[[script:more]] go on')
    await talk.say('/compact')
    await talk.say('[[script:compacted]] go on')
    await talk.end()
    const asked = ['begun', ...(can('clear') ? ['cleared'] : []), ...(can('contextAfterCompact') ? ['compacted'] : [])]
    const knowing = asked.map((script) => contextsIn(place.api.firstRequest(script)).map((text) => text.includes(LAST)))
    expect(knowing).toEqual(asked.map(() => [true]))
    expect(cleared === began).toBe(!can('clear'))
    await place.memOk('remember', `Since then ${SINCE} is the limit.`)
    await place.claude('[[script:resumed]] go on', '--resume', cleared)
    // Newer clients keep what the session was told before.
    expect(contextsIn(place.api.firstRequest('resumed')).at(-1)?.includes(SINCE)).toBe(true)
    await place.settled()
    const { prompts, turnEnds } = countsOf(await place.events(cleared))
    expect({ prompts, turnEnds }).toEqual(can('clear') ? { prompts: 4, turnEnds: 4 } : { prompts: 5, turnEnds: 5 })
  })

  it('its tools are offered and answer, and asking them is not remembered', async () => {
    const talk = place.talk()
    let missing = OWN_MCP_TOOLS.map((name) => tools + name)
    for (let asked = 0; asked < ASKED && missing.length > 0; asked++) {
      await talk.say('[[script:look]] what can you do?')
      missing = missingFrom(place.api.lastRequest('look'), missing)
    }
    expect(missing).toEqual([])
    const script = toolNames(place.api.lastRequest('look')).includes(`${tools}search_memory`) ? 'direct' : 'deferred'
    const asking = await talk.say(`[[script:${script}]] what do you know about the quota?`)
    await talk.end()
    const call = place.api.issued.find(({ name }) => name === `${tools}search_memory`)
    const result = toolResult(place.api.lastRequest(script), call?.id)
    expect([`${LAST}.ts`].filter((word) => !result.includes(word))).toEqual([])
    await place.settled()
    const stored = await place.events(asking)
    expect(stored.filter(({ tool }) => tool?.startsWith('mcp__') === true)).toEqual([])
  })
})
