import { describe, expect, it } from 'vitest'
import {
  countEntries,
  filterTurn,
  type StoryData,
  type StoryTurn,
  storyTurns,
  type TraceLine,
} from '../../src/viewer/views/session/story-turns.ts'
import { sampleObservation } from '../support/samples.ts'

const USAGE = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0 }

function trace(...lines: [id: number, event: string, way: string, effectId?: string][]): TraceLine[] {
  return lines.map(([id, event, way, effectId = null]) => {
    const [from = '', to = from] = way.split(' > ')
    return { id, at: id * 1_000, event, eventId: null, from, to, reason: '', effectId }
  })
}

function call(id: number, effectId: string, error: string | null = null): StoryData['calls'][number] {
  return {
    id,
    session: 's',
    project: 'p',
    projectName: 'p',
    effectId,
    kind: 'observe',
    provider: 'anthropic',
    model: 'm',
    promptVersion: null,
    at: 0,
    durationMs: 5,
    usage: USAGE,
    cost: null,
    error,
    observations: 0,
  }
}

function observation(id: number, promptNumber: number, effectId: string | null): StoryData['observationRows'][number] {
  return { ...sampleObservation({ id, promptNumber, createdAt: 500, title: 'x' }), effectId }
}

function story(prompts: number, parts: Partial<StoryData>): StoryData {
  return {
    received: null,
    row: {
      session: 's',
      revision: 1,
      memorySession: 'm',
      createdAt: 0,
      created_at: '1970-01-01T00:00:00.000Z',
      updated_at: '1970-01-01T00:00:00.000Z',
      completed_at: null,
      quarantine: null,
      seq: 1,
      project: { key: 'p', name: 'p' },
      client: 'claude-code',
      cwd: '/',
      transcriptPath: null,
      heardAt: 0,
      status: 'active',
      state: 'observing',
      snapshot: '{}',
      machineVersion: 1,
      wakeAt: null,
      effect: null,
      waiting: null,
      prompts,
      generation: 1,
      contextTokens: 0,
      usage: USAGE,
    },
    messages: [],
    trace: [],
    traceDropped: 0,
    observations: 0,
    summaries: 0,
    prompts: Array.from({ length: prompts }, (_, i) => ({ number: i + 1, text: `p${i + 1}`, private: false, at: 0 })),
    observationRows: [],
    summaryRows: [],
    calls: [],
    outcomes: [],
    ...parts,
  }
}

const keys = ({ entries }: StoryTurn) => entries.map(({ key }) => key)

describe('story turns', () => {
  it('assigns each transition to the turn of the prompt before it', () => {
    const turns = storyTurns(
      story(2, {
        trace: trace([1, 'SESSION_START', 'init'], [2, 'PROMPT', 'init > observing'], [3, 'PROMPT', 'observing']),
      }),
    )
    expect(turns.map(({ number }) => number)).toEqual([0, 1, 2])
    expect(turns.map(keys)).toEqual([['trace 1'], ['trace 2'], ['trace 3']])
  })

  it('counts turns from the end if the oldest transitions are deleted', () => {
    const turns = storyTurns(story(9, { trace: trace([70, 'MESSAGE', 'observing'], [71, 'PROMPT', 'observing']) }))
    expect(turns.find(({ number }) => number === 8)?.entries).toHaveLength(1)
    expect(turns.find(({ number }) => number === 9)?.entries).toHaveLength(1)
    expect(turns[0]?.entries).toEqual([])
  })

  it('groups calls and memories of an effect in the turn of its messages', () => {
    const turns = storyTurns(
      story(2, {
        trace: trace(
          [1, 'PROMPT', 'init > observing'],
          [2, 'TURN_END', 'observing > batching.calling', 'e1'],
          [3, 'PROMPT', 'batching.calling', 'e1'],
          [4, 'OBSERVED', 'batching.calling > observing', 'e1'],
        ),
        calls: [call(1, 'e1', 'overloaded'), call(2, 'e1')],
        observationRows: [observation(7, 1, 'e1'), observation(8, 1, null)],
      }),
    )
    const effect = turns[0]?.entries.find((entry) => entry.kind === 'effect' && entry.key === 'e1')
    expect(effect).toMatchObject({ what: 'observe', calls: [{ id: 1 }, { id: 2 }], observations: [{ id: 7 }] })
    expect(turns[0] === undefined ? [] : keys(turns[0])).toEqual(['by-hand 500', 'trace 1', 'trace 2', 'e1'])
  })

  it('merges repeated transitions that do not change the state', () => {
    const [turn] = storyTurns(
      story(1, {
        trace: trace(
          [1, 'PROMPT', 'init > observing'],
          [2, 'MESSAGE', 'observing'],
          [3, 'MESSAGE', 'observing'],
          [4, 'MESSAGE', 'observing'],
          [5, 'TURN_END', 'observing > batching.calling', 'e1'],
          [6, 'MESSAGE', 'batching.calling', 'e1'],
          [7, 'MESSAGE', 'batching.calling', 'e1'],
        ),
      }),
    )
    const transitions = turn?.entries.map((entry) => (entry.kind === 'transitions' ? entry.transitions.length : 0))
    expect(transitions).toEqual([1, 3, 1, 1, 1])
  })

  it('filters and counts entries', () => {
    const turns = storyTurns(
      story(2, {
        trace: trace([1, 'PROMPT', 'init > observing'], [2, 'FAILED', 'batching.calling > batching.waiting', 'e1']),
        calls: [call(1, 'e1', 'overloaded')],
        observationRows: [observation(7, 1, 'e2')],
      }),
    )
    const left = (shown: Parameters<typeof filterTurn>[1]) =>
      turns.flatMap((turn) => filterTurn(turn, shown)?.entries.map(({ key }) => key) ?? [])
    expect(left('transitions')).toEqual(['trace 1', 'trace 2'])
    expect(left('memory')).toEqual(['e2'])
    expect(left('calls')).toEqual(['e1'])
    expect(left('errors')).toEqual(['trace 2', 'e1'])
    expect(filterTurn({ number: 2, prompt: null, entries: [] }, 'calls')).toBeNull()
    expect(
      (['all', 'transitions', 'memory', 'calls', 'errors'] as const).map((shown) => countEntries(turns, shown)),
    ).toEqual([4, 2, 1, 1, 2])
  })

  it('is empty for a session without data', () => {
    expect(storyTurns(story(0, {}))).toEqual([])
  })
})
