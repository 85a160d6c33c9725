/** Makes one small call through the configured provider: whether it answers in the expected format, how fast, at what cost. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Usage } from '../domain/observation.ts'
import { errorMessage } from '../lib/errors.ts'
import { makeChatModel } from '../observer/make-observer.ts'
import type { ChatReply, ChatRequest } from '../observer/model/chat.ts'
import { parseReply } from '../observer/model/reply/index.ts'
import { modelPrice, usageCost } from '../observer/prices.ts'
import type { ProviderConfig } from '../observer/provider-choice.ts'

export interface ProviderTestSuccess {
  ok: true
  /** As the provider names it, which may differ from the configured name. */
  model: string
  ms: number
  usage: Usage
  /** US dollars; null: the price is unknown. */
  cost: number | null
  reply: string
}

export interface ProviderTestFailure {
  ok: false
  error: string
}

/** Thinking counts as output, so the limit is far above the one line that is asked for. */
const MAX_TOKENS = 1_024
/** Characters of the reply that are printed. */
const SHOWN_CHARS = 200

const REQUEST: ChatRequest = {
  system:
    'This is a test of a connection. Answer with exactly the one line of XML that you are asked for, nothing else.',
  messages: [{ role: 'user', content: 'Answer with this line:\n<skip reason="test"/>' }],
  maxTokens: MAX_TOKENS,
}

interface TestOptions {
  prices: readonly string[]
  timeoutMs: number
  signal: AbortSignal
}

export async function testProvider(
  config: ProviderConfig,
  options: TestOptions,
): Promise<ProviderTestSuccess | ProviderTestFailure> {
  const workDir = mkdtempSync(join(tmpdir(), 'claude-mem-test-'))
  const startedAt = performance.now()
  try {
    const reply = await callModel(config, workDir, options)
    const fault = replyFault(reply)
    if (fault !== null) return { ok: false, error: fault }
    const price = modelPrice(reply.model, options.prices) ?? modelPrice(config.model, options.prices)
    return {
      ok: true,
      model: reply.model,
      ms: Math.round(performance.now() - startedAt),
      usage: reply.usage,
      cost: reply.cost ?? (price === null ? null : usageCost(reply.usage, price)),
      reply: excerpt(reply.text),
    }
  } catch (error) {
    return { ok: false, error: errorMessage(error) }
  } finally {
    rmSync(workDir, { recursive: true, force: true })
  }
}

async function callModel(config: ProviderConfig, workDir: string, options: TestOptions): Promise<ChatReply> {
  const { timeoutMs, signal } = options
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  const timeout = new Error(`there was no answer within ${timeoutMs / 1_000} s (CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS)`)
  const timer = setTimeout(() => controller.abort(timeout), timeoutMs)
  signal.addEventListener('abort', abort)
  try {
    return await makeChatModel(config, { workDir }).complete(REQUEST, controller.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** Null: the reply is what was asked for. */
function replyFault({ text, stop, model }: ChatReply): string | null {
  const advice = 'choose another model: claude-mem config set model NAME'
  if (stop === 'refused') return `${model} refused to answer: ${excerpt(text)}; ${advice}`
  if (parseReply(text).skip !== null) return null
  if (stop === 'length') return `${model} was cut off after ${MAX_TOKENS} tokens without an answer; ${advice}`
  return `${model} answers, but not with the XML that it was asked for: ${excerpt(text)}; ${advice}`
}

function excerpt(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}
