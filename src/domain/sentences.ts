/** The sentences of a text, for every part of the program that reads what people and agents wrote. */

const SENTENCE_START = /(?<=[.!?…])\s+(?=[\p{Lu}\p{Lo}`"'“«(\d[])|(?<=[。！？])\s*(?=\S)/u
/** Ends in a full stop, but not the sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|vs|cf|approx|resp|incl|z\.B|p\. ?ex|ca|no)\.$/i
/** Longer than any of the abbreviations. */
const ABBREVIATION_CHARS = 12

/** At sentence ends; a text without any is one sentence. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  for (const part of text === '' ? [] : text.split(SENTENCE_START)) {
    const last = sentences.at(-1)
    const goesOn = last !== undefined && ABBREVIATION.test(last.slice(-ABBREVIATION_CHARS))
    if (goesOn) sentences[sentences.length - 1] = `${last} ${part}`
    else sentences.push(part)
  }
  return sentences
}
