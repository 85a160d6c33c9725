/**
 * REST, derived from the routes of the operations. Path parameters, query parameters and the JSON body become the
 * operation's input; its schema checks them. An unknown parameter is an error: a misspelt filter must not be ignored.
 * Routing is a table of patterns: Hono was measured with the same latency, but 11 MB more memory in an idle daemon.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DaemonContext } from '../api/context.ts'
import { runOperation } from '../api/index.ts'
import { openApiDocument } from '../api/openapi.ts'
import type { Caller } from '../api/operation.ts'
import { type JsonSchema, ROUTES, type Route, type RouteParameter, routeParameters } from '../api/routes.ts'
import { FilterValueError, parseFilters } from '../domain/search-query.ts'
import { type ErrorCode, errorMessage, MemError } from '../lib/errors.ts'
import { isNestedTooDeep, MAX_JSON_DEPTH } from '../lib/json.ts'
import { VIEWER_PROVE_PATH } from './viewer-proof.ts'

const OPENAPI_PATH = '/api/openapi.json'
/** Where a viewer's page gets its token. */
export const VIEWER_OPEN_PATH = '/api/viewer/open'
/** Addresses that are not operations, with their method. */
const OTHER_ADDRESSES = new Map([
  [OPENAPI_PATH, 'GET'],
  [VIEWER_OPEN_PATH, 'POST'],
  [VIEWER_PROVE_PATH, 'POST'],
])

export const HTTP_STATUSES: Partial<Record<ErrorCode, number>> = {
  malformed: 400,
  unsupported_version: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  already_running: 409,
  conflict: 409,
  quarantined: 409,
  too_large: 413,
  // Well-formed, but not valid input. 400 is for what cannot be parsed.
  bad_request: 422,
  bad_setting: 422,
  busy: 503,
  draining: 503,
  storage: 503,
}

export async function handleRest(
  request: IncomingMessage,
  response: ServerResponse,
  context: DaemonContext,
  { caller, maxBytes }: { caller: Caller; maxBytes: number },
): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname === OPENAPI_PATH && request.method === 'GET') return send(response, 200, openApiDocument())
    context.supervisor.recordActivity()
    const route = findRoute(request, response, url)
    const body = takesBody(route) ? await readBody(request, maxBytes) : await readNeedlessBody(request, maxBytes)
    const input = routeInput(route, url, body)
    const output = await runOperation(route.name, input, context, caller)
    send(response, 200, routeAnswer(route, output, input))
  } catch (error) {
    sendError(response, error)
  }
}

function findRoute(request: IncomingMessage, response: ServerResponse, { pathname, searchParams }: URL): Route {
  const known = ROUTES.filter(({ pattern }) => pattern.test(pathname))
  const matching = known.filter(({ definition }) => definition.method === request.method)
  const hasQuery = ({ definition: { when = {} } }: Route) =>
    Object.entries(when).every(([name, value]) => searchParams.get(name) === value)
  // A route with a condition comes before the one without.
  const route = matching.find((one) => one.definition.when !== undefined && hasQuery(one)) ?? matching.find(hasQuery)
  if (route !== undefined) return route
  const methods = known.map(({ definition }) => definition.method)
  const allowed = [...new Set(methods)].join(', ') || OTHER_ADDRESSES.get(pathname)
  if (allowed === undefined) throw new MemError('not_found', `there is nothing at ${pathname}`)
  response.setHeader('allow', allowed)
  throw new MemError('method_not_allowed', `${request.method} is not allowed at ${pathname}; use ${allowed}`)
}

/** Whether a part of the input is in the body. Without one the address takes any body: programs send an empty one, or a form. */
function takesBody(route: Route): boolean {
  const { method, fixed = {}, fromBody } = route.definition
  if (method !== 'POST' && method !== 'PUT') return false
  const isInBody = ({ place, field }: RouteParameter) => place === 'query' && !Object.hasOwn(fixed, field)
  return fromBody !== undefined || routeParameters(route).some(isInBody)
}

/** Fields are still read: one that contradicts the address is an error. Anything else is ignored. */
async function readNeedlessBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (request.method !== 'POST' && request.method !== 'PUT') return undefined
  const body = await readBody(request, maxBytes).catch((error: unknown) => {
    if (error instanceof MemError && error.code === 'malformed') return undefined
    throw error
  })
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined
}

function decodePathPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new MemError('malformed', 'the address is not valid percent-encoding', { cause })
  }
}

