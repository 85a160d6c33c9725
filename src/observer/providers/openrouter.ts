/**
 * Any server with the OpenAI chat API: OpenRouter, OpenAI, Ollama, LM Studio, vLLM. With plain fetch: it is one POST, and
 * a client library made for one of them does not know what the others do differently.
 */
import * as z from 'zod'
import type { ChatModel, ChatReply, ChatRequest } from '../model/chat.ts'
import { type ChatServer, chatServerAt } from '../provider-choice.ts'
import { type Endpoint, emptyReply, httpFailure, requireApiKey, unusableReply } from './failures.ts'
import { type ApiModelOptions, apiEndpoint, postJson, reportedUsage } from './http.ts'

const tokenCount = z.number().int().nonnegative().nullish()
const Completion = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z
            .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))])
            .nullish(),
          refusal: z.string().nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: tokenCount,
      completion_tokens: tokenCount,
      prompt_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish(),
      cost: z.number().nonnegative().nullish(),
    })
    .nullish(),
})
/** OpenRouter and LM Studio report some errors inside a 200, on the top level or within the choice. */
const ErrorBody = z.object({ error: z.union([z.string().min(1), z.looseObject({})]) })
const ErrorInChoice = z.object({ choices: z.tuple([ErrorBody], z.unknown()) })

export function openrouterModel(
  options: ApiModelOptions,
  server: ChatServer = chatServerAt(options.baseUrl),
): ChatModel {
  const { model } = options
  const endpoint = apiEndpoint('openrouter', options, '/chat/completions')
  const needsKey = endpoint.apiKey !== '' || server === 'openrouter' || server === 'openai'
  return {
    provider: endpoint.provider,
    model,
    async complete(request, signal) {
      const headers: Record<string, string> = needsKey ? { authorization: `Bearer ${requireApiKey(endpoint)}` } : {}
      const value = await postJson(endpoint, headers, requestBody(request, model, server), signal)
      return readReply(endpoint, server, request, value)
    },
  }
}

function requestBody({ system, messages, maxTokens }: ChatRequest, model: string, server: ChatServer): object {
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    // OpenAI's newer models reject `max_tokens`; most other servers know no other name.
    ...(server === 'openai' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    // OpenRouter reports the cost on request; strict servers reject an unknown field.
    ...(server === 'openrouter' ? { usage: { include: true } } : {}),
  }
}

function readReply(endpoint: Endpoint, server: ChatServer, request: ChatRequest, value: unknown): ChatReply {
  const error = ErrorBody.safeParse(value).data?.error ?? ErrorInChoice.safeParse(value).data?.choices[0].error
  if (error !== undefined) {
    const text = JSON.stringify({ error })
    throw httpFailure(endpoint, { status: errorStatus(error), headers: new Headers(), text })
  }
  const completion = Completion.safeParse(value).data
  const choice = completion?.choices[0]
  if (completion === undefined || choice === undefined) {
    throw unusableReply(endpoint, 'something that is no completion', value)
  }
  const { content, refusal } = choice.message
  const text = contentText(content) || (refusal ?? '')
  const reason = choice.finish_reason ?? 'unknown'
  const refused = reason === 'content_filter' || typeof refusal === 'string'
  const reported = completion.usage
  const usage = reportedUsage(request, text, {
    prompt: reported?.prompt_tokens,
    cacheRead: reported?.prompt_tokens_details?.cached_tokens,
    cacheWrite: reported?.prompt_tokens_details?.cache_write_tokens,
    output: reported?.completion_tokens,
  })
  if (!refused && text.trim() === '') throw emptyReply(endpoint, `finish reason ${reason}`, usage)
  return {
    text,
    usage,
    model: completion.model ?? endpoint.model,
    stop: refused ? 'refused' : reason === 'length' ? 'length' : 'end',
    cost: server === 'local' ? 0 : server === 'openrouter' ? (reported?.cost ?? null) : null,
  }
}

function contentText(content: string | { type: string; text?: string | undefined }[] | null | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('')
}

/** The status inside the error; without one the failure is upstream of the server, as with 502. */
function errorStatus(error: string | { code?: unknown }): number {
  const code = typeof error === 'string' ? Number.NaN : Number(error.code)
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : 502
}
