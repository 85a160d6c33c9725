/** The OpenAPI document of the REST routes: served at /api/openapi.json and written to docs/openapi.json. */
import { z } from 'zod'
import { FILTER_NAMES, SEARCH_FILTERS } from '../domain/search-query.ts'
import { VERSION } from '../lib/version.ts'
import { OPERATIONS } from './index.ts'
import type { RestRoute } from './operation.ts'

type Schema = z.core.JSONSchema._JSONSchema

interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  description?: string
  schema: Schema
}

const ERROR_STATUSES = {
  400: 'The message is not valid JSON, or the address is not valid percent-encoding',
  401: 'The token is missing or wrong',
  403: 'The Host or Origin is not allowed, or this operation is not available here',
  404: 'There is no such thing',
  405: 'This method is not allowed at this address',
  409: 'It conflicts with the present state',
  413: 'The message is too large',
  422: 'The input is not valid',
  503: 'The daemon is stopping, or the database cannot be written; try again',
}

export function openApiDocument(version = VERSION): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' })
    const routes = operation.rest as readonly RestRoute<object, object>[]
    for (const [index, route] of routes.entries()) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
      const method = route.method.toLowerCase()
      // One address with a condition is documented with the address it belongs to.
      if (paths[path]?.[method] !== undefined) continue
      paths[path] ??= {}
      paths[path][method] = {
        operationId: routes.length === 1 ? name : `${name}_${index + 1}`,
        summary: operation.about,
        parameters: routeParameters(route, properties, required),
        ...requestBody(route, properties, required),
        responses: responses(operation.answers),
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'claude-mem',
      version,
      description: 'The local daemon of claude-mem. Every request over TCP needs the token of the data directory.',
    },
    servers: [{ url: 'http://127.0.0.1:37777' }],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              required: ['code', 'message'],
              properties: { code: { type: 'string' }, message: { type: 'string' } },
            },
          },
        },
      },
    },
    paths,
  }
}

function routeParameters(
  { path, method, params = {}, fixed = {}, fromBody, when = {} }: RestRoute<object, object>,
  properties: Record<string, Schema>,
  required: readonly string[],
): Parameter[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const pathFields = new Set(inPath.map((name) => params[name] ?? name))
  const fromPath = inPath.map((name) => {
    return parameter(name, 'path', true, properties[params[name] ?? name])
  })
  if (fromBody !== undefined || method === 'POST' || method === 'PUT') return fromPath
  const names = new Map(Object.entries(params).map(([param, field]) => [field, param]))
  const fromQuery = Object.entries(properties)
    .filter(([field]) => !pathFields.has(field) && !Object.hasOwn(fixed, field))
    .map(([field, schema]) => {
      return parameter(names.get(field) ?? filterParam(field) ?? field, 'query', required.includes(field), schema)
    })
  const conditions = Object.entries(when).map(([name, value]) => {
    return parameter(name, 'query', false, { const: value })
  })
  return [...fromPath, ...fromQuery, ...conditions]
}

function parameter(name: string, place: 'path' | 'query', required: boolean, schema: Schema = true): Parameter {
  const description = typeof schema === 'object' ? schema.description : undefined
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema }
}

function filterParam(field: string): string | undefined {
  const name = FILTER_NAMES.find((filter) => filter === field)
  return name === undefined ? undefined : SEARCH_FILTERS[name].param
}

function requestBody(
  { method, path, fixed = {}, params = {}, fromBody }: RestRoute<object, object>,
  properties: Record<string, Schema>,
  required: readonly string[],
): object {
  if (method !== 'POST' && method !== 'PUT') return {}
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => params[name] ?? name))
  const fields = Object.keys(properties).filter((field) => !inPath.has(field) && !Object.hasOwn(fixed, field))
  if (fromBody === undefined && fields.length === 0) return {}
  // Where the body is made into the input, it is the one field that the input is about.
  const schema =
    fromBody === undefined
      ? {
          type: 'object',
          properties: Object.fromEntries(fields.map((field) => [field, properties[field]])),
          required: required.filter((field) => fields.includes(field)),
        }
      : properties.event
  return { requestBody: { required: true, content: { 'application/json': { schema } } } }
}

function responses(answers: string): object {
  const error = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }
  return {
    200: { description: answers, content: { 'application/json': { schema: {} } } },
    ...Object.fromEntries(
      Object.entries(ERROR_STATUSES).map(([status, description]) => [status, { description, ...error }]),
    ),
  }
}
