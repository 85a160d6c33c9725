/** Reads the `stream-json` output of `claude`: the model's reply, or a failure with its owner and what to do about it. */
import * as z from 'zod'
import { addUsage, estimateTokens, NO_USAGE, type Usage } from '../../../domain/observation.ts'
import { maskSecrets } from '../../../domain/secrets.ts'
import { singleLine } from '../../../reading/text.ts'
import { type ChatReply, type ChatRequest, estimateRequestTokens } from '../../model/chat.ts'
import { ObserverError } from '../../port.ts'
import { isTemporary, isTooLongError, SET_MODEL_COMMAND } from '../failures.ts'
import { usageLimitWaitMs } from '../retry-after.ts'
import type { GuardedResult } from './run-guarded.ts'

const tokenCount = z.number().nonnegative().catch(0)
const optionalText = z.string().nullish().catch(null)

/** The model name of messages that the client itself writes, mostly to report an error. */
const SYNTHETIC_MODEL = '<synthetic>'

const AssistantLine = z.object({
  type: z.literal('assistant'),
  /** `rate_limit`, `authentication_failed`, … */
  error: optionalText,
  message: z.object({
    model: optionalText,
    content: z.array(z.object({ type: z.string(), text: optionalText })).catch([]),
  }),
})

const RateLimitLine = z.object({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z.object({
    status: optionalText,
    /** Epoch seconds. */
    resetsAt: z.number().nullish().catch(null),
  }),
})

const ResultLine = z.object({
  type: z.literal('result'),
  subtype: optionalText,
  is_error: z.boolean().catch(false),
  result: optionalText,
  stop_reason: optionalText,
  terminal_reason: optionalText,
  api_error: optionalText,
  api_error_status: z.number().nullish().catch(null),
  total_cost_usd: z.number().nonnegative().nullish().catch(null),
  usage: usageNamed('input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens')
    .nullish()
    .catch(null),
  modelUsage: z
    .record(z.string(), usageNamed('inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'))
    .nullish()
    .catch(null),
})

/** Token counts: the client has two sets of names for them. */
function usageNamed(input: string, output: string, cacheRead: string, cacheWrite: string) {
  return z.record(z.string(), z.unknown()).transform(
    (counts): Usage => ({
      input: tokenCount.parse(counts[input]),
      output: tokenCount.parse(counts[output]),
      cacheRead: tokenCount.parse(counts[cacheRead]),
      cacheWrite: tokenCount.parse(counts[cacheWrite]),
    }),
  )
}

const StreamLine = z.union([AssistantLine, RateLimitLine, ResultLine])
type Result = z.infer<typeof ResultLine>

interface ClaudeStream {
  /** The model's text; the parts of a continued answer are joined. */
  text: string
  /** Null: no model answered. */
  model: string | null
  /** The client's kind of error: `rate_limit`, `authentication_failed`, … */
  error: string | null
  /** End of a usage limit, in epoch ms. */
  resetsAt: number | null
  /** Null: the client ended without a result line. */
  result: Result | null
}

/** Lines that are not JSON, or of another type, are ignored. */
export function parseClaudeStream(stdout: string): ClaudeStream {
  const stream: ClaudeStream = { text: '', model: null, error: null, resetsAt: null, result: null }
  for (const line of stdout.split('\n')) {
    const parsed = StreamLine.safeParse(parseJsonLine(line))
    if (parsed.success) addLine(stream, parsed.data)
  }
  return stream
}

function addLine(stream: ClaudeStream, line: z.infer<typeof StreamLine>): void {
  switch (line.type) {
    case 'assistant': {
      stream.error = line.error ?? stream.error
      if (line.message.model === SYNTHETIC_MODEL) return
      stream.model = line.message.model ?? stream.model
      for (const block of line.message.content) if (block.type === 'text') stream.text += block.text ?? ''
      return
    }
    case 'rate_limit_event': {
      const { status, resetsAt } = line.rate_limit_info
      if (status === 'rejected' && typeof resetsAt === 'number') stream.resetsAt = resetsAt * 1_000
      return
    }
    case 'result':
      stream.result = line
  }
}

