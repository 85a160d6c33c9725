/** A fetch that gives up on a silent server, can be stopped, and remembers what went wrong with the server. */
import { messageOf } from '../../errors.ts'

export interface HubFetch {
  fetch(input: string | URL, init?: RequestInit): Promise<Response>
  /** Addresses whose whole content was given. */
  readonly given: ReadonlySet<string>
  /** The first thing that the server or the way to it is to blame for; null: nothing so far. */
  trouble(): string | null
}

export function hubFetch({ stallMs, stopped }: { stallMs: number; stopped: AbortSignal }): HubFetch {
  let trouble: string | null = null
  const given = new Set<string>()
  const blame = (error: unknown): void => {
    trouble ??= reasonOf(error)
  }

  /** Either the server says something in time, or the request ends. */
  async function inTime<T>(request: AbortController, next: Promise<T>): Promise<T> {
    const timer = setTimeout(() => request.abort(new Error(`no answer within ${stallMs / 1_000} s`)), stallMs)
    try {
      return await next
    } catch (error) {
      // An aborted request may say no more than that.
      const cause: unknown = request.signal.aborted ? request.signal.reason : error
      blame(cause)
      throw cause
    } finally {
      clearTimeout(timer)
    }
  }

  function watched(body: ReadableStream<Uint8Array>, request: AbortController): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await inTime(request, reader.read())
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

  return {
    given,
    trouble: () => trouble,
    fetch: async (input, init) => {
      const request = new AbortController()
      const stop = () => request.abort(stopped.reason)
      if (stopped.aborted) stop()
      stopped.addEventListener('abort', stop)
      const response = await inTime(request, fetch(input, { ...init, signal: request.signal }))
      if (response.status === 408 || response.status === 429 || response.status >= 500) {
        blame(new Error(`it answered ${response.status}`))
      }
      const { status, statusText, headers } = response
      if (status === 200) given.add(String(input))
      return new Response(response.body && watched(response.body, request), { status, statusText, headers })
    },
  }
}

/** `fetch failed` is all that a fetch says; what failed is its cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error)
}
