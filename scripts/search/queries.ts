/** What people and agents ask of a memory: a few telling words of something that is in it, half of the time in a sentence. */
import type { ObservationDraft } from '../../src/memory/observation.ts'
import { STOP_WORDS } from '../../src/store/sqlite/search/stop-words.ts'
import type { Random } from '../lib/random.ts'

const LEAST_WORDS = 3
const MOST_WORDS = 6
const ASKED: readonly [(words: string) => string, ...((words: string) => string)[]] = [
  (words) => `how did we fix ${words}`,
  (words) => `why does ${words} fail in the tests`,
  (words) => `where is the ${words} set up`,
  (words) => `what was decided about ${words}`,
  (words) => `which file has ${words} and what changed there`,
]

/** One for each of the observations. */
export function queriesOf(observations: readonly ObservationDraft[], random: Random): string[] {
  return observations.map(({ title, narrative, facts }, n) => {
    const text = [title, narrative, ...facts].join(' ')
    const words = [...new Set(text.match(/\p{L}[\p{L}\p{N}_]{2,}/gu) ?? [])]
    const telling = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()))
    const asked = random.shuffled(telling).slice(0, random.between(LEAST_WORDS, MOST_WORDS)).join(' ')
    return n % 2 === 0 ? asked : random.pick(ASKED)(asked)
  })
}
