/** Faults that a scripted server can simulate. A plain string is the model's answer, also a refusal in prose. */
export type Fault =
  /** Any status, with error and wait in the format of the API. */
  | {
      fault: 'status'
      status: number
      message?: string
      /** The API's type of the error; the default depends on the status. */
      type?: string
      retryAfterSeconds?: number
      headers?: Record<string, string>
    }
  /** Accepts the request and never answers. */
  | { fault: 'hang' }
  /** A correct answer, sent after `until` has resolved. */
  | { fault: 'slow-headers'; text: string; until: Promise<unknown> }
  /** The connection breaks before the first byte of the answer. */
  | { fault: 'reset' }
  /** The connection breaks after half of the body. */
  | { fault: 'reset-mid-body'; text?: string }
  | { fault: 'empty-body' }
  /** 200 and invalid JSON. */
  | { fault: 'wrong-json'; body?: string }
  /** 200 and JSON of another shape. */
  | { fault: 'other-json'; body: unknown }
  /** The HTML page of a proxy. */
  | { fault: 'html'; status: number }
  /** Well formed, cut off at `max_tokens`. */
  | { fault: 'truncated'; text: string }
  /** A refusal as a stop reason. */
  | { fault: 'refusal'; text?: string }
  /** The request was blocked, if the API has such a reply. */
  | { fault: 'blocked' }
  /** Well formed, without text. */
  | { fault: 'no-text' }
  | { fault: 'too-long' }
  /** 200 with an error in the body. */
  | { fault: 'error-in-200'; code: number | null; message: string }
  | { fault: 'redirect'; to: string }
  /** A body that never ends. */
  | { fault: 'endless-body' }

export interface ModelRequest {
  system: string
  messages: { role: 'user' | 'assistant'; content: string }[]
  /** Number of this well-formed request, from 0. */
  index: number
}

export type Handler = (call: ModelRequest) => string | Fault | Promise<string | Fault>

export interface RecordedRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: unknown
  /** Null: the request was rejected before the handler. */
  call: ModelRequest | null
  /** As reported to the client; null for a fault. */
  usage: TokenCount | null
}

export interface TokenCount {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** An error, independent of the API. */
export interface ApiError {
  status: number
  type: string
  message: string
}
