/** What a hit shows of a text: enough to answer from, the sentences that match best. */
import type { QueryComparer } from './embedders/static.ts'
import type { QueryName } from './query.ts'

/** How much of a query a sentence says. */
type SentenceScore = (sentence: string) => number

/** Characters of the excerpt of the first piece of a hit, and of each further one. Shorter texts are shown whole. */
export const FIRST_EXCERPT_CHARS = 400
export const FURTHER_EXCERPT_CHARS = 200
/** Characters of a sentence that is compared. */
const MAX_SENTENCE_CHARS = 400
/** Sentences that are compared, from the beginning. */
const MAX_SENTENCES = 60
const SENTENCE_GAP = /((?<=[.!?])[^\S\n]+(?=\S)|(?<=[。！？])|\n+)/u

interface Sentence {
  text: string
  order: number
  /** What stands before it. */
  gap: string
}

/** The texts if they are short, else their best sentences in their order. */
export function bestSentences(texts: readonly string[], most: number, score: SentenceScore): string {
  const whole = texts.map((text) => text.trim()).filter((text) => text !== '')
  if (whole.reduce((sum, text) => sum + text.length + 1, 0) <= most) return whole.join('\n')
  const ranked = sentencesOf(whole.join('\n'))
    .map((sentence) => ({ ...sentence, score: score(sentence.text) }))
    .sort((a, b) => b.score - a.score || a.order - b.order)
  const kept: Sentence[] = []
  let left = most
  for (const sentence of ranked) {
    if (sentence.text.length + 2 > left && kept.length > 0) continue
    kept.push(sentence)
    left -= sentence.text.length + 2
  }
  return joinSentences(kept.sort((a, b) => a.order - b.order))
}

/** Split with its gaps: every second part is one. A sentence without a gap before it, as in Chinese, has an empty one. */
function sentencesOf(text: string): Sentence[] {
  const parts = text.slice(0, MAX_SENTENCES * MAX_SENTENCE_CHARS).split(SENTENCE_GAP)
  const sentences: Sentence[] = []
  for (let i = 0; i < parts.length && sentences.length < MAX_SENTENCES; i += 2) {
    const sentence = (parts[i] ?? '').trim()
    if (sentence === '') continue
    const gap = (parts[i - 1] ?? '').includes('\n') ? '\n' : (parts[i - 1] ?? '') && ' '
    sentences.push({ text: firstCharacters(sentence, MAX_SENTENCE_CHARS), order: sentences.length, gap })
  }
  return sentences
}

function joinSentences(kept: readonly Sentence[]): string {
  return kept.reduce((text, sentence, i) => {
    const before = kept[i - 1]
    if (before === undefined) return sentence.text
    const isNext = sentence.order === before.order + 1
    return `${text}${isNext ? sentence.gap : ' … '}${sentence.text}`
  }, '')
}

/** Names count most, so that they stand in the excerpt; then what the words of the query mean, and the words themselves. */
export function sentenceScore(
  names: readonly QueryName[],
  words: readonly string[],
  compare: QueryComparer | null,
): SentenceScore {
  const wanted = names.map(({ text }) => text.toLowerCase())
  const stems = words.map(foldedStem)
  return (sentence) => {
    const text = sentence.toLowerCase()
    const named = wanted.filter((name) => text.includes(name)).length
    const share = stems.filter((stem) => text.includes(stem)).length / Math.max(1, stems.length)
    return 2 * named + share + (compare?.(sentence).coverage ?? 0)
  }
}

/** Without an English ending, which may differ between a question and a text. */
const foldedStem = (word: string): string => word.toLowerCase().replace(/(?<=\p{L}{4})(?:ing|ed|es|s)$/u, '')

/** Words of the query in a text, whatever their endings are. */
export function containedWords(words: readonly string[], text: string): string[] {
  const folded = text.toLowerCase()
  return words.filter((word) => folded.includes(foldedStem(word)))
}

/** Characters of a snippet that is only the beginning of a text. */
const BEGINNING_CHARS = 160

/** For a list without a query: the beginning, on one line. */
export function beginningOf(texts: readonly string[]): string {
  const line = texts.map((text) => text.replace(/\s+/g, ' ').trim()).find((text) => text !== '') ?? ''
  return line.length <= BEGINNING_CHARS ? line : `${firstCharacters(line, BEGINNING_CHARS)}…`
}

/** Never splits a surrogate pair. */
function firstCharacters(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}
