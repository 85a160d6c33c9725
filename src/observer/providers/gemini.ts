/**
 * The Gemini API by plain fetch: this is one POST to one endpoint. The official library brings the sign-in of Google
 * Cloud, reads keys and projects from the environment, and tries again on its own.
 */
import { z } from 'zod'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { addressOf, type Endpoint, keyOf } from './endpoint.ts'
import { noText, unusableReply } from './failure.ts'
import { postJson } from './http.ts'
import { usageOf } from './usage.ts'

export const DEFAULT_MODEL = 'gemini-3.5-flash-lite'
export const DEFAULT_BASE_URL = 'https://generativelanguage.googleapis.com'

const tokens = z.number().int().nonnegative().nullish()
const Content = z.object({
  candidates: z
    .array(
      z.object({
        content: z
          .object({
            parts: z.array(z.object({ text: z.string().optional(), thought: z.boolean().optional() })).optional(),
          })
          .optional(),
        finishReason: z.string().optional(),
      }),
    )
    .optional(),
  promptFeedback: z.object({ blockReason: z.string().optional() }).optional(),
  usageMetadata: z
    .object({
      promptTokenCount: tokens,
      cachedContentTokenCount: tokens,
      candidatesTokenCount: tokens,
      thoughtsTokenCount: tokens,
    })
    .optional(),
  modelVersion: z.string().optional(),
})

/** Why the model would not, or was not let: not the same as a mistake. */
const REFUSALS = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'IMAGE_SAFETY',
])

export interface GeminiOptions {
  apiKey: string
  baseUrl: string
  model: string
}

export function geminiModel({ apiKey, baseUrl, model }: GeminiOptions): ChatModel {
  const endpoint: Endpoint = {
    provider: 'gemini',
    model,
    // The API's own lists write `models/` before the name.
    url: addressOf(baseUrl, `/v1beta/models/${encodeURIComponent(model.replace(/^models\//, ''))}:generateContent`),
    apiKey,
    keySetting: 'gemini-api-key',
    addressSetting: 'gemini-base-url',
  }
  return {
    provider: endpoint.provider,
    model,
    async complete(request, signal) {
      const headers = { 'x-goog-api-key': keyOf(endpoint) }
      return replyOf(endpoint, request, await postJson(endpoint, headers, bodyOf(request), signal))
    },
  }
}

function bodyOf({ system, messages, maxTokens }: ChatRequest): object {
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.map(({ role, content }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: [{ text: content }],
    })),
    generationConfig: { maxOutputTokens: maxTokens },
  }
}

function replyOf(endpoint: Endpoint, request: ChatRequest, value: unknown): ChatReply {
  const parsed = Content.safeParse(value)
  const { candidates, promptFeedback, usageMetadata: said, modelVersion } = parsed.data ?? {}
  if (candidates === undefined && promptFeedback?.blockReason === undefined) {
    throw unusableReply(endpoint, 'something that is no answer of the Gemini API', value)
  }
  const [candidate] = candidates ?? []
  // Thoughts are not the answer.
  const text = (candidate?.content?.parts ?? []).flatMap((part) => (part.thought ? [] : [part.text ?? ''])).join('')
  const reason = promptFeedback?.blockReason ?? candidate?.finishReason ?? 'unknown'
  const refused = promptFeedback?.blockReason !== undefined || REFUSALS.has(reason)
  const usage = usageOf(request, text, {
    prompt: said?.promptTokenCount,
    cached: said?.cachedContentTokenCount,
    // Thoughts are paid as output, and counted beside it.
    output: said === undefined ? null : (said.candidatesTokenCount ?? 0) + (said.thoughtsTokenCount ?? 0),
  })
  if (!refused && text.trim() === '') throw noText(endpoint, `finish reason ${reason}`, usage)
  return {
    text,
    usage,
    model: modelVersion ?? endpoint.model,
    stop: refused ? 'refused' : reason === 'MAX_TOKENS' ? 'length' : 'end',
    cost: null,
  }
}
