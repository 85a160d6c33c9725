/** Decisions as notes of their own: what was chosen, and why. */
import { type ObservationDraft, tokensOf } from '../../memory/observation.ts'
import { reasonIn } from './decisions.ts'
import { unique } from './text.ts'
import { startsWithVerb, titleOf } from './titles.ts'

const MAX_DECISIONS = 4

/** Null where nothing was decided. */
export function decisionNote(found: readonly string[], source: string, sources: string[]): ObservationDraft | null {
  const decisions = unique(found).slice(0, MAX_DECISIONS)
  const [first] = decisions
  if (first === undefined) return null
  const reason = decisions.map(reasonIn).find((one) => one !== null) ?? null
  return {
    type: 'decision',
    title: decisionTitle(first),
    subtitle: `${source} said so${reason === null ? '' : ', with the reason'}`,
    narrative: first,
    facts: decisions.slice(1),
    concepts: reason === null ? ['trade-off'] : ['trade-off', 'why-it-exists'],
    filesRead: [],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: tokensOf(decisions.join('').length),
    discoveryEstimated: true,
    sources,
  }
}

/** The choice itself, as an imperative: "Use X instead of Y". */
const CHOSEN =
  /\b(use|keep|prefer|avoid|switch to|move to|go with|stick with|store|put|return|drop|replace|choose|pick|adopt|make)\b\s+(.+?)(?=[,;]|\.(?:\s|$)|\b(?:because|since|so that|as it|otherwise)\b|$)/i
const GERUND: Record<string, string> = {
  used: 'use',
  using: 'use',
  uses: 'use',
  kept: 'keep',
  keeping: 'keep',
  keeps: 'keep',
  chose: 'choose',
  picked: 'pick',
  switched: 'switch',
  moved: 'move',
  replaced: 'replace',
  dropped: 'drop',
  stored: 'store',
  avoids: 'avoid',
  avoided: 'avoid',
  returns: 'return',
  made: 'make',
  makes: 'make',
}

function decisionTitle(sentence: string): string {
  const plain = sentence
    .replace(/`/g, '')
    .replace(/\s*\([^)]*\)/g, '')
    .replace(/^(?:decision|decided|note|important)\s*:\s*/i, '')
  const present = plain.replace(/\b[a-z]+\b/gi, (word) => GERUND[word.toLowerCase()] ?? word)
  if (startsWithVerb(present)) return titleOf(present.split(/\b(?:because|since|so that)\b/i)[0] ?? present)
  const chosen = CHOSEN.exec(present)
  if (chosen !== null) return titleOf(`${chosen[1]} ${chosen[2]}`)
  return titleOf(`Decide: ${plain.split(/\b(?:because|since)\b/i)[0] ?? plain}`)
}
