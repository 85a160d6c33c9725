/** A slice of `npm run bench -- secrets`, so that a change of the rules shows at once what it loses. */
import { describe, expect, it } from 'vitest'
import { measureCorpus } from '../../scripts/secrets/corpus.ts'

describe('the corpus of secrets', () => {
  const development = measureCorpus('development', 13)
  const checking = measureCorpus('checking', 13)

  it('has at least 60 kinds of secrets and 2,000 harmless texts', () => {
    expect(development.kinds + checking.kinds).toBeGreaterThanOrEqual(60)
    expect(development.samples + checking.samples).toBeGreaterThanOrEqual(300)
    expect(development.lookAlikes + checking.lookAlikes).toBeGreaterThanOrEqual(2_000)
  })

  it('is masked, but for two samples in a hundred', () => {
    const missed = [...development.missed, ...checking.missed]
    const samples = development.samples + checking.samples
    expect(missed.length / samples, missed.map(({ kind }) => kind).join(', ')).toBeLessThanOrEqual(0.02)
    expect(development.missed).toEqual([])
  })

  it('has hardly a harmless text that is changed', () => {
    const changed = [...development.falseMasks, ...checking.falseMasks]
    const texts = development.lookAlikes + checking.lookAlikes
    expect(changed.length / texts).toBeLessThanOrEqual(0.01)
    expect(development.falseMasks).toEqual([])
  })

  it('is not changed by a second cleaning', () => {
    expect([...development.unstable, ...checking.unstable]).toEqual([])
  })
})
