/** What `claude` prints, line by line, as far as we need it. Lines that say nothing to us, and what is no JSON, are left out. */
import { z } from 'zod'

const count = z.number().nonnegative().catch(0)
const text = z.string().nullish().catch(null)

/** The client speaks in the model's place to say what went wrong. */
const SYNTHETIC = '<synthetic>'

const assistantLine = z.object({
  type: z.literal('assistant'),
  /** The kind of what went wrong, beside the client's own words. */
  error: text,
  message: z.object({
    model: text,
    content: z.array(z.object({ type: z.string(), text })).catch([]),
  }),
})

const limitLine = z.object({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z.object({
    status: text,
    /** Epoch seconds. */
    resetsAt: z.number().nullish().catch(null),
  }),
})

const resultLine = z.object({
  type: z.literal('result'),
  subtype: text,
  is_error: z.boolean().catch(false),
  result: text,
  stop_reason: text,
  terminal_reason: text,
  api_error: text,
  api_error_status: z.number().nullish().catch(null),
  total_cost_usd: z.number().nonnegative().nullish().catch(null),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
    })
    .nullish()
    .catch(null),
  modelUsage: z
    .record(
      z.string(),
      z.object({
        inputTokens: count,
        outputTokens: count,
        cacheReadInputTokens: count,
        cacheCreationInputTokens: count,
      }),
    )
    .nullish()
    .catch(null),
})

export type ResultLine = z.infer<typeof resultLine>

export interface Transcript {
  /** What the model wrote: its parts one after another, where an answer was continued. */
  text: string
  /** Null: no model answered. */
  model: string | null
  /** What the client says went wrong: `rate_limit`, `authentication_failed`, … */
  error: string | null
  /** Epoch ms at which a used-up allowance comes back. */
  resetsAt: number | null
  /** Null: it ended without one. */
  result: ResultLine | null
}

const line = z.union([assistantLine, limitLine, resultLine])

export function readTranscript(stdout: string): Transcript {
  const transcript: Transcript = { text: '', model: null, error: null, resetsAt: null, result: null }
  for (const row of stdout.split('\n')) {
    const parsed = line.safeParse(jsonOf(row))
    if (parsed.success) take(transcript, parsed.data)
  }
  return transcript
}

function take(transcript: Transcript, said: z.infer<typeof line>): void {
  switch (said.type) {
    case 'assistant': {
      transcript.error = said.error ?? transcript.error
      if (said.message.model === SYNTHETIC) return
      transcript.model = said.message.model ?? transcript.model
      for (const block of said.message.content) if (block.type === 'text') transcript.text += block.text ?? ''
      return
    }
    case 'rate_limit_event': {
      const { status, resetsAt } = said.rate_limit_info
      if (status === 'rejected' && typeof resetsAt === 'number') transcript.resetsAt = resetsAt * 1_000
      return
    }
    case 'result':
      transcript.result = said
  }
}

function jsonOf(row: string): unknown {
  if (!row.startsWith('{')) return null
  try {
    return JSON.parse(row)
  } catch {
    return null
  }
}
