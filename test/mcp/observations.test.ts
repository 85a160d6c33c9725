import { afterEach, describe, expect, it } from 'vitest'
import type { LinkedObservation } from '../../src/store/search-port.ts'
import { TestDesk } from './desk.ts'
import { AT, observation, SESSION } from './stand-in-daemon.ts'

let desk: TestDesk
afterEach(() => desk?.close())

describe('get_observations', () => {
  const withMemories = async (all: LinkedObservation[]) => {
    desk = await TestDesk.open({
      memory: {
        observations: async (ids) => ({
          observations: all.filter(({ id }) => ids.includes(id)),
          missing: ids.filter((wanted) => !all.some(({ id }) => id === wanted)),
        }),
      },
    })
  }

  it('reads memories whole, and says which are not there', async () => {
    await withMemories([observation({ supersededBy: 130, repeats: [7] })])
    const { data, text } = await desk.call('get_observations', { ids: [123, 9, 123] })
    expect(data).toEqual({
      observations: [
        {
          id: 123,
          type: 'bugfix',
          title: 'agent: “Fix JWT expiry”',
          narrative: 'agent: “The clock was read in local time.”',
          facts: ['agent: “exp is in seconds”'],
          concepts: ['“jwt”'],
          files_modified: ['`src/auth/jwt.ts`'],
          functions_changed: ['modified “verify” in `src/auth/jwt.ts`'],
          at: '2026-11-16 14:30',
          project: '`shop`',
          session: '5f1c0a1e',
          prompt: 2,
          superseded_by: 130,
          repeats: [7],
        },
      ],
      missing: [9],
      tokens: expect.any(Number),
    })
    expect(text).toContain('#123 bugfix: agent: “Fix JWT expiry”\n2026-11-16 14:30, `shop`, session 5f1c0a1e, prompt 2')
    expect(text).toContain('Superseded by #130')
    expect(text).toContain('Not found: #9.')
  })

  it('says whether a problem is open', async () => {
    await withMemories([observation({ status: 'open' })])
    const { data, text } = await desk.call('get_observations', { ids: [123] })
    expect(data).toMatchObject({ observations: [{ id: 123, status: 'open' }] })
    expect(text).toContain('#123 bugfix, open: agent: “Fix JWT expiry”\n')
  })

  it('lists the passages that an observation was made of', async () => {
    const passage = {
      id: 7,
      kind: 'command' as const,
      subject: 'npm test',
      outcome: 'failed' as const,
      text: '3 failed',
    }
    const place = { eventId: 'e', position: 0, promptNumber: 2, at: AT, session: SESSION, project: 'p' }
    const passages = [{ ...passage, ...place, observationId: 123 }]
    desk = await TestDesk.open({
      memory: { observations: async () => ({ observations: [observation()], passages, missing: [] }) },
    })
    const { data, text } = await desk.call('get_observations', { ids: [123] })
    expect(data.observations).toMatchObject([{ evidence: ['p7 command “npm test” tool: “3 failed”'] }])
    expect(text).toContain('p7 command “npm test” tool: “3 failed”')
  })

  it('reads a passage with what is around it', async () => {
    const place = { eventId: 'e', promptNumber: 2, at: AT, session: SESSION, project: 'p', projectName: 'shop' }
    const said = { kind: 'words' as const, subject: null, outcome: null, observationIds: [] }
    const around = [6, 7].map((id) => ({ ...said, ...place, id, position: id, text: `text ${id}` }))
    desk = await TestDesk.open({ memory: { passages: async () => ({ passages: [{ id: 7, around }], missing: [9] }) } })
    const { data, text } = await desk.call('get_observations', { ids: ['p7', 'p9'] })
    expect(data).toMatchObject({ observations: [], passages: [{ id: 'p7' }], missing: ['p9'] })
    expect(text).toContain('p6 2026-11-16 14:30 words\nagent: “text 6”\np7 2026-11-16 14:30 words\nagent: “text 7”')
    expect(text).toContain('Not found: p9.')
  })

  it('keeps paragraphs, and shows a fragment as what it is', async () => {
    const bare = {
      title: null,
      narrative: 'One.\n\nTwo.',
      facts: [],
      concepts: [],
      filesModified: [],
      functionsChanged: [],
    }
    await withMemories([observation(bare)])
    const { data, text } = await desk.call('get_observations', { ids: [123] })
    expect(data.observations).toEqual([
      {
        id: 123,
        type: 'bugfix',
        narrative: 'agent:\n> One.\n> Two.',
        at: '2026-11-16 14:30',
        project: '`shop`',
        session: '5f1c0a1e',
        prompt: 2,
      },
    ])
    expect(text).toContain('#123 bugfix: (untitled)')
  })

  it('has a bound; what does not fit is named in the order it was asked for', async () => {
    const long = 'some words that go on. '.repeat(1_000)
    const all = Array.from({ length: 10 }, (_, i) => observation({ id: i + 1, narrative: long }))
    await withMemories(all)
    const { data, text } = await desk.call('get_observations', { ids: all.map(({ id }) => id) })
    expect(data.observations).toHaveLength(3)
    expect(data.left_out).toEqual([4, 5, 6, 7, 8, 9, 10])
    expect(data.tokens).toBeLessThanOrEqual(8_000)
    expect(JSON.stringify(data)).toContain('characters left out')
    expect(text).toContain('request them next: #4, #5')
    expect(text.length).toBeLessThan(40_000)
  })

  it('shows one whatever its size', async () => {
    const long = 'word '.repeat(2_000)
    const many = Array.from({ length: 100 }, () => long)
    const functionsChanged = many.map((name) => ({ name, file: name, action: 'new' as const }))
    const huge = { title: long, subtitle: long, narrative: long, facts: many, concepts: many, filesRead: many }
    await withMemories([observation({ ...huge, filesModified: many, functionsChanged, agent: long, session: long })])
    const { data } = await desk.call('get_observations', { ids: [123] })
    expect(data.left_out).toBeUndefined()
    expect(JSON.stringify(data).length).toBeLessThan(45_000)
    expect(data.observations).toMatchObject([{ facts: expect.arrayContaining(['… 80 more']) }])
  })

  it.each([
    [{}],
    [{ ids: [] }],
    [{ ids: [0] }],
    [{ ids: ['1'] }],
    [{ ids: Array.from({ length: 51 }, (_, i) => i + 1) }],
  ])('refuses %j', async (args) => {
    await withMemories([])
    expect(await desk.call('get_observations', args)).toMatchObject({
      isError: true,
      text: expect.stringContaining('ids'),
    })
    expect(desk.daemon.asked).toEqual([])
  })
})
