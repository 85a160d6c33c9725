/** Decisions and their why, where a prompt, a commit message or the agent's closing words state them. */
import { sentencesOf } from './text.ts'

/** A choice between ways: something was taken, and something else was not, or a rule was laid down. */
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
/** A plan that the agent offers is not yet a decision. */
const OFFER = /^(?:if you|would you|should i|do you want|let me know|i can|we could|you could|you may|alternatively)\b/i
const MIN_CHARS = 20

export function decisionsIn(text: string): string[] {
  return sentencesOf(text).filter(isDecision)
}

/** What a user lays down is a decision however it is put: a rule, or a wish with its reason. */
const RULE = /^(?:stay|stick|keep|use|avoid|prefer|do not|don'?t|never|always|make sure|it must|must|no )\b/i

export function rulesIn(prompt: string): string[] {
  return sentencesOf(prompt).filter((sentence) => {
    if (sentence.length < MIN_CHARS || QUESTION.test(sentence)) return false
    return isDecision(sentence) || RULE.test(sentence) || /\bbecause\b/i.test(sentence)
  })
}

function isDecision(sentence: string): boolean {
  if (sentence.length < MIN_CHARS || QUESTION.test(sentence) || OFFER.test(sentence)) return false
  return CHOICE.some((cue) => cue.test(sentence))
}

const REASON = /\b(?:because|since|so that|due to|in order to|otherwise|to avoid|as (?:it|this|the|we)\b|the reason)\b/i

/** Its own words after "because", where the sentence has them. */
export function reasonIn(sentence: string): string | null {
  const match = REASON.exec(sentence)
  return match === null ? null : sentence.slice(match.index).replace(/[.!]+$/, '')
}