function routeInput(route: Route, { pathname, searchParams: query }: URL, body: unknown): Record<string, unknown> {
  const { defaults, fixed, fromBody, when = {} } = route.definition
  const parameters = routeParameters(route)
  const fromPath = new Map(Object.entries(route.pattern.exec(pathname)?.groups ?? {}))
  const fromQuery = [...new Set(query.keys())]
    .filter((name) => !Object.hasOwn(when, name))
    .map((name) => [name, query.getAll(name)] as const)
  const input: Record<string, unknown> = { ...defaults }
  if (parameters.some(({ isFilter }) => isFilter)) Object.assign(input, filterInput(query))
  for (const [name, values] of fromQuery) {
    const parameter = parameters.find((one) => one.name === name) ?? parameters.find((one) => one.field === name)
    if (parameter === undefined || parameter.place === 'path') throw unknownParameter(name, parameters)
    // `filterInput` has read it.
    if (parameter.isFilter && parameter.name === name) continue
    // Forms send empty fields.
    const given = values.filter((value) => value !== '')
    if (given.length > 0) input[parameter.field] = fieldValue(parameter.schema, given)
  }
  if (body !== undefined) Object.assign(input, fromBody === undefined ? bodyFields(body) : fromBody(body))
  // Last: neither the query nor the body may replace what the address names.
  for (const { name, field, schema } of parameters) {
    const part = fromPath.get(name)
    if (part === undefined) continue
    if (Object.hasOwn(input, field))
      throw new MemError('bad_request', `${field} is already in the address; leave it out`)
    input[field] = fieldValue(schema, [decodePathPart(part)])
  }
  return { ...input, ...fixed }
}

function bodyFields(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new MemError('bad_request', 'the body must be a JSON object')
}

function filterInput(query: URLSearchParams): object {
  try {
    return parseFilters((param) => query.getAll(param), Date.now())
  } catch (error) {
    if (error instanceof FilterValueError) throw new MemError('bad_request', error.message, { cause: error })
    throw error
  }
}

function unknownParameter(name: string, parameters: readonly RouteParameter[]): MemError {
  const inQuery = parameters.filter(({ place }) => place === 'query')
  const own = inQuery.filter(({ isFilter }) => !isFilter)
  const filters = inQuery.filter(({ isFilter }) => isFilter)
  const known = [...own, ...filters].map((parameter) => parameter.name).join(', ') || 'none'
  return new MemError('bad_request', `there is no parameter "${name.slice(0, 40)}"; known: ${known}`)
}

/**
 * A parameter's text as a value of its field. Text that is no number or boolean stays text: then the schema names the field
 * in its complaint.
 */
function fieldValue(schema: JsonSchema, values: readonly string[]): unknown {
  const [first = ''] = values
  const variants = typeof schema === 'boolean' ? [] : [schema, ...(schema.anyOf ?? [])]
  const typed = variants.find((variant) => typeof variant === 'object' && variant.type !== undefined)
  if (typeof typed !== 'object') return first
  switch (typed.type) {
    case 'integer':
    case 'number':
      return numberOrText(first)
    case 'boolean':
      return BOOLEANS.get(first) ?? first
    case 'array': {
      const words = values.flatMap((value) => value.split(',')).map((word) => word.trim())
      const item = typed.items
      const isNumeric =
        typeof item === 'object' && 'type' in item && (item.type === 'integer' || item.type === 'number')
      return isNumeric ? words.map(numberOrText) : words.filter(Boolean)
    }
    default:
      return first
  }
}

const BOOLEANS = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

function numberOrText(text: string): number | string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}

function routeAnswer({ definition: { pick, respond } }: Route, output: object, input: object): unknown {
  if (respond !== undefined) return respond(output, input)
  return pick === undefined ? output : Reflect.get(output, pick)
}

export async function readBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new MemError('too_large', `a message may have at most ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? {} : parseJson(text)
}

export function parseJson(text: string): unknown {
  if (isNestedTooDeep(text)) {
    throw new MemError('malformed', `the message is nested deeper than ${MAX_JSON_DEPTH} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MemError('malformed', 'the message is not valid JSON', { cause })
  }
}

export function sendError(response: ServerResponse, error: unknown): void {
  const code = error instanceof MemError ? error.code : 'internal'
  send(response, HTTP_STATUSES[code] ?? 500, { error: { code, message: errorMessage(error) } })
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
