/** Measures how many secrets of the corpus are masked, and how many harmless texts are changed. */
import { sanitizeText, sanitizeToolFields } from '../../src/domain/sanitize.ts'
import { CHECKING_KINDS } from './checking-kinds.ts'
import { DEVELOPMENT_KINDS } from './development-kinds.ts'
import { CHECKING_LOOK_ALIKES, DEVELOPMENT_LOOK_ALIKES, lookAlikes } from './lookalikes.ts'
import { type ReportedText, type SecretKind, type SecretSample, SecretValues } from './samples.ts'

export type CorpusHalf = 'development' | 'checking'

const KINDS: Record<CorpusHalf, Record<string, SecretKind>> = {
  development: DEVELOPMENT_KINDS,
  checking: CHECKING_KINDS,
}
const LOOK_ALIKES = { development: DEVELOPMENT_LOOK_ALIKES, checking: CHECKING_LOOK_ALIKES }

export interface CorpusResult {
  kinds: number
  samples: number
  /** Samples of which something secret was left, as they were kept. */
  missed: { kind: string; kept: string }[]
  /** Samples that a second cleaning changes again. */
  unstable: { kind: string; once: string; twice: string }[]
  lookAlikes: number
  /** Harmless texts that were changed. */
  falseMasks: { text: string; kept: string }[]
}

export function measureCorpus(half: CorpusHalf, seed: number): CorpusResult {
  const values = new SecretValues(seed)
  const samples: SecretSample[] = Object.entries(KINDS[half]).flatMap(([kind, make]) =>
    make(values).map((one) => ({ kind, ...one })),
  )
  const missed = samples.flatMap(({ kind, reported, secrets }) => {
    const kept = cleaned(reported)
    return secrets.some((secret) => kept.includes(JSON.stringify(secret).slice(1, -1))) ? [{ kind, kept }] : []
  })
  const unstable = samples.flatMap(({ kind, reported }) => {
    const once = clean(reported)
    const [before, after] = [JSON.stringify(once), JSON.stringify(clean(once))]
    return before === after ? [] : [{ kind, once: before, twice: after }]
  })
  const texts = lookAlikes(LOOK_ALIKES[half], values)
  const falseMasks = texts.flatMap((text) => {
    const reported: ReportedText = { type: 'tool', input: { command: 'cat out.txt' }, response: { stdout: text } }
    const kept = cleaned(reported)
    const before = JSON.stringify({ input: reported.input, response: reported.response })
    return kept === before ? [] : [{ text, kept }]
  })
  return {
    kinds: Object.keys(KINDS[half]).length,
    samples: samples.length,
    missed,
    unstable,
    lookAlikes: texts.length,
    falseMasks,
  }
}

function cleaned(reported: ReportedText): string {
  const kept = clean(reported)
  return JSON.stringify(kept.type === 'prompt' ? kept.text : { input: kept.input, response: kept.response })
}

function clean(reported: ReportedText): ReportedText {
  if (reported.type === 'prompt') return { type: 'prompt', text: sanitizeText(reported.text) }
  const { input, response } = sanitizeToolFields({ input: reported.input, response: reported.response })
  return { type: 'tool', input: typeof input === 'object' && input !== null ? { ...input } : {}, response }
}
