import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../../src/api/index.ts'
import { parseInput } from '../../../src/api/schemas.ts'
import { observationRecord, promptRecord, sessionOf } from '../../store/import-contract.ts'

const request = (records: readonly unknown[], over: object = {}) =>
  parseInput(OPERATIONS.import.input, {
    batch: { sessions: [sessionOf('s')], records, dryRun: false, ...over },
  })

describe('exchange.importRequest', () => {
  test('knownAs of a client is ignored', () => {
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
    expect(() => request(records, over)).toThrow('the request is not valid')
  })
})
