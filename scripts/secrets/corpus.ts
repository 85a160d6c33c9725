/** Measures how many secrets of the corpus are masked, and how many harmless texts are changed. */
import { sanitizeText, sanitizeToolFields } from '../../src/domain/sanitize.ts'
import { CHECKING_KINDS } from './checking-kinds.ts'
import { DEVELOPMENT_KINDS } from './development-kinds.ts'
import { documentedSamples } from './documented/index.ts'
import { CHECKING_LOOK_ALIKES, DEVELOPMENT_LOOK_ALIKES, lookAlikes } from './lookalikes.ts'
import { bash, type ReportedText, type SecretKind, type SecretSample, SecretValues } from './samples.ts'

export type CorpusHalf = 'development' | 'checking'
/** `surroundings`: kinds of secrets where agents meet them; `documented`: formats from their vendors' documentation. */
export type Corpus = 'surroundings' | 'documented'

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

export function measureCorpus(corpus: Corpus, half: CorpusHalf, seed: number): CorpusResult {
  const { secret, harmless } =
    corpus === 'documented' ? documentedSamples(half, seed) : surroundingSamples(KINDS[half], LOOK_ALIKES[half], seed)
  const missed = secret.flatMap(({ kind, reported, secrets }) => {
    const kept = told(clean(reported))
    return secrets.some((one) => isLeft(JSON.stringify(one).slice(1, -1), kept)) ? [{ kind, kept }] : []
  })
  const unstable = [...secret, ...harmless].flatMap(({ kind, reported }) => {
    const once = clean(reported)
    const [before, after] = [JSON.stringify(once), JSON.stringify(clean(once))]
    return before === after ? [] : [{ kind, once: before, twice: after }]
  })
  const falseMasks = harmless.flatMap(({ reported }) => {
    const [text, kept] = [told(reported), told(clean(reported))]
    return kept === text ? [] : [{ text, kept }]
  })
  const kinds = new Set(secret.map(({ kind }) => kind)).size
  return { kinds, samples: secret.length, missed, unstable, lookAlikes: harmless.length, falseMasks }
}

function surroundingSamples(
  kinds: Record<string, SecretKind>,
  templates: Parameters<typeof lookAlikes>[0],
  seed: number,
): Record<'secret' | 'harmless', SecretSample[]> {
  const values = new SecretValues(seed)
  const secret = Object.entries(kinds).flatMap(([kind, make]) => make(values).map((one) => ({ kind, ...one })))
  const harmless = lookAlikes(templates, values).map((text) => ({
    kind: 'harmless',
    reported: bash('cat out.txt', text),
    secrets: [],
  }))
  return { secret, harmless }
}

/** Characters of a secret in a row: a mask that ends within the secret has not masked it. */
const LEAST_LEFT = 6

function isLeft(secret: string, kept: string): boolean {
  const rest = kept.replace(/\[secret:[a-z-]+\]/g, '')
  for (let at = 0; at === 0 || at + LEAST_LEFT <= secret.length; at++) {
    if (rest.includes(secret.slice(at, at + LEAST_LEFT))) return true
  }
  return false
}

function told(reported: ReportedText): string {
  return JSON.stringify(
    reported.type === 'prompt' ? reported.text : { input: reported.input, response: reported.response },
  )
}

function clean(reported: ReportedText): ReportedText {
  if (reported.type === 'prompt') return { type: 'prompt', text: sanitizeText(reported.text) }
  const { input, response } = sanitizeToolFields({ input: reported.input, response: reported.response })
  return { type: 'tool', input: typeof input === 'object' && input !== null ? { ...input } : {}, response }
}
