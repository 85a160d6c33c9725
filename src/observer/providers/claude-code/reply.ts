/** From what `claude` printed to the model's reply, or to a failure with its owner and what to do about it. */

import { estimateTokens, NO_USAGE, type Usage } from '../../../memory/observation.ts'
import { maskSecrets } from '../../../memory/secrets.ts'
import type { ChatReply, ChatRequest } from '../../model/chat.ts'
import { oneLine } from '../../offline/text.ts'
import { ObserverError } from '../../port.ts'
import { SET_MODEL } from '../endpoint.ts'
import { saysTooLong } from '../too-long.ts'
import type { Ending } from './guarded.ts'
import { noProgram, SET_PROGRAM } from './program.ts'
import { waitFor } from './reset.ts'
import { type ResultLine, readTranscript, type Transcript } from './stream.ts'

export interface Call {
  /** As the user named it. */
  program: string
  model: string
  request: ChatRequest
}

export function replyOf(ending: Ending, call: Call, now: number = Date.now()): ChatReply {
  if (ending.kind === 'not-started') throw notStarted(ending, call)
  const transcript = readTranscript(ending.stdout)
  const { result } = transcript
  if (result === null) throw noResult(ending, call)
  const stop = stopOf(result)
  const usage = usageOf(result, transcript.text, call.request)
  if (stop === 'failed') throw failureOf(result, transcript, call, now)
  if (stop === 'end' && transcript.text.trim() === '') {
    throw new ObserverError('message', `${transcript.model ?? call.model} answered without any text`, { usage })
  }
  return {
    text: transcript.text,
    usage,
    model: transcript.model ?? call.model,
    stop,
    cost: result.total_cost_usd ?? null,
  }
}

/** The client reports both of these as errors, with words of its own in place of the answer. */
const CUT_OFF = /exceeded the \d+ output token maximum/
const REFUSED = /violate our Usage Policy/

function stopOf(result: ResultLine): ChatReply['stop'] | 'failed' {
  const words = result.result ?? ''
  if (result.stop_reason === 'refusal' || (result.is_error && REFUSED.test(words))) return 'refused'
  if (result.api_error === 'max_output_tokens' || (result.is_error && CUT_OFF.test(words))) return 'length'
  return result.is_error || result.subtype?.startsWith('error') ? 'failed' : 'end'
}

/** Of every request that was made for it, where the client says; it knows no better than we do where it does not. */
function usageOf({ modelUsage, usage }: ResultLine, text: string, request: ChatRequest): Usage {
  const models = Object.values(modelUsage ?? {})
  if (models.length > 0) {
    return models.reduce<Usage>(
      (sum, model) => ({
        input: sum.input + model.inputTokens,
        output: sum.output + model.outputTokens,
        cacheRead: sum.cacheRead + model.cacheReadInputTokens,
        cacheWrite: sum.cacheWrite + model.cacheCreationInputTokens,
      }),
      NO_USAGE,
    )
  }
  if (usage) {
    return {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cacheRead: usage.cache_read_input_tokens,
      cacheWrite: usage.cache_creation_input_tokens,
    }
  }
  const input = request.messages.reduce(
    (sum, { content }) => sum + estimateTokens(content),
    estimateTokens(request.system),
  )
  return { ...NO_USAGE, input, output: estimateTokens(text) }
}

const SIGN_IN = 'run `claude` and type /login'

function failureOf(result: ResultLine, said: Transcript, call: Call, now: number): ObserverError {
  const text = result.result ?? ''
  // 2.0 has the status only in its words.
  const status = result.api_error_status ?? Number(/^API Error: (\d{3})\b/.exec(text)?.[1] ?? 0)
  const what = shown(text) || result.subtype || 'no reason given'
  if (result.terminal_reason === 'prompt_too_long' || status === 413 || TOO_LONG.test(text) || saysTooLong(text)) {
    return new ObserverError('context', `too long for ${call.model} (Claude Code: ${what})`)
  }
  if (status === 429 || said.error === 'rate_limit' || LIMIT.test(text)) {
    const wait = waitFor(said.resetsAt, text, now)
    const message = `Claude Code's allowance is used up (${what})`
    return new ObserverError('provider', message, wait === null ? {} : { retryAfterMs: wait })
  }
  if (status === 401 || status === 403 || said.error === 'authentication_failed' || NOT_SIGNED_IN.test(text)) {
    return new ObserverError('provider', `Claude Code is not signed in (${what}); ${SIGN_IN}`)
  }
  if (status === 402 || NO_CREDIT.test(text)) {
    return new ObserverError('provider', `Claude Code has no credit left (${what}); ${SIGN_IN} with a subscription`)
  }
  if (status === 404 || NO_MODEL.test(text)) {
    return new ObserverError(
      'provider',
      `Claude Code has no model "${call.model}" (${what}); choose another: ${SET_MODEL}`,
    )
  }
  if (status >= 400 && status < 500 && ![407, 408, 409, 425].includes(status)) {
    return new ObserverError('message', `Claude Code refused the request (${what})`)
  }
  return new ObserverError('provider', `Claude Code got no answer (${what})`)
}

/** Not an allowance, though the words are the same. */
const TOO_LONG = /context limit reached/i
const LIMIT = /hit your .{0,40}limit|limit reached|rate limit/i
const NOT_SIGNED_IN = /not logged in|\/login|invalid api key|oauth token|failed to authenticate/i
const NO_CREDIT = /credit balance is too low/i
const NO_MODEL = /issue with the selected model|model .{0,80}(?:not found|not exist)/i

function notStarted({ code, message }: Ending & { kind: 'not-started' }, { program }: Call): ObserverError {
  if (code === 'ENOENT') return noProgram(program)
  const why = code === 'EACCES' ? 'it may not be run' : shown(message)
  return new ObserverError('provider', `${program} does not start (${why}); say where claude is: ${SET_PROGRAM}`)
}

/** It ended, and never said how the call went. */
function noResult(ending: Exclude<Ending, { kind: 'not-started' }>, { program }: Call): ObserverError {
  const words = shown(lastLines(ending.stderr) || lastLines(ending.stdout))
  const said = words === '' ? '' : `: ${words}`
  if (UNKNOWN_OPTION.test(ending.stderr)) {
    return new ObserverError('provider', `${program} is too old${said}; update it: claude update`)
  }
  const how =
    ending.kind === 'broken'
      ? ending.reason
      : ending.signal !== null
        ? `ended by ${ending.signal}`
        : `exit code ${ending.code}`
  return new ObserverError('provider', `${program} gave no answer (${how})${said}`)
}

const UNKNOWN_OPTION = /unknown option/i

/** The last lines say what went wrong; a stack trace comes before them. */
const LAST_LINES = 3
/** Characters: a sentence or two. */
const MAX_WORDS = 300
/** Characters that are looked through for secrets. */
const MAX_TEXT = 16_384

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-LAST_LINES).join(' ')
}

function shown(text: string): string {
  return oneLine(maskSecrets(text.slice(0, MAX_TEXT)), MAX_WORDS)
}
