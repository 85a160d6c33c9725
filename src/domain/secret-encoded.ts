/** Words in base64 that are a text with a secret: a key file, a line of a `.env` file, JSON with a password. */
import { denseWords } from './secret-formats.ts'

/** Characters. `A=secret` is no shorter. */
const LEAST_WORD = 24
const WORD = new RegExp(`[A-Za-z0-9+/]{${LEAST_WORD},}={0,2}|[\\w-]{${LEAST_WORD},}={0,2}`, 'g')
/** Most words are no text, and their beginning shows it. */
const BEGIN_CHARS = 16
const TEXT = /^[\t\n\r -~\u00a0-\uffef]+$/

/** `mask`: what finds the secrets in a text. */
export function maskEncoded(text: string, mask: (text: string) => string): string {
  let masked = ''
  let done = 0
  for (const { start, end } of denseWords(text)) {
    if (end - start < LEAST_WORD) continue
    const word = text.slice(start, end).replace(WORD, (encoded) => (hidesSecret(encoded, mask) ? MARKER : encoded))
    masked += text.slice(done, start) + word
    done = end
  }
  return done === 0 ? text : masked + text.slice(done)
}

const MARKER = '[secret:encoded]'

function hidesSecret(word: string, mask: (text: string) => string): boolean {
  if (!/^[\t\n\r -~]+$/.test(decode(word.slice(0, BEGIN_CHARS)))) return false
  const plain = decode(word)
  return TEXT.test(plain) && mask(plain) !== plain
}

const decode = (word: string): string => Buffer.from(word, 'base64').toString('utf8')
