/**
 * Classifies every failure of a model call by its owner, with what the user can do about it. `provider`: connection,
 * key, credit, model, overload: wrong for any message. `message`: something about this one request. `context`: too long.
 */
import type { Usage } from '../../domain/observation.ts'
import { maskSecrets } from '../../domain/secrets.ts'
import { systemCode } from '../../lib/errors.ts'
import { ObserverError } from '../port.ts'
import { type HttpReply, retryAfterMs } from './retry-after.ts'

/** Where a provider's calls go. */
export interface Endpoint {
  /** Also the prefix of its settings: `<provider>-api-key`, `<provider>-base-url`. */
  provider: string
  model: string
  url: string
  /** Empty: the server needs none. Never part of a message. */
  apiKey: string
}

export const SET_MODEL_COMMAND = 'claude-mem config set model MODEL'
const setKeyCommand = ({ provider }: Endpoint): string => `claude-mem config set ${provider}-api-key KEY`
const setAddressCommand = ({ provider }: Endpoint): string => `claude-mem config set ${provider}-base-url URL`

/** The only characters that a header accepts, and that providers use in keys. */
const API_KEY = /^[\x21-\x7e]+$/

/** Checked before each call: sessions wait, with this reason, until a key is set. */
export function requireApiKey(endpoint: Endpoint): string {
  const { provider, apiKey } = endpoint
  if (apiKey === '') {
    throw new ObserverError('provider', `no API key for ${provider}; set one: ${setKeyCommand(endpoint)}`)
  }
  if (!API_KEY.test(apiKey)) {
    throw new ObserverError(
      'provider',
      `the API key for ${provider} contains invalid characters; set it again: ${setKeyCommand(endpoint)}`,
    )
  }
  return apiKey
}

