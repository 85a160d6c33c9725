/**
 * The Gemini API with plain fetch: it is one POST to one address. The official library adds Google Cloud sign-in, reads
 * keys and projects from the environment and retries on its own.
 */
import * as z from 'zod'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { type Endpoint, emptyReply, requireApiKey, unusableReply } from './failures.ts'
import { type ApiModelOptions, apiEndpoint, postJson, reportedUsage } from './http.ts'

const tokenCount = z.number().int().nonnegative().nullish()
const GenerateContentReply = z.object({
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
      promptTokenCount: tokenCount,
      cachedContentTokenCount: tokenCount,
      candidatesTokenCount: tokenCount,
      thoughtsTokenCount: tokenCount,
    })
    .optional(),
  modelVersion: z.string().optional(),
})

/** Finish reasons that mean a refusal. */
const REFUSALS = new Set('SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE IMAGE_SAFETY'.split(' '))

export function geminiModel(options: ApiModelOptions): ChatModel {
  const { model } = options
  // The API's own model lists have the prefix `models/`.
  const path = `/v1beta/models/${encodeURIComponent(model.replace(/^models\//, ''))}:generateContent`
  const endpoint = apiEndpoint('gemini', options, path)
  return {
    provider: endpoint.provider,
    model,
    async complete(request, signal) {
      const headers = { 'x-goog-api-key': requireApiKey(endpoint) }
      return readReply(endpoint, request, await postJson(endpoint, headers, requestBody(request), signal))
    },
  }
}

function requestBody({ system, messages, maxTokens }: ChatRequest): object {
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.map(({ role, content }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: [{ text: content }],
    })),
    generationConfig: { maxOutputTokens: maxTokens },
  }
}

function readReply(endpoint: Endpoint, request: ChatRequest, value: unknown): ChatReply {
  const { candidates, promptFeedback, usageMetadata, modelVersion } = GenerateContentReply.safeParse(value).data ?? {}
  if (candidates === undefined && promptFeedback?.blockReason === undefined) {
    throw unusableReply(endpoint, 'something that is no answer of the Gemini API', value)
  }
  const [candidate] = candidates ?? []
  const text = (candidate?.content?.parts ?? []).flatMap((part) => (part.thought ? [] : [part.text ?? ''])).join('')
  const reason = promptFeedback?.blockReason ?? candidate?.finishReason ?? 'unknown'
  const refused = promptFeedback?.blockReason !== undefined || REFUSALS.has(reason)
  const usage = reportedUsage(request, text, {
    prompt: usageMetadata?.promptTokenCount,
    cacheRead: usageMetadata?.cachedContentTokenCount,
    // Thoughts are billed as output and counted separately.
    output: (usageMetadata?.candidatesTokenCount ?? 0) + (usageMetadata?.thoughtsTokenCount ?? 0),
  })
  if (!refused && text.trim() === '') throw emptyReply(endpoint, `finish reason ${reason}`, usage)
  return {
    text,
    usage,
    model: modelVersion ?? endpoint.model,
    stop: refused ? 'refused' : reason === 'MAX_TOKENS' ? 'length' : 'end',
    cost: null,
  }
}
