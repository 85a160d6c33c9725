/** What a scripted server can be told to do wrong. A plain string is the model's answer, refusal in prose included. */
export type Fault =
  /** Any status, with an error in the API's own shape. The wait is told in the API's own way. */
  | {
      fault: 'status'
      status: number
      message?: string
      /** The API's name for the kind of error; its usual one for the status where it is left out. */
      type?: string
      retryAfterSeconds?: number
      headers?: Record<string, string>
    }
  /** Accepts the request and never answers. */
  | { fault: 'hang' }
  /** Answers well, but not before `until` has come. */
  | { fault: 'slow-headers'; text: string; until: Promise<unknown> }
  /** The connection breaks before the first byte of the answer. */
  | { fault: 'reset' }
  /** The connection breaks when half of the body is out. */
  | { fault: 'reset-mid-body'; text?: string }
  | { fault: 'empty-body' }
  /** 200 and a body that only looks like JSON. */
  | { fault: 'wrong-json'; body?: string }
  /** 200 and JSON that is another API's. */
  | { fault: 'other-json'; body: unknown }
  /** A proxy's page. */
  | { fault: 'html'; status: number }
  /** Well formed, cut off at `max_tokens`. */
  | { fault: 'truncated'; text: string }
  /** The API says that the model would not; the prose kind of refusal is an ordinary answer. */
  | { fault: 'refusal'; text?: string }
  /** The request itself was blocked, where the API knows such a thing. */
  | { fault: 'blocked' }
  /** Well formed, without a word. */
  | { fault: 'no-text' }
  | { fault: 'too-long' }
  /** 200, and the error in the body. */
  | { fault: 'error-in-200'; code: number | null; message: string }
  | { fault: 'redirect'; to: string }
  /** A body without end. */
  | { fault: 'endless-body' }

export interface Call {
  system: string
  messages: { role: 'user' | 'assistant'; content: string }[]
  /** Which well-formed request this is, from 0. */
  index: number
}

export type Handler = (call: Call) => string | Fault | Promise<string | Fault>

export interface RecordedRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: unknown
  /** Null: it was not well formed and never reached the handler. */
  call: Call | null
  /** As it was reported to the client; null for a fault. */
  usage: TokenCount | null
}

export interface TokenCount {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** An error before it takes the API's shape. */
export interface ApiError {
  status: number
  type: string
  message: string
}
