/** The same service as plain HTTP: for scripts, other tools and the viewer. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorCode, MemError, messageOf } from '../errors.ts'
import type { MemoryEvent } from '../memory/event.ts'
import { USAGE_KEYS } from '../store/accounting.ts'
import { MAX_USAGE_DAYS } from '../store/usage-view.ts'
import { lookRoutes } from './rest-look.ts'
import { memoryRoutes } from './rest-memory.ts'
import { type Call, limitOf, type Route, wholeNumberOf } from './rest-route.ts'
import { parseEvent, parseJson } from './schema.ts'
import type { Service } from './service.ts'

const DEFAULT_TRACE = 50
const DEFAULT_CALLS = 20
const DEFAULT_USAGE_DAYS = 30

export const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/api\/health$/,
    handle: async ({ service }) => ({ status: 'ok', ...(await health(service)) }),
  },
  { method: 'GET', path: /^\/api\/queue\/stats$/, handle: ({ service }) => service.store.queueStats() },
  {
    method: 'GET',
    path: /^\/api\/sessions$/,
    handle: ({ service, query }) => service.store.sessions({ limit: limitOf(query, 100) }),
  },
  {
    method: 'GET',
    path: /^\/api\/sessions\/([^/]+)$/,
    handle: ({ service, params }) => service.view(params[0] ?? '', DEFAULT_TRACE),
  },
  {
    method: 'DELETE',
    path: /^\/api\/sessions\/([^/]+)$/,
    handle: ({ service, params, query }) =>
      query.get('purge') === '1' ? service.purgeSession(params[0] ?? '') : service.closeSession(params[0] ?? ''),
  },
  {
    method: 'GET',
    path: /^\/api\/sessions\/([^/]+)\/calls$/,
    handle: ({ service, params, query }) => service.calls(params[0] ?? '', limitOf(query, DEFAULT_CALLS)),
  },
  { method: 'GET', path: /^\/api\/usage$/, handle: usage },
  { method: 'GET', path: /^\/api\/context$/, handle: context },
  { method: 'GET', path: /^\/api\/projects$/, handle: ({ service }) => service.projects.list() },
  { method: 'POST', path: /^\/api\/sessions\/init$/, handle: (call) => accept(call, ['session_start', 'prompt']) },
  {
    method: 'POST',
    path: /^\/api\/sessions\/observations$/,
    handle: (call) => accept(call, ['tool_use', 'tool_failure', 'subagent_end']),
  },
  {
    method: 'POST',
    path: /^\/api\/sessions\/summarize$/,
    handle: (call) => accept(call, ['turn_end', 'pre_compact', 'session_end']),
  },
  ...memoryRoutes,
  ...lookRoutes,
]

const STATUS: Partial<Record<ErrorCode, number>> = {
  bad_request: 400,
  bad_setting: 400,
  unsupported_version: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  already_running: 409,
  quarantined: 409,
  too_large: 413,
  draining: 503,
  storage: 503,
}

export async function handleRest(
  request: IncomingMessage,
  response: ServerResponse,
  service: Service,
  maxBytes: number,
): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const result = await route(request, url, service, maxBytes)
    send(response, 200, result)
  } catch (error) {
    sendError(response, error)
  }
}

async function route(request: IncomingMessage, url: URL, service: Service, maxBytes: number): Promise<unknown> {
  const known = ROUTES.filter(({ path }) => path.test(url.pathname))
  const found = known.find(({ method }) => method === request.method)
  if (found === undefined) {
    throw new MemError(
      'not_found',
      known.length === 0 ? `there is nothing at ${url.pathname}` : `${request.method} is not possible here`,
    )
  }
  const params = (found.path.exec(url.pathname) ?? []).slice(1).map(decode)
  return await found.handle({ service, params, query: url.searchParams, body: () => readBody(request, maxBytes) })
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new MemError('bad_request', 'the address is not encoded well', { cause })
  }
}

async function health(service: Service) {
  const { version, state, startedAt, queue, observationsToday, provider, waiting, indexing } = await service.status()
  return {
    version,
    state,
    uptimeMs: Date.now() - startedAt,
    queueDepth: queue.pending + queue.processing,
    observationsToday,
    provider,
    waiting,
    indexing,
  }
}

async function context({ service, query }: Call): Promise<unknown> {
  const project = query.get('project') ?? ''
  if (project === '') throw new MemError('bad_request', 'say which project: ?project= with its key or name')
  return await service.context(project)
}

async function usage({ service, query }: Call): Promise<unknown> {
  const given = query.get('by') ?? 'day'
  const by = USAGE_KEYS.find((key) => key === given)
  if (by === undefined) throw new MemError('bad_request', `by is one of ${USAGE_KEYS.join(', ')}`)
  return await service.usage(by, wholeNumberOf(query, 'days', DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS))
}

/** An event without an id gets one here; a caller that may repeat itself sends its own. */
async function accept({ service, body }: Call, kinds: readonly MemoryEvent['kind'][]): Promise<unknown> {
  const given = await body()
  const defaults = {
    id: randomUUID(),
    at: Date.now(),
    client: 'rest',
    transcriptPath: null,
    promptId: null,
    agent: null,
    kind: kinds[0],
  }
  const event = parseEvent(typeof given === 'object' && given !== null ? { ...defaults, ...given } : given)
  if (!kinds.includes(event.kind)) {
    throw new MemError('bad_request', `${event.kind} does not belong here; this address takes ${kinds.join(', ')}`)
  }
  const { duplicate, context, message } = await service.accept(event)
  const told = { ...(context === '' ? {} : { context }), ...(message === '' ? {} : { message }) }
  return { accepted: true, duplicate, id: event.id, ...told }
}

export async function readBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new MemError('too_large', `a message may have ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'))
}

export function sendError(response: ServerResponse, error: unknown): void {
  const code = error instanceof MemError ? error.code : 'internal'
  send(response, STATUS[code] ?? 500, { error: { code, message: messageOf(error) } })
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(text)
}
