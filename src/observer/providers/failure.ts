/**
 * Every failure of a call over HTTP with its owner. The provider's: what stays wrong, or goes away, whatever is sent
 * (connection, key, credit, model, overload). The message's: what is wrong with this one request. The context's: too long.
 */
import { systemCode } from '../../errors.ts'
import type { Usage } from '../../memory/observation.ts'
import { maskSecrets } from '../../memory/secrets.ts'
import { ObserverError } from '../port.ts'
import { type Endpoint, SET_MODEL, setAddress, setKey, shownAddress } from './endpoint.ts'
import { errorText, sentenceIn } from './error-body.ts'
import { retryAfterMs, type Said } from './retry-after.ts'
import { saysTooLong } from './too-long.ts'

/** What the words say where the status alone does not. */
const NO_CREDIT = /credit balance is too low|insufficient[_ ](?:quota|credits?|balance)|spend[_ ]limit|prepay/i
const BAD_KEY = /API_KEY_INVALID|API key (?:not valid|not found|expired)|invalid[_ ]api[_ ]key/i
/** Gemini: not offered where the caller is, until billing is set up. */
const BAD_ACCOUNT = /"FAILED_PRECONDITION"|location is not supported/i
const NO_MODEL =
  /model_not_found|not a valid model|no endpoints found|unknown model|no models? loaded|model\W{0,3}["'`]?[\w./:@-]{1,120}["'`]? (?:is )?(?:not found|does not exist|not supported)/i
/** OpenRouter's 403: the input was flagged, the key is good. */
const FLAGGED = /flagged|moderation/i

/** An answer that is no success. */
export function httpFailure(endpoint: Endpoint, said: Said, now: number = Date.now()): ObserverError {
  const { provider, model, url } = endpoint
  const { status } = said
  const text = errorText(said.text)
  const words = wordsOf(said.text, endpoint)
  const what = words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`
  const wait = retryAfterMs(said, now)
  const theirs = (message: string) =>
    new ObserverError('provider', message, wait === null ? {} : { retryAfterMs: wait })

  if (status >= 300 && status < 400) {
    const target = shownAddress(said.headers.get('location') ?? '')
    return theirs(
      `${shownAddress(url)} redirects to ${target} (HTTP ${status}), which is not followed with your key; set the final address: ${setAddress(endpoint)}`,
    )
  }
  if (status === 402 || NO_CREDIT.test(text)) {
    return theirs(
      `${provider} has no credit left for this key (${what}); top it up, or: claude-mem config set provider offline`,
    )
  }
  if (status === 404 || status === 405 || NO_MODEL.test(text)) {
    return theirs(
      `${provider} has no model "${model}" at ${shownAddress(url)} (${what}); choose another: ${SET_MODEL}, or mend the address: ${setAddress(endpoint)}`,
    )
  }
  if (status === 403 && FLAGGED.test(text))
    return new ObserverError('message', `${provider} would not take it (${what})`)
  if (status === 401 || status === 403 || BAD_KEY.test(text)) {
    return theirs(`${provider} rejected the key (${what}); set another: ${setKey(endpoint)}`)
  }
  if (status === 413 || saysTooLong(text)) {
    return new ObserverError('context', `too long for ${model} at ${provider} (${what})`)
  }
  if (BAD_ACCOUNT.test(text)) return theirs(`${provider} does not serve this account (${what})`)
  if (status === 429) return theirs(`${provider} asks to wait (${what})`)
  // 407: a proxy on the way wants a password. 409, 425: ask again.
  if ([407, 408, 409, 425].includes(status) || status >= 500) return theirs(`${provider} is not available (${what})`)
  return new ObserverError('message', `${provider} refused the request (${what})`)
}

/** There was no answer, or only a part of one: a broken transfer says nothing about what was sent. */
export function connectionFailure(endpoint: Endpoint, error: unknown): ObserverError {
  const code = codeIn(error)
  const where = shownAddress(endpoint.url)
  const mend = `the address is set with ${setAddress(endpoint)}`
  const fail = (message: string) =>
    // Without a code it is no failure of the network, and what fetch says then may quote the address with its password.
    new ObserverError('provider', `${message}; ${mend}`, code === null ? {} : { cause: error })
  if (code === null) return fail(`${endpoint.provider} cannot be reached at ${where}`)
  if (code === 'ECONNREFUSED') return fail(`nothing answers at ${where} (connection refused): is it running?`)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return fail(`the host of ${where} was not found (${code})`)
  if (/TIMEDOUT|TIMEOUT/.test(code)) return fail(`no answer from ${where} in time (${code})`)
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return fail(`no safe connection to ${where} (${code})`)
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'].includes(code)) {
    return fail(`the connection to ${where} broke off (${code})`)
  }
  return fail(`${where} cannot be reached (${code})`)
}

/** A success that is none: a proxy's page, half a body, another API. It would be the same for any message. */
export function unusableReply(endpoint: Endpoint, what: string, value: unknown): ObserverError {
  const words = wordsOf(typeof value === 'string' ? value : jsonText(value), endpoint)
  const shown = words === '' ? '' : `: ${words}`
  return new ObserverError(
    'provider',
    `${endpoint.provider} answered with ${what} at ${shownAddress(endpoint.url)}${shown}; the address is set with ${setAddress(endpoint)}`,
  )
}

/** The model was asked and said nothing. The next message may fare better, so this one is what failed. */
export function noText({ provider, model }: Endpoint, why: string, usage: Usage): ObserverError {
  return new ObserverError('message', `${model} at ${provider} answered without any text (${why})`, { usage })
}

/** Errors wrap errors: fetch hides the system's one two levels down. */
const MAX_CAUSES = 5

function codeIn(error: unknown): string | null {
  let current = error
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined; depth++) {
    const code = systemCode(current)
    // An address that is none is no failure of the network, and the error holds it, password and all.
    if (code !== undefined) return code === 'ERR_INVALID_URL' ? null : code
    // Several addresses were tried, and none answered.
    current =
      current instanceof AggregateError ? current.errors[0] : current instanceof Error ? current.cause : undefined
  }
  return null
}

/** Characters of a provider's own words that are shown: a sentence or two. */
const MAX_WORDS = 300
/** Characters in which anything is looked for; a longer error repeats the request. */
const MAX_TEXT = 65_536
/** A shorter key is no secret (`ollama`, `none`), and would be found in ordinary words. */
const MIN_SECRET = 8

function wordsOf(body: string, { apiKey }: Endpoint): string {
  const found = sentenceIn(body).slice(0, MAX_TEXT)
  const safe =
    apiKey === null || apiKey.length < MIN_SECRET
      ? found
      : found.replaceAll(apiKey, '[key]').replaceAll(encodeURIComponent(apiKey), '[key]')
  const line = maskSecrets(safe)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length <= MAX_WORDS ? line : `${line.slice(0, MAX_WORDS - 1)}…`
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // Nested deeper than the stack.
    return ''
  }
}