/** Classification by text, for errors whose status does not tell. */
const NO_CREDIT = /credit balance is too low|insufficient[_ ](?:quota|credits?|balance)|spend[_ ]limit|prepay/i
const BAD_KEY = /API_KEY_INVALID|API key (?:not valid|not found|expired)|invalid[_ ]api[_ ]key/i
/** Gemini: not available in this country, or not before billing is enabled. */
const BAD_ACCOUNT = /"FAILED_PRECONDITION"|location is not supported/i
const NO_MODEL =
  /model_not_found|not a valid model|no endpoints found|unknown model|no models? loaded|model\W{0,3}["'`]?[\w./:@-]{1,120}["'`]? (?:is )?(?:not found|does not exist|not supported)/i
/** OpenRouter's 403 for a flagged input: the key is valid. */
const FLAGGED = /flagged|moderation/i

/** A reply with a status other than 2xx, or an error inside a 200. */
export function httpFailure(endpoint: Endpoint, reply: HttpReply): ObserverError {
  const { provider, model } = endpoint
  const { status } = reply
  const text = errorText(reply.text)
  const sentence = displayText(reply.text, endpoint)
  const what = sentence === '' ? `HTTP ${status}` : `HTTP ${status}: ${sentence}`
  const address = displayUrl(endpoint.url)
  const wait = retryAfterMs(reply, Date.now())
  const providerError = (message: string) =>
    new ObserverError('provider', message, wait === null ? {} : { retryAfterMs: wait })

  if (status >= 300 && status < 400) {
    const target = displayUrl(reply.headers.get('location') ?? '')
    return providerError(
      `${address} redirects to ${target} (HTTP ${status}), which is not followed with your key; set the final address: ${setAddressCommand(endpoint)}`,
    )
  }
  if (status === 402 || NO_CREDIT.test(text)) {
    return providerError(
      `${provider} has no credit left for this key (${what}); add credit, or: claude-mem config set provider offline`,
    )
  }
  if (status === 404 || status === 405 || NO_MODEL.test(text)) {
    return providerError(
      `${provider} has no model "${model}" at ${address} (${what}); choose another: ${SET_MODEL_COMMAND}, or correct the address: ${setAddressCommand(endpoint)}`,
    )
  }
  if (status === 403 && FLAGGED.test(text)) {
    return new ObserverError('message', `${provider} flagged the request (${what})`)
  }
  if (status === 401 || status === 403 || BAD_KEY.test(text)) {
    return providerError(`${provider} rejected the key (${what}); set another: ${setKeyCommand(endpoint)}`)
  }
  if (status === 413 || isTooLongError(text)) {
    return new ObserverError('context', `too long for ${model} at ${provider} (${what})`)
  }
  if (BAD_ACCOUNT.test(text)) return providerError(`${provider} does not serve this account (${what})`)
  if (status === 429) return providerError(`rate limit of ${provider} reached (${what})`)
  if (isTemporary(status)) return providerError(`${provider} is not available (${what})`)
  return new ObserverError('message', `${provider} refused the request (${what})`)
}

/** 407: a proxy requires a password. 409 and 425: conflict, too early. */
export function isTemporary(status: number): boolean {
  return status >= 500 || [407, 408, 409, 425].includes(status)
}

/** No reply, or only a part of one. */
export function connectionFailure(endpoint: Endpoint, error: unknown): ObserverError {
  const code = networkCode(error)
  const address = displayUrl(endpoint.url)
  // Without a code it is not a network failure; fetch's message may then contain the address with its password.
  return new ObserverError(
    'provider',
    `${connectionProblem(endpoint, address, code)}; set the address: ${setAddressCommand(endpoint)}`,
    code === null ? {} : { cause: error },
  )
}

function connectionProblem({ provider }: Endpoint, address: string, code: string | null): string {
  if (code === null) return `${provider} cannot be reached at ${address}`
  if (code === 'ECONNREFUSED') return `nothing answers at ${address} (connection refused): is it running?`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host of ${address} was not found (${code})`
  if (/TIMEDOUT|TIMEOUT/.test(code)) return `timeout of the connection to ${address} (${code})`
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return `no secure connection to ${address} (${code})`
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'].includes(code)) {
    return `the connection to ${address} broke off (${code})`
  }
  return `${address} cannot be reached (${code})`
}

/** A 2xx whose body is not an answer: a proxy's page, half a body, another API. The same would happen to any message. */
export function unusableReply(endpoint: Endpoint, what: string, body: unknown): ObserverError {
  const text = typeof body === 'string' ? body : safeStringify(body)
  // A page of a proxy, or an error, says what is wrong. Other text may be the answer of a model, which is not quoted.
  const isOwnText = typeof body === 'string' && !/^\s{0,64}</.test(body)
  const length = text.length === 0 ? '' : `${text.length} characters`
  const sentence = isOwnText ? length : displayText(text, endpoint)
  return new ObserverError(
    'provider',
    `${endpoint.provider} answered with ${what} at ${displayUrl(endpoint.url)}${sentence === '' ? '' : `: ${sentence}`}; set the address: ${setAddressCommand(endpoint)}`,
  )
}

/** The model answered without text. Another message may work, so this one failed. */
export function emptyReply({ provider, model }: Endpoint, why: string, usage: Usage): ObserverError {
  return new ObserverError('message', `${model} at ${provider} answered without any text (${why})`, { usage })
}

/** Depth to which nested causes are searched: fetch wraps the system error twice. */
const MAX_CAUSES = 5

function networkCode(error: unknown): string | null {
  let current = error
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined; depth++) {
    const code = systemCode(current)
    // An invalid URL is not a network failure, and its error contains the URL with its password.
    if (code !== undefined) return code === 'ERR_INVALID_URL' ? null : code
    // An AggregateError: several IP addresses of the host were tried.
    current =
      current instanceof AggregateError ? current.errors[0] : current instanceof Error ? current.cause : undefined
  }
  return null
}

/** Characters of a provider's error text that are shown: a sentence or two. */
const MAX_SHOWN_CHARS = 300
/** Characters of an error text that are searched for secrets; a longer one repeats the request. */
const MAX_MASKED_CHARS = 65_536
/** Shorter keys (`ollama`, `none`) are not secret and occur in ordinary text. */
const MIN_SECRET_CHARS = 8

/** A provider's error text on one line, without the key. */
function displayText(body: string, { apiKey }: Endpoint): string {
  const found = errorSentence(body).slice(0, MAX_MASKED_CHARS)
  const isSecret = apiKey.length >= MIN_SECRET_CHARS
  const safe = isSecret ? found.replaceAll(apiKey, '[key]').replaceAll(encodeURIComponent(apiKey), '[key]') : found
  const line = maskSecrets(safe)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length <= MAX_SHOWN_CHARS ? line : `${line.slice(0, MAX_SHOWN_CHARS - 1)}…`
}

/** An address without user name, password and query. */
function displayUrl(url: string): string {
  if (!URL.canParse(url)) return 'the address'
  const { origin, pathname } = new URL(url)
  return pathname === '/' ? origin : `${origin}${pathname}`
}

/** Empty if the value is nested too deep for the stack. */
function safeStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** Fields in which APIs describe an error. Other fields may repeat the request. */
const ERROR_FIELD = /^(?:error|errors|details?|message|msg|code|type|status|reason|metadata|raw|title|description)$/
const MAX_ERROR_DEPTH = 8
const MAX_ERROR_ITEMS = 20
/** Per field: a sentence or two. */
const MAX_ERROR_CHARS = 1_000

/** All texts of an error body, each in quotes, for classification. A body that is not JSON is returned as it is. */
function errorText(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return body.slice(0, MAX_ERROR_CHARS)
  }
  const texts: string[] = []
  const collect = (part: unknown, depth: number): void => {
    if (typeof part === 'string' || typeof part === 'number') texts.push(`"${String(part).slice(0, MAX_ERROR_CHARS)}"`)
    if (typeof part !== 'object' || part === null || depth > MAX_ERROR_DEPTH) return
    if (Array.isArray(part)) for (const item of part.slice(0, MAX_ERROR_ITEMS)) collect(item, depth + 1)
    else for (const [name, member] of Object.entries(part)) if (ERROR_FIELD.test(name)) collect(member, depth + 1)
  }
  collect(value, 0)
  return texts.join('\n')
}

/** The error message in a body, for people; empty if there is none. */
function errorSentence(body: string): string {
  try {
    return errorMessageIn(JSON.parse(body)) ?? ''
  } catch {
    return withoutMarkup(body)
  }
}

/** `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, or an array of one of them. */
function errorMessageIn(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return errorMessageIn(value[0])
  if (typeof value !== 'object' || value === null) return null
  for (const name of ['error', 'message', 'detail', 'msg']) {
    const found = errorMessageIn(Reflect.get(value, name))
    if (found === null || found === '') continue
    // OpenRouter answers "Provider returned error" and puts the provider's error into `metadata.raw`.
    const raw: unknown = Reflect.get(Object(Reflect.get(value, 'metadata')), 'raw')
    return typeof raw === 'string' ? `${found}: ${errorSentence(raw)}` : found
  }
  return null
}

/** Characters of an HTML page that are read; the patterns below take quadratic time. */
const MAX_PAGE_CHARS = 8_192

function withoutMarkup(body: string): string {
  if (!/^\s{0,64}</.test(body)) return body
  return body
    .slice(0, MAX_PAGE_CHARS)
    .replace(/<(?:style|script)\b[\s\S]*?<\/(?:style|script)>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
}

/**
 * "Too long" in the wording of each provider, collected from real errors: no API has a code of its own for it. Such a
 * call is repeated after the conversation was compacted. Gaps in the patterns are bounded, so that matching is linear.
 */
export const TOO_LONG_WORDINGS: readonly (readonly [pattern: RegExp, source: string])[] = [
  [/prompt (?:is )?too long/i, 'Anthropic, Bedrock, Claude Code'],
  [/conversation (?:is )?too long/i, 'Claude Code'],
  [/input length and `?max_tokens`? exceed context limit/i, 'Anthropic'],
  [/model_context_window_exceeded/i, 'Anthropic, as a stop reason'],
  [/request_too_large|request exceeds the maximum (?:allowed )?(?:size|number of bytes)/i, 'Anthropic'],
  [/context_length_exceeded|string_above_max_length/i, 'OpenAI, Azure, Groq, LiteLLM'],
  [/maximum (?:context|model|prompt|input) length/i, 'OpenAI, vLLM, OpenRouter, DeepSeek, xAI, Mistral'],
  [/reduce the length of (?:the|your) (?:messages|prompt|input)/i, 'OpenAI, Groq, vLLM'],
  [/request too large for /i, 'OpenAI, Groq: one request above the allowance of a whole minute'],
  [/(?:longer|greater) than the (?:model'?s )?(?:maximum )?(?:context|model) length/i, 'SGLang, vLLM'],
  [/context length is only \d/i, 'vLLM'],
  [/context length of only \d|context the overflows/i, 'LM Studio'],
  [/exceed_context_size|exceeds? the (?:available )?context (?:size|length)/i, 'llama.cpp, Ollama'],
  [/context (?:size|length|limit) (?:has been |was )?exceeded/i, 'LM Studio, llama.cpp'],
  [/context window (?:has been |was )?exceed/i, 'MiniMax, LiteLLM'],
  [/exceeds?(?:ed|s)? (?:the |your |its |this )?(?:model'?s? )?context window/i, 'OpenAI, llama-cpp-python'],
  [/ContextWindowExceeded/i, 'LiteLLM'],
  [/input token count[^.]{0,40}exceeds/i, 'Gemini'],
  [/token count[^.]{0,40}exceeds the (?:limit|maximum|model)/i, 'GitHub Models, SGLang'],
  [/model_max_prompt_tokens_exceeded/i, 'GitHub Models'],
  [/PromptExceedMaxTokens|tokens in request more than max tokens allowed/i, 'OpenAI-compatible gateways'],
  [/(?:prompt|input) exceeds (?:the )?max(?:imum)? (?:length|tokens|context)/i, 'Zhipu'],
  [/exceeded (?:the )?model token limit/i, 'Moonshot'],
  [/range of input length should be/i, 'DashScope'],
  [/input (?:is|length) too long/i, 'Bedrock, DeepSeek'],
  [/too large for model with/i, 'Mistral'],
  [/too many (?:input )?tokens: /i, 'Cohere'],
  [/`?inputs`? tokens \+ `?max_new_tokens`? must be/i, 'Text Generation Inference'],
]

/**
 * A rate limit: waiting helps, shortening does not. The exception is a single request above the limit of a whole minute,
 * which no wait lets through.
 */
const RATE_LIMIT = /(?:tokens|requests) per (?:min|minute|hour|day|second)\b|\b(?:TPM|RPM|TPD)\b|rate[ _]limit/i
const ONE_REQUEST = /request too large for /i

/** Longer error texts repeat the request. */
const MAX_MATCHED_CHARS = 16_384

/** `text` is a provider's error (a body, or the output of a program), never a model's answer. */
export function isTooLongError(text: string): boolean {
  const head = text.slice(0, MAX_MATCHED_CHARS)
  if (RATE_LIMIT.test(head)) return ONE_REQUEST.test(head)
  return TOO_LONG_WORDINGS.some(([pattern]) => pattern.test(head))
}
