/**
 * What people, shells and tools say is read in one room, `src/reading`: what it finds is stored, and the others use that. In
 * the rooms below a regular expression with a list of words is a second reading, and a rule of the tree forbids it.
 */

const ROOMS = /^src\/(?:observer|context|search|daemon)\//

/** Formats of their own, which no other room reads: replies of models, answers of providers, vocabulary of embedders. */
const OWN_FORMATS = /^src\/(?:observer\/(?:model\/reply|providers)|search\/embedders)\//

const LITERAL = /(?<=[=(,:[!&|?;\s]|^)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/g
/** A shorter one recognises a form, not a vocabulary. */
const MAX_CHARS = 60
/** Four words in a row, each an alternative. */
const WORD_LIST = /(?:(?<![\\\w])[a-z]{2,}[^|\s]{0,20}\|){3}[a-z]{2,}/i

export function wordPatternProblems(texts) {
  return [...texts].flatMap(([file, text]) => {
    if (!ROOMS.test(file) || OWN_FORMATS.test(file)) return []
    return text.split('\n').flatMap((line, i) => {
      if (/^\s*(?:\/\/|\/?\*)/.test(line)) return []
      const isList = (line.match(LITERAL) ?? []).some((one) => one.length > MAX_CHARS && WORD_LIST.test(one))
      return isList ? [`${file}:${i + 1}: a regular expression with a list of words; read them in src/reading`] : []
    })
  })
}
