/**
 * Whether a memory is about what a prompt is about. The scores of a search cannot say: they are relative, and the best
 * of a bad lot has the same as the best of a good one. So it is measured by how much of what the prompt says, the
 * memory says too. docs/context.md has the figures.
 */
import { MAX_TERMS, queryWords } from '../store/sqlite/search/match.ts'
import { STOP_WORDS } from '../store/sqlite/search/stop-words.ts'

/** What one says to a coding agent whatever the work is about: these words are no subject. */
const EVERYDAY: ReadonlySet<string> = new Set(
  `add answer ask bad badge begin better big branch break broke broken bug build call change changelog check clean code
  command comment commit complete continue create current dead delete depend dependency dependencies diff different
  directory doc document documentation double easy edit end error example exist explain extra fail failure false fast
  feature few file final find fine finish first fix folder follow format forget function get give go good great happen
  hello help here hey hi idea implement improve install instead issue job keep know language last later least leave let
  license like line lint list log long look made main maybe mean meant merge message mind minute miss missing move much
  must name need never new next nice nobody nothing number ok okay old one open option order output package part pass
  person plan please possible prepare press print problem project prompt pull push put question quick read readme ready
  real really rebase refactor remember remove rename repeat replace repo repository request rest result return revert
  review rewrite right root run same save say script second see seem set setup ship short show simple simplify since
  single slow small something sort sound speed start status step still stop stuff suggest summarize summary support sure
  switch take talk task tell test thank thanks thing think third time today todo tomorrow translate true try two type
  typo understand undo unit update upgrade use user value version wait want way week well word work worry write wrong
  year yes yesterday yet`.split(/\s+/),
)

/** `tests`, `failed`, `fixing`. */
const ENDING = /(?:s|es|d|ed|ing)$/

/** Identifiers, paths, numbers, acronyms: seldom said of anything else. */
const NAME = /[0-9_./:\\#-]|\p{Ll}\p{Lu}|\p{Lu}{2}/u
const NAME_WEIGHT = 2

/** One word in common is chance: a short prompt has to have two, or a name. */
const CHANCE = 2
/** Nobody repeats all of a long prompt: from here on it counts how much they share, not how long it is. */
const MOST_WEIGHT = 12

/** From 0 to 1 and above it for a long prompt; `matched`: the words of the prompt that the memory says. */
export function relevance(prompt: string, matched: readonly string[]): number {
  const words = tellingWords(prompt)
  const shared = words.filter((word) => matched.includes(word))
  return weightOf(shared) / (Math.min(weightOf(words), MOST_WEIGHT) + CHANCE)
}

/** The words that say what it is about. */
export function tellingWords(prompt: string): string[] {
  return queryWords(prompt)
    .slice(0, MAX_TERMS)
    .filter((word) => !isEveryday(word.toLowerCase()))
}

function isEveryday(word: string): boolean {
  const stems = [word, word.replace(ENDING, ''), word.replace(/ing$|ed$/, 'e'), word.replace(/s$/, '')]
  return stems.some((stem) => EVERYDAY.has(stem) || STOP_WORDS.has(stem))
}

function weightOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (NAME.test(word) ? NAME_WEIGHT : 1), 0)
}
