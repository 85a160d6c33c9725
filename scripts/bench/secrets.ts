/**
 * `npm run bench -- secrets [--seed N] [--show development] [--json]`: how many secrets are masked before anything is
 * stored, and how many harmless texts are changed by it. The samples are tool uses and prompts as a hook reports them,
 * with secrets made by a seeded generator. Two corpora: kinds of secrets in the surroundings in which agents meet them, and
 * (`documented_…`) formats as their vendors document them.
 *
 * - masked: share of the samples of which nothing secret is left
 * - false_masks: share of the harmless texts that are changed
 * - checking_…: the same for the half whose kinds the rules were not written against; development_…: for the other half
 * - unstable: samples that a second cleaning changes again
 */
import { parseArgs } from 'node:util'
import { printNote, report, rounded } from '../lib/report.ts'
import { type Corpus, type CorpusHalf, type CorpusResult, measureCorpus } from '../secrets/corpus.ts'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '13' },
    show: { type: 'string' },
  },
})
const seed = Number(values.seed)
if (!Number.isSafeInteger(seed)) {
  printNote('--seed needs a whole number')
  process.exit(2)
}
const half = (of: CorpusHalf): Record<Corpus, CorpusResult> => ({
  surroundings: measureCorpus('surroundings', of, seed),
  documented: measureCorpus('documented', of, seed),
})
const halves: Record<CorpusHalf, Record<Corpus, CorpusResult>> = {
  development: half('development'),
  checking: half('checking'),
}
const { development, checking } = halves
if (values.show === 'development' || values.show === 'checking') {
  for (const result of Object.values(halves[values.show])) {
    for (const { kind, kept } of result.missed) printNote(`missed ${kind}: ${kept.slice(0, 600)}`)
    for (const { text, kept } of result.falseMasks)
      printNote(`false: ${text.slice(0, 200)}\n    -> ${kept.slice(0, 300)}`)
  }
}

const masked = (...results: CorpusResult[]): number => {
  const samples = results.reduce((sum, result) => sum + result.samples, 0)
  return rounded(1 - results.reduce((sum, result) => sum + result.missed.length, 0) / samples, 4)
}
const falseMasks = (...results: CorpusResult[]): number => {
  const texts = results.reduce((sum, result) => sum + result.lookAlikes, 0)
  return rounded(results.reduce((sum, result) => sum + result.falseMasks.length, 0) / texts, 4)
}
const shares = (corpus: Corpus): Record<string, number> => {
  const [dev, check] = [development[corpus], checking[corpus]]
  return {
    masked: masked(dev, check),
    false_masks: falseMasks(dev, check),
    development_masked: masked(dev),
    development_false_masks: falseMasks(dev),
    checking_masked: masked(check),
    checking_false_masks: falseMasks(check),
    kinds: dev.kinds + check.kinds,
    samples: dev.samples + check.samples,
    harmless: dev.lookAlikes + check.lookAlikes,
    unstable: dev.unstable.length + check.unstable.length,
  }
}
const documented = Object.entries(shares('documented')).map(([name, share]) => [`documented_${name}`, share])
report({ ...shares('surroundings'), ...Object.fromEntries(documented), seed }, values.json)
