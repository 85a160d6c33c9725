/** Titles: under ten words, imperative, specific, one line. */
import { clean, cut } from './text.ts'

const MAX_WORDS = 9
const MAX_CHARS = 80

/** Verbs that begin a title, in the form they have there. */
const VERBS =
  'add adjust allow analyse analyze apply avoid bind block build bump cache call cap catch change check clarify clean clear close collect commit compare compile compute configure connect consult convert copy correct count cover create cut deal debug decide decouple default define delay delete deploy deprecate derive describe detect diagnose disable discover do document double downgrade drop dump emit enable encode ensure escape evaluate examine exclude expand explain explore export expose extend extract fail fetch filter find finish fix flag flatten follow force format forward free generate give guard guide halve handle harden hide hook ignore implement import improve include increase index inject inline inspect install instrument integrate introduce invalidate investigate isolate keep launch learn let lift limit link lint list load lock log look lower make map mark mask match measure memoise memoize merge migrate mock modernise modernize monitor move name narrow normalise normalize note observe open optimise optimize order override pack pad parse pass patch persist pick pin plan point poll port post prefer prepare preserve prevent print profile propagate protect prove publish pull push put queue raise read rebase rebuild record reduce refactor refresh refuse register reject release reload remember remove rename render reorder repair replace report reproduce require reserve reset resolve respect restart restore restrict restructure retry return reuse revert review revise rewrite roll rotate round route run sanitise sanitize save scale schedule search secure select send separate serialise serialize serve set ship show shrink simplify skip sort specify speed split stabilise stabilize start stay stick stop store stream strip summarise summarize support surface suppress swap switch sync take tell test throttle tidy time touch trace track translate treat trigger trim try tune turn type understand undo unify unlock update upgrade upload use validate verify wait warn watch widen wire work wrap write'
const KNOWN = new Set(VERBS.split(' '))

export function startsWithVerb(text: string): boolean {
  const word = /^[A-Za-z]+/.exec(text)?.[0].toLowerCase()
  return word !== undefined && KNOWN.has(word)
}

/** Nine words at most, no full stop, a capital first. */
export function titleOf(text: string): string {
  const line = clean(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^[-*•>\s]+/, '')
  const words = line.split(' ').slice(0, MAX_WORDS).join(' ')
  const short = cut(words, MAX_CHARS)
    .replace(/[\s.,;:–—-]+$/, '')
    .replace(/(?:\s+(?:and|or|the|a|an|of|in|to|for|with|by|from|at|on|that|is|are|instead|rather|than))+$/i, '')
  return short.charAt(0).toUpperCase() + short.slice(1)
}

/** `feat(cart): add totals` says what was done after its label. */
export function withoutLabel(subject: string): string {
  return subject.replace(/^(?:feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert)(?:\([^)]*\))?!?:\s*/i, '')
}

const POLITE =
  /^(?:(?:good|nice|perfect|second thing|one more thing|hi|hello|hey|ok|okay|so|now|please|great|thanks|thank you|and|then|also|next|first|well)[,!.:]*\s+)+/i
const WRAPPED =
  /^(?:can|could|would|will) you(?: please)?\s+|^(?:i want|i need|i'd like|we need|we want|we should|let's|you should|go ahead and|try)(?: you)?(?: to)?\s+/i

/** What a prompt is about, without its politeness. */
export function gistOf(prompt: string): string {
  return prompt.trim().replace(POLITE, '').replace(WRAPPED, '').replace(POLITE, '')
}

/** The request as an imperative, where the prompt is one. */
export function requestTitle(prompt: string | null): string | null {
  if (prompt === null) return null
  const [first = ''] = prompt.trim().split(/\n|(?<=[.!?])\s/)
  const bare = first
    .replace(POLITE, '')
    .replace(WRAPPED, '')
    .replace(POLITE, '')
    .replace(/[?!.]+$/, '')
  return startsWithVerb(bare) && bare.split(' ').length > 1 ? titleOf(bare) : null
}
