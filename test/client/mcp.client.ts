/** The MCP server with the real Claude Code: it lists the tools and calls them, against a scripted model. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finished } from '../daemon-process.ts'
import { CLIENT, ClientPlace } from './client-place.ts'
import type { RecordedRequest, Scripts } from './messages-api.ts'

/** A word that stands nowhere but in what the first session did. */
const MARKER = 'zephyrQuota'
const SEARCH = 'mcp__claude-mem__search_memory'

const search = { name: SEARCH, input: { query: MARKER } }

/** The client does not hold its first request back for a server that starts slowly on a busy machine. */
const wait = { name: 'Bash', input: { command: 'sleep 3', description: 'a moment' } }

const scripts = (project: string): Scripts => {
  const file = join(project, `${MARKER}.ts`)
  return {
    work: [
      { tools: [{ name: 'Write', input: { file_path: file, content: `export const ${MARKER} = 1\n` } }] },
      { text: `Set ${MARKER} to 1.` },
    ],
    look: [{ tools: [wait] }, { text: 'Nothing to do.' }],
    direct: [{ tools: [wait] }, { tools: [search] }, { text: 'Found it.' }],
    // Newer clients name the tools of a server and show their schemas when asked.
    deferred: [
      { tools: [wait] },
      { tools: [{ name: 'ToolSearch', input: { query: `select:${SEARCH}`, max_results: 1 } }] },
      { tools: [search] },
      { text: 'Found it.' },
    ],
  }
}

let place: ClientPlace
beforeAll(async () => {
  place = await ClientPlace.make(scripts)
  await place.memOk('install')
  await place.claude('[[script:work]] set the quota')
  await place.settled()
  const server = [process.execPath, place.built('cli.js'), 'mcp']
  const { code, stdout, stderr } = await claude('mcp', 'add', '--scope', 'user', 'claude-mem', '--', ...server)
  if (code !== 0) throw new Error(`claude mcp add ended with ${code}: ${stdout} ${stderr}`)
})
afterAll(() => place?.dispose())

function claude(...args: string[]) {
  return finished(spawn(CLIENT, args, { cwd: place.project, env: place.env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

function offered(request: RecordedRequest | undefined): string[] {
  const tools: { name?: unknown }[] = Array.isArray(request?.body.tools) ? request.body.tools : []
  return tools.map(({ name }) => String(name))
}

const requestsOf = (script: string) => place.api.requests.filter((request) => request.script === script)

describe('Claude Code with the MCP server', () => {
  it('finds it well', async () => {
    const { stdout } = await claude('mcp', 'list')
    expect(stdout).toMatch(/claude-mem: .*(?:✓|✔) ?Connected/)
  })

  it('offers its tools to the model, whole or by name', async () => {
    await place.claude('[[script:look]] what can you do?')
    const known = JSON.stringify(requestsOf('look').at(-1)?.body)
    const tools = [
      'search_memory',
      'timeline',
      'get_observations',
      'get_session_summary',
      'get_project_context',
      'remember',
      'forget',
    ]
    expect(tools.filter((name) => !known.includes(`mcp__claude-mem__${name}`))).toEqual([])
  })

  it('calls search_memory and shows the model what it found', async () => {
    await place.claude('[[script:look]] what can you do?')
    const script = offered(requestsOf('look').at(-1)).includes(SEARCH) ? 'direct' : 'deferred'
    const session = await place.claude(`[[script:${script}]] what do you know about the quota?`)
    const last = requestsOf(script).at(-1)
    const result = toolResult(last, place.api.issued.find(({ name }) => name === SEARCH)?.id)
    console.log(`${script}: ${result}`)
    expect(result).toContain(MARKER)
    expect(result).toContain('"tokens"')
    // Reading memory is not work to remember.
    const tools = (await place.events(session)).filter(({ kind }) => kind.startsWith('tool_'))
    expect(tools.map(({ eventId }) => eventId)).not.toContain(place.api.issued.find(({ name }) => name === SEARCH)?.id)
  })
})

/** What the model was given for one of its tool calls. */
function toolResult(request: RecordedRequest | undefined, id: string | undefined): string {
  const messages: { content?: unknown }[] = Array.isArray(request?.body.messages) ? request.body.messages : []
  const blocks = messages.flatMap(({ content }): { type?: unknown; tool_use_id?: unknown; content?: unknown }[] =>
    Array.isArray(content) ? content : [],
  )
  const found = blocks.find((block) => block.type === 'tool_result' && block.tool_use_id === id)
  if (found === undefined) throw new Error(`the model was given no result for ${id}`)
  return typeof found.content === 'string' ? found.content : textIn(found.content)
}

function textIn(content: unknown): string {
  return Array.isArray(content) ? content.map((block: { text?: unknown }) => String(block.text ?? '')).join('\n') : ''
}
