/** Observations and sessions as a store reader returns them, for tests of renderers. */
import { newContext } from '../../machines/session/context.ts'
import { writeSnapshot } from '../../machines/session/snapshot.ts'
import type { SessionView } from '../../src/store/port.ts'
import type { LinkedObservation } from '../../src/store/search-port.ts'

const NOW = 1_800_000_000_000

export function observationOf(changes: Partial<LinkedObservation>): LinkedObservation {
  return {
    id: 12,
    session: 's-1',
    project: 'git:/repo',
    projectName: 'repo',
    type: 'discovery',
    title: 'Tests pass',
    subtitle: null,
    narrative: 'All 12 tests pass.',
    facts: [],
    concepts: [],
    filesRead: [],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: 100,
    discoveryEstimated: false,
    sources: ['toolu_1'],
    promptNumber: 1,
    contentHash: 'hash',
    promptVersion: 'v3',
    model: 'claude-haiku-4-5',
    createdAt: NOW - 30_000,
    pinned: false,
    supersededBy: null,
    supersedes: [],
    amends: [],
    amendedBy: [],
    repeats: [],
    tokens: 20,
    ...changes,
  }
}

export function sessionViewOf(state: string): SessionView {
  return {
    row: {
      session: 's-1',
      project: { key: 'git:/repo', name: 'repo' },
      client: 'claude-code',
      cwd: '/repo',
      transcriptPath: null,
      status: 'active',
      state,
      snapshot: writeSnapshot({ life: 'observing', turn: 'none' }, newContext(NOW)),
      machineVersion: 2,
      wakeAt: null,
      effect: null,
      waiting: null,
      prompts: 1,
      generation: 1,
      contextTokens: 0,
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      revision: 3,
      memorySession: 's-1:1',
      createdAt: NOW - 90_000,
      heardAt: NOW - 1_000,
      quarantine: null,
      seq: 9,
    },
    messages: [],
    trace: [],
    traceDropped: 0,
    observations: 0,
    summaries: 0,
  }
}
