/** The form of a title: an imperative or a statement, on one line, at most twelve words, no full stop. */
import { trimEndMatching } from '../lib/trim.ts'
import { wordList } from './tool-events/text.ts'

export const MAX_TITLE_WORDS = 12
/** A title that is cut at a clause has at least this many words. */
const MIN_CLAUSE_WORDS = 4

const DANGLING = new Set(
  wordList(
    'and or but the a an of in to for with by from at on as that which is are was were instead rather than because so',
  ),
)

/** Without words at the end that announce more. */
export function withoutDanglingWords(title: string): string {
  const words = title.split(' ')
  while (words.length > 1 && DANGLING.has(words.at(-1)?.toLowerCase() ?? '')) words.pop()
  return words.join(' ')
}

/** `title` is on one line. A longer one is cut at the end of a clause where there is one, else after twelve words. */
export function tidyTitle(title: string): string {
  const plain = withoutFullStop(title)
  const words = plain.split(' ')
  if (words.length <= MAX_TITLE_WORDS) return plain
  for (let count = MAX_TITLE_WORDS; count >= MIN_CLAUSE_WORDS; count--) {
    const last = words[count - 1] ?? ''
    const next = words[count] ?? ''
    if (/[,;:.!?]$/.test(last) || /^(?:[–—-]$|\()/.test(next) || CLAUSE_WORDS.has(next.toLowerCase())) {
      return cutWords(words, count)
    }
  }
  return cutWords(words, MAX_TITLE_WORDS)
}

function cutWords(words: readonly string[], count: number): string {
  const head = words.slice(0, count).join(' ')
  return trimEndMatching(withoutDanglingWords(trimEndMatching(head, PUNCTUATION)), PUNCTUATION) || head
}

const PUNCTUATION = /[\s,;:.–—-]/

/** Words that begin a clause of their own. */
const CLAUSE_WORDS = new Set(
  wordList('because since so which while when whereas although but unless until by instead after before'),
)

/** An ellipsis is not a full stop: it says that a model was cut off. */
function withoutFullStop(title: string): string {
  let end = title.length
  while (end > 1 && /[.。]/.test(title[end - 1] ?? '') && title[end - 2] !== '.') {
    end = title.slice(0, end - 1).trimEnd().length
  }
  return end === 0 ? title : title.slice(0, end)
}
