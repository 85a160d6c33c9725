/** One tiny call through the very model that would observe: whether it answers, in our format, how fast and for what. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../errors.ts'
import type { Usage } from '../memory/observation.ts'
import type { ChatReply, ChatRequest } from '../observer/model/chat.ts'
import { parseReply } from '../observer/model/reply/index.ts'
import { costOf, priceOf } from '../observer/prices.ts'
import { makeChat } from '../observer/providers/index.ts'
import type { SetUp } from '../observer/set-up.ts'

export interface Answered {
  ok: true
  /** As the provider names it. */
  model: string
  ms: number
  usage: Usage
  /** US dollars; null: no price is known. */
  cost: number | null
  reply: string
}

export interface Failed {
  ok: false
  error: string
}

/** Thinking counts as output: a model that thinks first must not be cut off before its one line. */
const MAX_TOKENS = 1_024
/** Of the reply: enough to see what kind of answer it is. */
const SHOWN_CHARS = 200

const REQUEST: ChatRequest = {
  system:
    'This is a test of a connection. Answer with exactly the one line of XML that you are asked for, nothing else.',
  messages: [{ role: 'user', content: 'Answer with this line:\n<skip reason="test"/>' }],
  maxTokens: MAX_TOKENS,
}

export async function testProvider(
  setUp: SetUp,
  options: { prices: readonly string[]; timeoutMs: number; signal: AbortSignal },
): Promise<Answered | Failed> {
  const workDir = mkdtempSync(join(tmpdir(), 'claude-mem-test-'))
  const start = performance.now()
  try {
    const reply = await ask(setUp, workDir, options)
    const fault = faultOf(reply)
    if (fault !== null) return { ok: false, error: fault }
    const price = priceOf(reply.model, options.prices) ?? priceOf(setUp.model, options.prices)
    return {
      ok: true,
      model: reply.model,
      ms: Math.round(performance.now() - start),
      usage: reply.usage,
      cost: reply.cost ?? (price === null ? null : costOf(reply.usage, price)),
      reply: firstWords(reply.text),
    }
  } catch (error) {
    return { ok: false, error: messageOf(error) }
  } finally {
    rmSync(workDir, { recursive: true, force: true })
  }
}

async function ask(
  setUp: SetUp,
  workDir: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<ChatReply> {
  const ended = new AbortController()
  const end = () => ended.abort(signal.reason)
  const timer = setTimeout(
    () =>
      ended.abort(new Error(`there was no answer within ${timeoutMs / 1_000} s (CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS)`)),
    timeoutMs,
  )
  signal.addEventListener('abort', end)
  try {
    return await makeChat(setUp, { workDir }).complete(REQUEST, ended.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

function faultOf({ text, stop, model }: ChatReply): string | null {
  const said = firstWords(text)
  const another = 'choose another: claude-mem config set model NAME'
  if (stop === 'refused') return `${model} would not answer: ${said}; ${another}`
  if (parseReply(text).skip !== null) return null
  if (stop === 'length') return `${model} was cut off after ${MAX_TOKENS} tokens without an answer; ${another}`
  return `${model} answers, but not in the XML that it was asked for: ${said}; ${another}`
}

function firstWords(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}
