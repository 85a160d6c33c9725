/** Decisions and their reasons in a prompt, a commit message or the agent's last message, and the observation about them. */
import { type ObservationDraft, tokensForChars } from '../../domain/observation.ts'
import { ownWords } from '../../domain/reported-speech.ts'
import { splitSentences, statedReason, unique } from '../tool-events/text.ts'
import { formatTitle, startsWithVerb } from './titles.ts'

/** A choice between alternatives, or a rule with its reason. */
const CHOICE = [
  /\binstead of\b/i,
  /\brather than\b/i,
  /\bin favou?r of\b/i,
  /\b(?:decided|chose|opted|picked|settled on|agreed)\b/i,
  /\b(?:decision|trade-?off)\b/i,
  /\bprefer(?:s|red)?\b.{0,60}\b(?:over|to)\b/i,
  /\b(?:switch|switched|switching|moved?|moving|migrat\w+)\b.{0,60}\b(?:to|from)\b.{0,80}\b(?:because|since|so|as|for)\b/i,
  /\b(?:let'?s|please|we(?:'ll| will| should| must| need to)?|i)\b.{0,12}\b(?:use|keep|go with|stick with|stay with|avoid)\b/i,
  /\b(?:keep|kept|keeps|keeping|use|uses|used|using|avoid|avoids|avoided)\b.{0,120}\b(?:because|since|so that|so the|to avoid|otherwise)\b/i,
  /\b(?:do not|don'?t|never|must not|should not|shouldn'?t|no longer)\b.{0,120}\b(?:because|since|so|as it|otherwise|it would|it breaks)\b/i,
  /\b(?:deliberately|intentionally|on purpose|by design)\b/i,
  /\bnot\b.{2,60}\bbut\b.{0,100}\b(?:because|since|so)\b/i,
]
const QUESTION = /\?\s*$/
/** A suggestion of the agent is not a decision. */
const OFFER = /^(?:if you|would you|should i|do you want|let me know|i can|we could|you could|you may|alternatively)\b/i
const MIN_CHARS = 20
const MAX_DECISIONS = 4

export function findDecisions(text: string): string[] {
  return splitSentences(ownWords(text, 'message')).filter(isDecision)
}

function isDecision(sentence: string): boolean {
  if (sentence.length < MIN_CHARS || QUESTION.test(sentence) || OFFER.test(sentence)) return false
  return CHOICE.some((pattern) => pattern.test(sentence))
}

const RULE = /^(?:stay|stick|keep|use|avoid|prefer|do not|don'?t|never|always|make sure|it must|must|no )\b/i

/** Also the user's rules and wishes with a reason, which are decisions without a choice. */
export function findUserRules(prompt: string): string[] {
  return splitSentences(ownWords(prompt, 'prompt')).filter((sentence) => {
    if (sentence.length < MIN_CHARS || QUESTION.test(sentence)) return false
    return isDecision(sentence) || RULE.test(sentence) || /\bbecause\b/i.test(sentence)
  })
}

/** Null without any decision. */
export function composeDecision(
  sentences: readonly string[],
  saidBy: 'person' | 'agent',
  sources: string[],
): ObservationDraft | null {
  const decisions = unique(sentences).slice(0, MAX_DECISIONS)
  const [first] = decisions
  if (first === undefined) return null
  const hasReason = decisions.some((decision) => statedReason(decision) !== null)
  return {
    type: 'decision',
    title: decisionTitle(first),
    subtitle: `${saidBy === 'person' ? 'The user' : 'The agent'} said so${hasReason ? ', with the reason' : ''}`,
    narrative: first,
    facts: decisions.slice(1),
    concepts: hasReason ? ['trade-off', 'why-it-exists'] : ['trade-off'],
    filesRead: [],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: tokensForChars(decisions.join('').length),
    discoveryEstimated: true,
    sources,
    saidBy,
  }
}

/** Groups: verb and object, as in "Use X instead of Y". */
const CHOSEN =
  /\b(use|keep|prefer|avoid|switch to|move to|go with|stick with|store|put|return|drop|replace|choose|pick|adopt|make)\b\s+(.+?)(?=[,;]|\.(?:\s|$)|\b(?:because|since|so that|as it|otherwise)\b|$)/i
/** The imperative of other forms of the verbs. */
const IMPERATIVE = new Map(
  Object.entries({
    use: 'used using uses',
    keep: 'kept keeping keeps',
    choose: 'chose',
    pick: 'picked',
    switch: 'switched',
    move: 'moved',
    replace: 'replaced',
    drop: 'dropped',
    store: 'stored',
    avoid: 'avoids avoided',
    return: 'returns',
    make: 'made makes',
  }).flatMap(([verb, forms]) => forms.split(' ').map((form): [string, string] => [form, verb])),
)

function decisionTitle(sentence: string): string {
  const plain = sentence
    .replace(/`/g, '')
    .replace(/ ?\([^()]*\)/g, '')
    .replace(/^(?:decision|decided|note|important)\s*:\s*/i, '')
  const imperative = plain.replace(/\b[a-z]+\b/gi, (word) => IMPERATIVE.get(word.toLowerCase()) ?? word)
  const withoutReason = (text: string, reason: RegExp) => text.split(reason)[0] ?? text
  if (startsWithVerb(imperative)) return formatTitle(withoutReason(imperative, /\b(?:because|since|so that)\b/i))
  const [, verb, object] = CHOSEN.exec(imperative) ?? []
  if (verb !== undefined) return formatTitle(`${verb} ${object}`)
  return formatTitle(`Decide: ${withoutReason(plain, /\b(?:because|since)\b/i)}`)
}
