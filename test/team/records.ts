/** Records as a machine makes them. */
import { randomBytes } from 'node:crypto'
import type { TeamRecord } from '../../src/domain/team-record.ts'

export const SHOP = 'repo:github.com/acme/shop'

export type ObservationOfTeam = Extract<TeamRecord, { kind: 'observation' }>

export function observationRecord(
  title: string,
  body: Partial<ObservationOfTeam['body']> = {},
  repository = SHOP,
): ObservationOfTeam {
  return {
    id: randomBytes(16).toString('hex'),
    kind: 'observation',
    repository,
    at: 1_000,
    body: {
      session: { id: 'session-1', client: 'claude-code', prompts: 1, startedAt: 500 },
      type: 'decision',
      title,
      subtitle: null,
      narrative: null,
      facts: [],
      concepts: [],
      filesRead: [],
      filesModified: [],
      functionsChanged: [],
      agent: null,
      discoveryTokens: 10,
      discoveryEstimated: true,
      sources: [],
      saidBy: 'agent',
      saidIn: null,
      promptNumber: 1,
      promptVersion: null,
      model: null,
      createdAt: 900,
      ...body,
    },
  }
}
