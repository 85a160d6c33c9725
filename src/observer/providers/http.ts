/**
 * One POST of JSON, and every way in which it can fail as an `ObserverError` with its owner. Nothing is tried again
 * here: the breaker does that. Nothing times out here either: the signal does that.
 */
import { ObserverError } from '../port.ts'
import type { Endpoint } from './endpoint.ts'
import { connectionFailure, httpFailure, unusableReply } from './failure.ts'
import type { Said } from './retry-after.ts'

/** An answer is a few KB; more than this is no answer, and is not read into memory. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

/** The parsed body of a success. An aborted signal rejects with its reason. */
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
    return jsonOf(endpoint, await exchange(endpoint, init))
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** A request and its whole answer, whatever its status. */
export async function exchange(endpoint: Endpoint, init: RequestInit): Promise<Said> {
  let response: Response
  try {
    // A redirect is never followed: the key would go along, to whoever it leads to.
    response = await fetch(endpoint.url, { ...init, redirect: 'manual' })
  } catch (error) {
    throw connectionFailure(endpoint, error)
  }
  const { status, headers } = response
  try {
    return { status, headers, text: await readBody(endpoint, response) }
  } catch (error) {
    // A failure is known by its status, whatever became of its words.
    if (!response.ok) return { status, headers, text: '' }
    throw error instanceof ObserverError ? error : connectionFailure(endpoint, error)
  }
}

/** What a success holds; a failure throws. */
export function jsonOf(endpoint: Endpoint, said: Said): unknown {
  if (said.status < 200 || said.status > 299) throw httpFailure(endpoint, said)
  if (said.text.trim() === '') throw unusableReply(endpoint, 'an empty body', '')
  try {
    return JSON.parse(said.text)
  } catch {
    throw unusableReply(endpoint, 'something that is not JSON', said.text)
  }
}

async function readBody(endpoint: Endpoint, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop cancels the rest.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw unusableReply(endpoint, `more than ${MAX_BODY_BYTES / 1024 ** 2} MB`, '')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
