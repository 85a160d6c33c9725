/** The OpenAPI document of the REST routes: served at /api/openapi.json and written to docs/openapi.json. */
import { VERSION } from '../lib/version.ts'
import { OPERATIONS } from './index.ts'
import { type JsonSchema, ROUTES, type Route, routeParameters } from './routes.ts'

const ERROR_STATUSES = {
  400: 'The message is not valid JSON, or the address is not valid percent-encoding',
  401: 'The token is missing or wrong',
  403: 'The Host or Origin is not allowed, or this operation is not available here',
  404: 'Not found',
  405: 'This method is not allowed at this address',
  409: 'It conflicts with the present state',
  413: 'The message is too large',
  422: 'The input is not valid',
  503: 'The daemon is stopping, or the database cannot be written; try again',
}

export function openApiDocument(version = VERSION): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of ROUTES) {
    const { name, definition } = route
    const path = definition.path.replaceAll(/:(\w+)/g, '{$1}')
    const method = definition.method.toLowerCase()
    // One address with a condition is documented with the address it belongs to.
    if (paths[path]?.[method] !== undefined) continue
    const { about, answerDescription, rest } = OPERATIONS[name]
    const number = rest.indexOf(definition) + 1
    paths[path] = {
      ...paths[path],
      [method]: {
        operationId: rest.length === 1 ? name : `${name}_${number}`,
        summary: about,
        ...parametersAndBody(route),
        responses: responses(answerDescription),
      },
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

/** A POST or PUT takes its fields in the body; other methods have only parameters. */
function parametersAndBody(route: Route): object {
  const { method, fixed = {}, fromBody, when = {} } = route.definition
  const all = routeParameters(route)
  const inPath = all.filter(({ place }) => place === 'path').map((one) => parameter({ ...one, required: true }))
  const others = all.filter(({ place, field }) => place === 'query' && !Object.hasOwn(fixed, field))
  if (method !== 'POST' && method !== 'PUT') {
    const conditions = Object.entries(when).map(([name, value]) => {
      return parameter({ name, place: 'query', required: false, schema: { const: value } })
    })
    return { parameters: [...inPath, ...others.map(parameter), ...conditions] }
  }
  if (others.length === 0) return { parameters: inPath }
  const fields = {
    type: 'object',
    properties: Object.fromEntries(others.map(({ field, schema }) => [field, schema])),
    required: others.filter(({ required }) => required).map(({ field }) => field),
  }
  // Where the body is made into the input, it is the one field that the input is about.
  const schema = fromBody === undefined ? fields : fields.properties.event
  return {
    parameters: inPath,
    requestBody: { required: true, content: { 'application/json': { schema } } },
  }
}

interface Parameter {
  name: string
  place: 'path' | 'query'
  required: boolean
  schema: JsonSchema
}

function parameter({ name, place, required, schema }: Parameter): object {
  const description = typeof schema === 'object' ? schema.description : undefined
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema }
}

function responses(description: string): object {
  const error = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }
  return {
    200: { description, content: { 'application/json': { schema: {} } } },
    ...Object.fromEntries(
      Object.entries(ERROR_STATUSES).map(([status, description]) => [status, { description, ...error }]),
    ),
  }
}
