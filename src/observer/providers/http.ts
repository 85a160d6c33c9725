/**
 * One POST of JSON. Every failure becomes an `ObserverError` with its owner. There is no retry here (the circuit breaker
 * retries) and no timeout (the caller's signal ends the call).
 */

import { estimateTokens, type Usage } from '../../domain/observation.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { type ChatRequest, estimateRequestTokens } from '../model/chat.ts'
import { ObserverError } from '../port.ts'
import { connectionFailure, type Endpoint, httpFailure, unusableReply } from './failures.ts'
import type { HttpReply } from './retry-after.ts'

/** An answer has a few KB. A larger body is not an answer and is not read into memory. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

export interface ApiModelOptions {
  /** Null or empty: the server needs none. */
  apiKey: string | null
  baseUrl: string
  model: string
}

export function apiEndpoint(provider: string, { apiKey, baseUrl, model }: ApiModelOptions, path: string): Endpoint {
  return { provider, model, url: endpointUrl(baseUrl, path), apiKey: apiKey ?? '' }
}

/** `path` below a base address that may end with a slash. */
export function endpointUrl(baseUrl: string, path: string): string {
  return `${trimEndMatching(baseUrl, /\//)}${path}`
}

/** The parsed body of a successful call. An aborted signal rejects with its reason. */
export async function postJson(
  endpoint: Endpoint,
  headers: Record<string, string>,
  body: object,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    }
    return parseJsonReply(endpoint, await fetchReply(endpoint, init))
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** The whole reply, whatever its status. */
export async function fetchReply(endpoint: Endpoint, init: RequestInit): Promise<HttpReply> {
  let response: Response
  try {
    // Redirects are not followed: the key would be sent to another address.
    response = await fetch(endpoint.url, { ...init, redirect: 'manual' })
  } catch (error) {
    throw connectionFailure(endpoint, error)
  }
  const { status, headers } = response
  try {
    return { status, headers, text: await readBody(endpoint, response) }
  } catch (error) {
    // The status of a failed call is enough to classify it.
    if (!response.ok) return { status, headers, text: '' }
    throw error instanceof ObserverError ? error : connectionFailure(endpoint, error)
  }
}

/** Throws unless the reply is a success with a JSON body. */
export function parseJsonReply(endpoint: Endpoint, reply: HttpReply): unknown {
  if (reply.status < 200 || reply.status > 299) throw httpFailure(endpoint, reply)
  if (reply.text.trim() === '') throw unusableReply(endpoint, 'an empty body', '')
  try {
    return JSON.parse(reply.text)
  } catch {
    throw unusableReply(endpoint, 'something that is not JSON', reply.text)
  }
}

async function readBody(endpoint: Endpoint, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the stream.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw unusableReply(endpoint, `more than ${MAX_BODY_BYTES / 1024 ** 2} MB`, '')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

type TokenCount = number | null | undefined

/**
 * Usage from an API whose prompt count includes the cached tokens. Missing counts are estimated, because a budget that
 * counts nothing has no effect.
 */
export function reportedUsage(
  request: ChatRequest,
  text: string,
  counts: { prompt: TokenCount; cacheRead?: TokenCount; cacheWrite?: TokenCount; output: TokenCount },
): Usage {
  // Some servers report 0 for "not counted".
  const prompt = counts.prompt || estimateRequestTokens(request)
  const cacheRead = Math.min(counts.cacheRead ?? 0, prompt)
  const cacheWrite = Math.min(counts.cacheWrite ?? 0, prompt - cacheRead)
  return {
    input: prompt - cacheRead - cacheWrite,
    output: counts.output || estimateTokens(text),
    cacheRead,
    cacheWrite,
  }
}
