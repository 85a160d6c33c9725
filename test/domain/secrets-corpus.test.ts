/** `npm run bench -- secrets`, so that a change of the rules shows at once what it loses. */
import { describe, expect, it } from 'vitest'
import { type CorpusResult, measureCorpus } from '../../scripts/secrets/corpus.ts'
import { DOCUMENTED_FORMATS, documentedHalf } from '../../scripts/secrets/documented/index.ts'

const SEED = 13
const missedShare = ({ missed, samples }: CorpusResult): number => missed.length / samples
const falseShare = ({ falseMasks, lookAlikes }: CorpusResult): number => falseMasks.length / lookAlikes

describe.each(['surroundings', 'documented'] as const)('the corpus of secrets: %s', (corpus) => {
  const development = measureCorpus(corpus, 'development', SEED)
  const checking = measureCorpus(corpus, 'checking', SEED)

  it('has at least 60 kinds of secrets, 300 samples and 300 harmless texts', () => {
    expect(development.kinds + checking.kinds).toBeGreaterThanOrEqual(60)
    expect(development.samples + checking.samples).toBeGreaterThanOrEqual(300)
    expect(development.lookAlikes + checking.lookAlikes).toBeGreaterThanOrEqual(corpus === 'documented' ? 300 : 2_000)
  })

  it('is masked, but for three samples in a hundred', () => {
    expect(missedShare(checking)).toBeLessThanOrEqual(0.03)
    expect(missedShare(development), development.missed.map(({ kind }) => kind).join(', ')).toBeLessThanOrEqual(
      corpus === 'documented' ? 0.03 : 0,
    )
  })

  it('has hardly a harmless text that is changed', () => {
    expect(falseShare(checking)).toBeLessThanOrEqual(0.01)
    expect(development.falseMasks).toEqual([])
  })

  it('is not changed by a second cleaning', () => {
    expect([...development.unstable, ...checking.unstable]).toEqual([])
  })
})

describe('the documented formats', () => {
  it('are in two halves by vendor and format', () => {
    const names = DOCUMENTED_FORMATS.map(({ vendor, format }) => `${vendor}: ${format}`)
    expect(new Set(names).size).toBe(names.length)
    const checking = DOCUMENTED_FORMATS.filter((format) => documentedHalf(format) === 'checking').length
    expect(checking / names.length).toBeGreaterThan(0.4)
    expect(checking / names.length).toBeLessThan(0.6)
  })

  it('have at least 300 texts with a secret and 300 without', () => {
    const texts = (of: 'secret' | 'harmless') => DOCUMENTED_FORMATS.flatMap((format) => format[of]).length
    expect(texts('secret')).toBeGreaterThanOrEqual(300)
    expect(texts('harmless')).toBeGreaterThanOrEqual(300)
  })
})
