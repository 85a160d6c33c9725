import { describe, expect, it } from 'vitest'
import { outcomeParts, type StoryData, storyTurns, type TraceLine } from '../../src/viewer/views/session/story-turns.ts'
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
    given: [],
    outcomes: [],
    ...parts,
  }
}

const ids = (rows: readonly { id: number }[] = []) => rows.map(({ id }) => id)

describe('story turns', () => {
  it('assigns each transition to the turn of the prompt before it', () => {
    const turns = storyTurns(
      story(2, {
        trace: trace([1, 'SESSION_START', 'init'], [2, 'PROMPT', 'init > observing'], [3, 'PROMPT', 'observing']),
      }),
    )
    expect(turns.map(({ number, trace }) => [number, ids(trace)])).toEqual([
      [0, [1]],
      [1, [2]],
      [2, [3]],
    ])
  })

  it('counts turns from the end if the oldest transitions are deleted', () => {
    const turns = storyTurns(story(9, { trace: trace([70, 'MESSAGE', 'observing'], [71, 'PROMPT', 'observing']) }))
    const of = (number: number) => ids(turns.find((turn) => turn.number === number)?.trace)
    expect([of(1), of(8), of(9)]).toEqual([[], [70], [71]])
  })

  it('has each turn once, with the calls and memories of its messages', () => {
    const turns = storyTurns(
      story(2, {
        trace: trace(
          [1, 'PROMPT', 'init > observing'],
          [2, 'TURN_END', 'observing > batching.calling', 'e1'],
          [3, 'PROMPT', 'batching.calling', 'e1'],
          [4, 'OBSERVED', 'batching.calling > observing', 'e1'],
        ),
        calls: [call(1, 'e1', 'overloaded'), call(2, 'e1'), call(3, 'e2')],
        observationRows: [observation(7, 1, 'e1'), observation(8, 1, null), observation(9, 2, 'e2')],
      }),
    )
    expect(turns.map(({ number, observations, calls }) => [number, ids(observations), ids(calls)])).toEqual([
      [1, [7, 8], [1, 2]],
      [2, [9], [3]],
    ])
  })

  it('is empty for a session without data', () => {
    expect(storyTurns(story(0, {}))).toEqual([])
  })
})

describe('what came of a turn', () => {
  it('is told without the request and without empty parts', () => {
    const summary = { investigated: null, learned: 'why', completed: 'fixed', nextSteps: '', notes: null }
    expect(outcomeParts(summary).map(({ name }) => name)).toEqual(['Completed', 'Learned'])
  })
})
