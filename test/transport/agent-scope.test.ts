/** What an agent may see: the operations of its tools, and its own project alone, unless CLAUDE_MEM_AGENT_SCOPE is `all`. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isOperationName, OPERATIONS } from '../../src/api/index.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { type Served, served } from './served.ts'

const OWN = { key: 'dir:/work/own', name: 'own' }
const OTHER = { key: 'dir:/work/other', name: 'other' }

let s: Served
let agent: DaemonClient
let isLimited: boolean
let own: number
let other: number

beforeEach(async () => {
  isLimited = true
  s = await served()
  s.context.process.limitsAgents = () => isLimited
  own = await remember(OWN, 'The lamp of our own project')
  other = await remember(OTHER, 'The lamp of the other project')
  agent = await DaemonClient.connect(s.paths, { agentProject: OWN.key })
})
afterEach(async () => {
  agent.close()
  await s.close()
})

async function remember(project: typeof OWN, text: string): Promise<number> {
  const note = { project, cwd: project.key.slice('dir:'.length), text, title: text, kind: 'discovery' } as const
  return (await s.client.call('remember', note)).observation
}

const forbidden = { code: 'forbidden', message: expect.stringContaining('CLAUDE_MEM_AGENT_SCOPE') }
const found = async (project: string | null) =>
  (await agent.call('search', { query: 'lamp', project })).answer.hits.map(({ id }) => id)

describe('an agent that is limited to its project', () => {
  test('searches, reads and lists only there', async () => {
    expect(await found(null)).toEqual([own])
    expect((await agent.call('search', { query: 'lamp' })).answer.notes).toContainEqual(
      expect.stringContaining('only the project of this agent was searched'),
    )
    expect(await found(OWN.name)).toEqual([own])
    for (const project of [OTHER.key, OTHER.name]) {
      await expect(found(project)).rejects.toMatchObject(forbidden)
      await expect(agent.call('context', { project })).rejects.toMatchObject(forbidden)
      await expect(agent.call('summaries', { project })).rejects.toMatchObject(forbidden)
      await expect(agent.call('timeline', { project })).rejects.toMatchObject(forbidden)
    }
    expect(await agent.call('observations', { ids: [own, other] })).toMatchObject({
      observations: [{ id: own }],
      missing: [other],
    })
    expect((await agent.call('timeline', {})).items.map(({ id }) => id)).toEqual([own])
    await expect(agent.call('timeline', { anchor: other })).rejects.toMatchObject({ code: 'not_found' })
    expect(await agent.call('context', { project: OWN.key })).toMatchObject({ project: { key: OWN.key } })
  })

  test('forgets and remembers only there', async () => {
    await expect(agent.call('forget', { ids: [other], confirm: true })).rejects.toMatchObject(forbidden)
    await expect(agent.call('forget', { project: OTHER.key, confirm: true })).rejects.toMatchObject(forbidden)
    const note = { project: OTHER, text: 'planted', kind: 'decision' } as const
    await expect(agent.call('remember', note)).rejects.toMatchObject(forbidden)
    expect((await agent.call('forget', { files: ['x'], confirm: false })).report.observations).toBe(0)
    expect((await agent.call('forget', { ids: [own], confirm: true })).report.observations).toBe(1)
    expect((await s.client.call('observations', { ids: [own, other] })).missing).toEqual([own])
  })

  test('sees everything while it is not limited, as a person always does', async () => {
    isLimited = false
    expect((await found(null)).sort()).toEqual([own, other].sort())
    expect((await agent.call('observations', { ids: [other] })).missing).toEqual([])
    isLimited = true
    expect(await found(null)).toEqual([own])
    expect((await s.client.call('search', { query: 'lamp' })).answer.hits).toHaveLength(2)
  })
})

test.each([true, false])('an agent can call what its tools need and nothing else (limited: %s)', async (limited) => {
  isLimited = limited
  const open = Object.keys(OPERATIONS)
    .filter(isOperationName)
    .filter((name) => (OPERATIONS[name].doors ?? []).includes('mcp'))
  expect(open.sort()).toEqual([
    'context',
    'forget',
    'hello',
    'observations',
    'passages',
    'remember',
    'search',
    'summaries',
    'timeline',
  ])
  for (const call of [agent.call('sessions'), agent.call('settings'), agent.call('projects'), agent.call('stop')]) {
    await expect(call).rejects.toMatchObject({ code: 'forbidden' })
  }
})
