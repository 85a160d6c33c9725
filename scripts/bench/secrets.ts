/**
 * `npm run bench -- secrets [--seed N] [--show development] [--json]`: how many secrets are masked before anything is
 * stored, and how many harmless texts are changed by it. The samples are tool uses and prompts as a hook reports them,
 * with secrets made by a seeded generator.
 *
 * - masked: share of the samples of which nothing secret is left
 * - false_masks: share of the harmless texts that are changed
 * - checking_…: the same for the half whose kinds the rules were not written against; development_…: for the other half
 * - unstable: samples that a second cleaning changes again
 */
import { parseArgs } from 'node:util'
import { printNote, report, rounded } from '../lib/report.ts'
import { type CorpusHalf, type CorpusResult, measureCorpus } from '../secrets/corpus.ts'

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
const halves: Record<CorpusHalf, CorpusResult> = {
  development: measureCorpus('development', seed),
  checking: measureCorpus('checking', seed),
}
const { development, checking } = halves
if (values.show === 'development' || values.show === 'checking') {
  for (const { kind, kept } of halves[values.show].missed) printNote(`missed ${kind}: ${kept.slice(0, 600)}`)
  for (const { text, kept } of halves[values.show].falseMasks)
    printNote(`false: ${text.slice(0, 200)}\n    -> ${kept.slice(0, 300)}`)
}

const masked = (...results: CorpusResult[]): number => {
  const samples = results.reduce((sum, result) => sum + result.samples, 0)
  return rounded(1 - results.reduce((sum, result) => sum + result.missed.length, 0) / samples, 4)
}
const falseMasks = (...results: CorpusResult[]): number => {
  const texts = results.reduce((sum, result) => sum + result.lookAlikes, 0)
  return rounded(results.reduce((sum, result) => sum + result.falseMasks.length, 0) / texts, 4)
}
report(
  {
    masked: masked(development, checking),
    false_masks: falseMasks(development, checking),
    development_masked: masked(development),
    development_false_masks: falseMasks(development),
    checking_masked: masked(checking),
    checking_false_masks: falseMasks(checking),
    kinds: development.kinds + checking.kinds,
    samples: development.samples + checking.samples,
    harmless: development.lookAlikes + checking.lookAlikes,
    unstable: development.unstable.length + checking.unstable.length,
    seed,
  },
  values.json,
)
