/** What a hit shows of a memory: enough to answer from, the sentences that match best. */

/** How much of a query a sentence says, from 0 to 1. */
type SentenceScore = (sentence: string) => number

/** Characters of a snippet that is made of sentences. A text of this length is shown whole. */
const ANSWER_CHARS = 480
/** Characters of a sentence that is compared. */
const MAX_SENTENCE_CHARS = 400
/** Sentences that are compared, from the beginning. */
const MAX_SENTENCES = 60
const SENTENCE_GAP = /(?<=[.!?])\s+(?=\S)|(?<=[。！？])|\n+/u

/** The texts if they are short, else their best sentences in their order. */
export function answeringSentences(texts: readonly string[], score: SentenceScore): string {
  const whole = texts.map((text) => text.trim()).filter((text) => text !== '')
  if (whole.reduce((sum, text) => sum + text.length + 1, 0) <= ANSWER_CHARS) return whole.join('\n')
  const sentences = whole
    .flatMap((text) => text.slice(0, MAX_SENTENCES * MAX_SENTENCE_CHARS).split(SENTENCE_GAP))
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .slice(0, MAX_SENTENCES)
    .map((text, order) => ({ text: firstCharacters(text, MAX_SENTENCE_CHARS), order }))
  const ranked = sentences
    .map((sentence) => ({ ...sentence, score: score(sentence.text) }))
    .sort((a, b) => b.score - a.score || a.order - b.order)
  const kept: typeof ranked = []
  let left = ANSWER_CHARS
  for (const sentence of ranked) {
    if (sentence.text.length + 2 > left && kept.length > 0) continue
    kept.push(sentence)
    left -= sentence.text.length + 2
  }
  return kept
    .sort((a, b) => a.order - b.order)
    .reduce((text, sentence, i) => {
      const before = kept[i - 1]
      if (before === undefined) return sentence.text
      return `${text}${sentence.order === before.order + 1 ? ' ' : ' … '}${sentence.text}`
    }, '')
}

/** Without word vectors: the share of the matched words that the sentence contains. */
export function matchedShare(words: readonly string[]): SentenceScore {
  const folded = words.map((word) => word.toLowerCase())
  return (sentence) => {
    const text = sentence.toLowerCase()
    return folded.length === 0 ? 0 : folded.filter((word) => text.includes(word)).length / folded.length
  }
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
