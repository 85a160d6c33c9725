/** The built program as an agent runs it: the official SDK's client over stdio, and a real daemon behind it. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Program } from '../cli/program.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { isAlive } from '../support/programs.ts'
import { type Called, called } from './desk.ts'

let program: Program
const work = temporaryDirectory('mcp-work')
beforeAll(async () => {
  program = await Program.make()
}, 60_000)
afterAll(async () => {
  await program.end()
}, 60_000)

interface Agent {
  client: Client
  pid: number
  call(name: string, args?: Record<string, unknown>): Promise<Called>
}

const agents: Agent[] = []
afterEach(async () => {
  for (const { client } of agents.splice(0)) await client.close()
})

async function agent(project: string, dataDir = program.dataDir): Promise<Agent> {
  const directory = join(work, project)
  mkdirSync(directory, { recursive: true })
  const all = Object.entries({ ...program.env, CLAUDE_PROJECT_DIR: directory })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(program.dist, 'cli.js'), 'mcp', '--data-dir', dataDir],
    env: Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    cwd: work,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  await client.listTools()
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    called(await client.callTool({ name, arguments: args }))
  const made = { client, pid: transport.pid ?? 0, call }
  agents.push(made)
  return made
}

const NOTE = { title: 'Amounts are kept in cents', text: 'Floats lost money in the zephyrQuota report.' }

describe('claude-mem mcp', () => {
  it('starts the daemon when a tool needs it', async () => {
    const { call, client } = await agent('start')
    expect((await client.listTools()).tools).toHaveLength(7)
    expect(await program.json('status')).toMatchObject({ running: false })
    expect(await call('search_memory', { query: 'cents' })).toMatchObject({
      isError: false,
      data: { total: 0, results: [] },
    })
    expect(await program.json('status')).toMatchObject({ running: true })
  })

  it('keeps a memory, finds it, reads it, and forgets it', async () => {
    const { call } = await agent('shop')
    const { data } = await call('remember', { ...NOTE, concepts: ['money'], files: ['src/pay.ts'] })
    const id = data.id
    expect(data).toMatchObject({ id: expect.any(Number), project: '`shop`' })
    const found = await call('search_memory', { query: 'zephyrQuota' })
    expect(found.data.results).toMatchObject([{ id, type: 'decision', title: `the agent noted: “${NOTE.title}”` }])
    expect((await call('timeline', { anchor: id })).data).toMatchObject({ anchor: id })
    expect((await call('get_observations', { ids: [id] })).data).toMatchObject({
      observations: [{ id, narrative: `the agent noted: “${NOTE.text}”`, concepts: ['“money”'], project: '`shop`' }],
    })
    expect((await call('get_project_context')).text).toContain(NOTE.title)
    expect((await call('get_session_summary')).isError).toBe(false)

    expect((await call('forget', { ids: [id], confirm: true })).isError).toBe(true)
    expect((await call('forget', { ids: [id] })).data).toMatchObject({ dry_run: true, ids: [id] })
    expect((await call('get_observations', { ids: [id] })).data.observations).toHaveLength(1)
    expect((await call('forget', { ids: [id], confirm: true })).data).toMatchObject({ dry_run: false, observations: 1 })
    expect((await call('get_observations', { ids: [id] })).data).toMatchObject({ observations: [], missing: [id] })
    expect((await call('search_memory', { query: 'zephyrQuota' })).data.results).toEqual([])
  })

  it('shows a project only its own memories, whatever the agent asks for, until the user allows all', async () => {
    const [one, other] = [await agent('one'), await agent('other')]
    const { data } = await one.call('remember', { title: 'Only of one', text: 'quixotic' })
    expect((await other.call('search_memory', { query: 'quixotic' })).data.results).toEqual([])
    const all = await other.call('search_memory', { query: 'quixotic', project: 'all' })
    expect(all.data.results).toEqual([])
    expect(all.text).toContain('only the project of this agent was searched (CLAUDE_MEM_AGENT_SCOPE')
    expect((await other.call('search_memory', { query: 'quixotic', project: 'one' })).isError).toBe(true)
    expect((await other.call('get_observations', { ids: [data.id] })).data.missing).toEqual([data.id])
    await program.run(['config', 'set', 'agent-scope', 'all'])
    await program.run(['restart'])
    await program.json('status')
    expect((await other.call('search_memory', { query: 'quixotic', project: 'all' })).data.results).toMatchObject([
      { id: data.id, project: '`one`' },
    ])
    expect((await other.call('search_memory', { query: 'quixotic', project: 'one' })).data.results).toHaveLength(1)
  })

  it('serves two agents that ask at the same time', async () => {
    const both = await Promise.all([agent('pair'), agent('pair')])
    const kept = await Promise.all(
      both.map(({ call }, i) => call('remember', { title: `Note ${i}`, text: 'borealis' })),
    )
    const searches = Array.from({ length: 10 }, (_, i) => both[i % 2]?.call('search_memory', { query: 'borealis' }))
    for (const found of await Promise.all(searches)) {
      expect(found?.isError).toBe(false)
      const rows = [found?.data.results].flat().map((row) => Object(row))
      expect(rows.flatMap(({ id, similar = [] }) => [id, ...similar]).sort()).toEqual(
        kept.map(({ data }) => data.id).sort(),
      )
    }
  })

  it.each(['restarted', 'killed', 'stopped'])('goes on after the daemon was %s', async (how) => {
    const { call } = await agent(`shop-${how}`)
    const query = `tundra${how}`
    await call('remember', { title: 'Before', text: query })
    const { pid } = await program.json('status')
    if (how === 'killed') process.kill(pid, 'SIGKILL')
    else await program.run([how === 'restarted' ? 'restart' : 'stop'])
    expect((await call('search_memory', { query })).data.results).toMatchObject([
      { title: 'the agent noted: “Before”' },
    ])
    expect((await program.json('status')).pid).not.toBe(pid)
    expect((await call('remember', { title: 'After', text: `${query} and more` })).isError).toBe(false)
  })

  it('says what to do where no daemon can be had', async () => {
    const file = join(work, 'a-file')
    writeFileSync(file, '')
    const { call } = await agent('broken', join(file, 'data'))
    for (const name of ['search_memory', 'get_project_context']) {
      const { isError, text } = await call(name)
      expect(isError).toBe(true)
      expect(text).toContain('Continue without the memory for now')
    }
  })

  it('ends with its client, and has said nothing but the protocol', async () => {
    await program.json('start')
    const child = program.spawn(['mcp', '--data-dir', program.dataDir])
    const out: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    const messages = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'search_memory', arguments: { query: 'x' } } },
    ]
    for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    child.stdin.end()
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    const lines = Buffer.concat(out).toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text' }] } },
    ])
  })

  it('leaves no process behind when the client goes without a word', async () => {
    const { client, pid, call } = await agent('gone')
    await call('search_memory', { query: 'x' })
    expect(isAlive(pid)).toBe(true)
    await client.close()
    expect(isAlive(pid)).toBe(false)
  })
})
