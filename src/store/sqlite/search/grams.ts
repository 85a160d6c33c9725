/**
 * Languages without spaces. The full-text tokenizer takes a whole sentence of Chinese for one word, and SQLite's own
 * trigrams do not find words of two characters, which most Chinese words are. So their letters are indexed in
 * overlapping pairs, in a column beside the text; a query's pairs are looked for side by side. The last letter of a run
 * also stands alone: then one letter is found as the beginning of something.
 */

/** Marks are left out: the tokenizer splits at them, and a word without its vowel signs is still itself. */
const RUN =
  /(?:(?=[\p{L}\p{N}\p{M}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{scx=Tibetan}])+/gu
const NEEDS_PAIRS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u

export function needsPairs(text: string): boolean {
  return NEEDS_PAIRS.test(text)
}

/** What is indexed of a text: all pairs of all runs; empty for most texts. */
export function gramsOf(text: string): string {
  if (!needsPairs(text)) return ''
  return runsOf(text)
    .map((letters) => [...pairs(letters), letters.at(-1)].join(' '))
    .join(' ')
}

/** The runs of letters that need pairs, each as its letters. */
export function runsOf(text: string): string[][] {
  const runs: string[][] = []
  for (const [run] of text.normalize('NFKC').matchAll(RUN)) {
    const letters = [...run.replace(/\p{M}/gu, '')]
    if (letters.length > 0 && needsPairs(run)) runs.push(letters)
  }
  return runs
}

/** A text without the runs that `runsOf` takes out of it. */
export function withoutRuns(text: string): string {
  if (!needsPairs(text)) return text
  return text.normalize('NFKC').replace(RUN, (run) => (needsPairs(run) ? ' ' : run))
}

export function pairs(letters: readonly string[]): string[] {
  return letters.slice(1).map((letter, before) => `${letters[before]}${letter}`)
}