function parseJsonLine(line: string): unknown {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

interface ClaudeCall {
  /** The program as the user named it. */
  program: string
  model: string
  request: ChatRequest
}

export function readClaudeReply(run: GuardedResult, call: ClaudeCall, now: number = Date.now()): ChatReply {
  if (run.kind === 'not-started') throw notStarted(run, call)
  const stream = parseClaudeStream(run.stdout)
  const { result, text } = stream
  if (result === null) throw noResult(run, call)
  const model = stream.model ?? call.model
  const stop = stopReason(result)
  const usage = streamUsage(result, text, call.request)
  if (stop === 'failed') throw resultFailure(result, stream, call, now)
  if (stop === 'end' && text.trim() === '') {
    throw new ObserverError('message', `${model} answered without any text`, { usage })
  }
  return { text, usage, model, stop, cost: result.total_cost_usd ?? null }
}

/** The client reports both of these as errors, with a text of its own in place of the answer. */
const CUT_OFF = /exceeded the \d+ output token maximum/
const REFUSED = /violate our Usage Policy/

function stopReason(result: Result): ChatReply['stop'] | 'failed' {
  const text = result.result ?? ''
  if (result.stop_reason === 'refusal' || (result.is_error && REFUSED.test(text))) return 'refused'
  if (result.api_error === 'max_output_tokens' || (result.is_error && CUT_OFF.test(text))) return 'length'
  return result.is_error || result.subtype?.startsWith('error') ? 'failed' : 'end'
}

/** `modelUsage` covers all requests of the call, `usage` only the last one; without either it is estimated. */
function streamUsage({ modelUsage, usage }: Result, text: string, request: ChatRequest): Usage {
  const models = Object.values(modelUsage ?? {})
  if (models.length > 0) return models.reduce(addUsage, NO_USAGE)
  return usage ?? { ...NO_USAGE, input: estimateRequestTokens(request), output: estimateTokens(text) }
}

const LOGIN_HINT = 'run `claude` and type /login'
/** Not a usage limit, in spite of "limit reached". */
const CONTEXT_LIMIT = /context limit reached/i
const USAGE_LIMIT = /hit your .{0,40}limit|limit reached|rate limit/i
const NOT_LOGGED_IN = /not logged in|\/login|invalid api key|oauth token|failed to authenticate/i
const NO_CREDIT = /credit balance is too low/i
const NO_MODEL = /issue with the selected model|model .{0,80}(?:not found|not exist)/i

function resultFailure(result: Result, stream: ClaudeStream, call: ClaudeCall, now: number): ObserverError {
  const text = result.result ?? ''
  // Version 2.0 has the status only in the text.
  const status = result.api_error_status ?? Number(/^API Error: (\d{3})\b/.exec(text)?.[1] ?? 0)
  const what = displayText(text) || result.subtype || 'no reason given'
  const providerError = (message: string) => new ObserverError('provider', message)
  if (
    result.terminal_reason === 'prompt_too_long' ||
    status === 413 ||
    CONTEXT_LIMIT.test(text) ||
    isTooLongError(text)
  ) {
    return new ObserverError('context', `too long for ${call.model} (Claude Code: ${what})`)
  }
  if (status === 429 || stream.error === 'rate_limit' || USAGE_LIMIT.test(text)) {
    const wait = usageLimitWaitMs(stream.resetsAt, text, now)
    const message = `usage limit of Claude Code reached (${what})`
    return new ObserverError('provider', message, wait === null ? {} : { retryAfterMs: wait })
  }
  if (status === 401 || status === 403 || stream.error === 'authentication_failed' || NOT_LOGGED_IN.test(text)) {
    return providerError(`Claude Code is not signed in (${what}); ${LOGIN_HINT}`)
  }
  if (status === 402 || NO_CREDIT.test(text)) {
    return providerError(`Claude Code has no credit left (${what}); ${LOGIN_HINT} with a subscription`)
  }
  if (status === 404 || NO_MODEL.test(text)) {
    return providerError(`Claude Code has no model "${call.model}" (${what}); choose another: ${SET_MODEL_COMMAND}`)
  }
  if (status >= 400 && !isTemporary(status)) {
    return new ObserverError('message', `Claude Code refused the request (${what})`)
  }
  return providerError(`Claude Code got no answer (${what})`)
}

export const SET_PROGRAM_COMMAND = 'claude-mem config set claude-code-path FILE'

export function programNotFound(program: string): ObserverError {
  return new ObserverError('provider', `there is no program ${program}; set the path of claude: ${SET_PROGRAM_COMMAND}`)
}

function notStarted(
  { code, message }: GuardedResult & { kind: 'not-started' },
  { program }: ClaudeCall,
): ObserverError {
  if (code === 'ENOENT') return programNotFound(program)
  const why = code === 'EACCES' ? 'it is not executable' : displayText(message)
  return new ObserverError(
    'provider',
    `${program} does not start (${why}); set the path of claude: ${SET_PROGRAM_COMMAND}`,
  )
}

const UNKNOWN_OPTION = /unknown option/i

function noResult(run: Exclude<GuardedResult, { kind: 'not-started' }>, { program }: ClaudeCall): ObserverError {
  const text = displayText(lastLines(run.stderr) || lastLines(withoutJson(run.stdout)))
  const output = text === '' ? '' : `: ${text}`
  if (UNKNOWN_OPTION.test(run.stderr)) {
    return new ObserverError('provider', `${program} is too old${output}; update it: claude update`)
  }
  const how =
    run.kind === 'broken' ? run.reason : run.signal !== null ? `ended by ${run.signal}` : `exit code ${run.code}`
  return new ObserverError('provider', `${program} gave no answer (${how})${output}`)
}

/** The cause is in the last lines, after the stack trace. */
const LAST_LINES = 3
/** A sentence or two. */
const MAX_SHOWN_CHARS = 300
/** Characters that are searched for secrets. */
const MAX_MASKED_CHARS = 16_384

/** Its JSON lines contain the reply of the model, which is not quoted. */
function withoutJson(stdout: string): string {
  return stdout
    .split('\n')
    .filter((line) => !/^\s{0,64}[{[]/.test(line))
    .join('\n')
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-LAST_LINES).join(' ')
}

function displayText(text: string): string {
  return singleLine(maskSecrets(text.slice(0, MAX_MASKED_CHARS)), MAX_SHOWN_CHARS)
}
