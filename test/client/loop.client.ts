/**
 * The whole loop with the real Claude Code: install, sessions, memory, uninstall. Run by `npm run test:client`; not
 * part of `npm test`, which needs no client.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTranscript } from '../../src/hook/transcript/index.ts'
import type { MemoryEvent } from '../../src/memory/event.ts'
import { loadSettings } from '../../src/settings.ts'
import { ClientPlace } from './client-place.ts'
import type { Scripts, ToolCall } from './messages-api.ts'

const RUNS = 5
/** A word that stands nowhere but in what the first session did. */
const MARKER = 'zephyrQuota'
const SETTINGS = `{\r\n\t"permissions": {"allow": ["Bash(ls:*)"]},\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}`

const bash = (command: string): ToolCall => ({ name: 'Bash', input: { command, description: 'a step' } })

const subagent = {
  description: 'look',
  prompt: '[[script:sub]] look around',
  subagent_type: 'general-purpose',
  // From 2.1.3xx on a subagent runs in the background unless told otherwise, and its end is a turn of its own.
  run_in_background: false,
}

const scripts = (project: string): Scripts => {
  const file = join(project, `${MARKER}.ts`)
  return {
    work: [
      { tools: [{ name: 'Write', input: { file_path: file, content: `export const ${MARKER} = 1\n` } }] },
      { tools: [{ name: 'Read', input: { file_path: file } }] },
      { tools: [{ name: 'Edit', input: { file_path: file, old_string: '= 1', new_string: '= 2' } }] },
      { tools: [bash('echo fine')] },
      { tools: [bash('echo oops >&2; exit 3')] },
      { tools: [bash('echo one'), bash('echo two')] },
      { tools: [{ name: 'Agent', input: subagent }] },
      { tools: [bash('echo last')] },
      { text: `Set ${MARKER} to 2 because the old limit was too low.` },
    ],
    sub: [{ tools: [bash('echo from the subagent')] }, { text: 'Looked around.' }],
    ask: [{ text: 'Nothing to do.' }],
  }
}

let place: ClientPlace
beforeAll(async () => {
  place = await ClientPlace.make(scripts)
  mkdirSync(dirname(place.settings), { recursive: true })
  writeFileSync(place.settings, SETTINGS)
  await place.memOk('install')
})
afterAll(() => place?.dispose())

const count = (kinds: readonly string[], kind: string) => kinds.filter((found) => found === kind).length

describe('a session with hooks installed', () => {
  it.each(Array.from({ length: RUNS }, (_, run) => [run + 1, run === 0 ? 'not running' : 'running']))(
    'run %i, daemon %s: every tool use and the end of the turn are stored',
    async (run, daemon) => {
      if (run === 1) await expect(place.status()).rejects.toThrow('not running')
      const session = await place.claude('[[script:work]] raise the limit')
      await place.settled()
      const stored = await place.events(session)
      const kindOf = new Map(stored.map(({ eventId, kind }) => [eventId, kind]))
      const issued = place.api.issued
      // Write, Read, Edit, five Bash (one fails, two at once, one last), the subagent and its own Bash.
      expect(issued).toHaveLength(10)
      const kept = issued.filter(({ id }) => kindOf.has(id))
      console.log(`run ${run}, daemon ${daemon}: ${kept.length} of ${issued.length} tool uses stored`)
      expect(issued.map(({ id, name, input }) => ({ name, input, kind: kindOf.get(id) }))).toEqual(
        issued.map(({ name, input }) => ({
          name,
          input,
          kind: String(input.command).includes('exit 3') ? 'tool_failure' : 'tool_use',
        })),
      )
      const kinds = stored.map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind.startsWith('tool_'))).toHaveLength(issued.length)
      expect({
        starts: count(kinds, 'session_start'),
        prompts: count(kinds, 'prompt'),
        turnEnds: count(kinds, 'turn_end'),
        sessionEnds: count(kinds, 'session_end'),
      }).toEqual({ starts: 1, prompts: 1, turnEnds: 1, sessionEnds: 1 })
      // The client refuses to write over a file that the session has not read, and reports no tool use then.
      rmSync(join(place.project, `${MARKER}.ts`))
    },
  )
})

describe("the client's own transcript", () => {
  it('holds the same tool uses, prompt and last words as the hooks reported', async () => {
    const issued = place.api.issued
    const [file] = transcripts().filter((path) => issued.some(({ id }) => readFileSync(path, 'utf8').includes(id)))
    if (file === undefined) throw new Error('the client left no transcript of the last run')
    const { values: settings } = loadSettings('', {})
    const events: MemoryEvent[] = []
    for await (const event of readTranscript(file, { settings })) events.push(event)
    const tools = events.filter((event) => event.kind === 'tool_use' || event.kind === 'tool_failure')
    const stored = await place.events(events[0]?.session ?? '')
    const reported = stored
      .filter(({ kind }) => kind.startsWith('tool_'))
      .map(({ eventId, kind }) => `${kind} ${eventId}`)
    expect(tools.map(({ kind, id }) => `${kind} ${id}`).sort()).toEqual(reported.sort())
    expect(events.find((event) => event.kind === 'prompt')).toMatchObject({ text: '[[script:work]] raise the limit' })
    expect(events.filter((event) => event.kind === 'turn_end')).toMatchObject([
      { lastMessage: `Set ${MARKER} to 2 because the old limit was too low.` },
    ])
  })

  const transcripts = () => {
    const projects = join(place.home, '.claude', 'projects')
    return readdirSync(projects).flatMap((name) =>
      readdirSync(join(projects, name))
        .filter((entry) => entry.endsWith('.jsonl'))
        .map((entry) => join(projects, name, entry)),
    )
  }
})

describe('the next session', () => {
  const markedTitles = () => {
    const db = new Database(place.paths.database, { readonly: true })
    try {
      const titles = db.prepare('SELECT title FROM observations WHERE title LIKE ?').pluck().all(`%${MARKER}%`)
      return titles.map(String)
    } finally {
      db.close()
    }
  }

  it.each(['running', 'killed'])('knows what the first one learned, with the daemon %s', async (daemon) => {
    await place.settled()
    const titles = markedTitles()
    expect(titles).not.toEqual([])
    if (daemon === 'killed') await place.killDaemon()
    await place.claude('[[script:ask]] go on')
    const request = place.api.firstRequest('ask')
    const seen = titles.filter((title) => request.includes(JSON.stringify(title).slice(1, -1)))
    console.log(`daemon ${daemon}: ${seen.length} of ${titles.length} titles in the first request`)
    expect(seen).not.toEqual([])
  })
})

describe('after uninstall', () => {
  it('the settings are what they were, to the byte, and nothing more is reported', async () => {
    await place.settled()
    await place.memOk('uninstall')
    expect(readFileSync(place.settings, 'utf8')).toBe(SETTINGS)
    const session = await place.claude('[[script:ask]] go on')
    expect(await place.events(session)).toEqual([])
  })
})
