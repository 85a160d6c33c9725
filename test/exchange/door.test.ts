import { describe, expect, test } from 'vitest'
import { PROTOCOL_VERSION } from '../../src/channel/protocol.ts'
import { parseRequest } from '../../src/channel/schema.ts'
import { observationRecord, promptRecord, sessionOf } from '../store/import-contract.ts'

const request = (records: readonly unknown[], over: object = {}) =>
  parseRequest({
    v: PROTOCOL_VERSION,
    id: '1',
    type: 'import',
    batch: { sessions: [sessionOf('s')], records, dryRun: false, ...over },
  })

describe('exchange.door', () => {
  test('what is known already is for the daemon to say', () => {
    const record = observationRecord('s')
    expect(request([{ ...record, knownAs: ['forged'] }, promptRecord('s', 1)])).toMatchObject({
      batch: { records: [record, promptRecord('s', 1)] },
    })
    expect(JSON.stringify(request([{ ...record, knownAs: ['forged'] }]))).not.toContain('forged')
  })

  test.each([
    ['a session as a record', [{ kind: 'session', id: 's' }], {}],
    ['an observation of an unknown type', [{ ...observationRecord('s'), type: 'dream' }], {}],
    ['an observation without an end', [{ ...observationRecord('s'), facts: Array(2_001).fill('x') }], {}],
    ['more than fits', Array(201).fill(promptRecord('s', 1)), {}],
    ['a session without a project', [], { sessions: [{ ...sessionOf('s'), project: null }] }],
    ['nothing', [], { dryRun: undefined }],
  ])('%s is refused', (_what, records, over) => {
    expect(() => request(records, over)).toThrow('the request is not understood')
  })
})
