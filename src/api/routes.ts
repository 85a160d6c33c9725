/** The REST routes of all operations, with the parameters that each takes: for the server and for the OpenAPI document. */
import * as z from 'zod'
import { FILTER_NAMES, SEARCH_FILTERS } from '../domain/search-query.ts'
import { type CallableName, OPERATIONS } from './index.ts'
import type { RestRoute } from './operation.ts'

export type JsonSchema = z.core.JSONSchema._JSONSchema

export interface Route {
  name: CallableName
  /** Matches the path; its groups are the path parameters. */
  pattern: RegExp
  /** The operation's own definition of this route; its types are checked there. */
  definition: RestRoute<object, object>
}

/** Path parameters that are ids of observations: digits. Another text is an unknown address. */
const NUMERIC_PARAMETERS: readonly string[] = ['id', 'observation', 'from', 'to']

function pathPattern(path: string): RegExp {
  const parameter = (_text: string, name: string) =>
    `(?<${name}>${NUMERIC_PARAMETERS.includes(name) ? '\\d{1,15}' : '[^/]+'})`
  return new RegExp(`^${path.replaceAll(/:(\w+)/g, parameter)}$`)
}

export const ROUTES: readonly Route[] = Object.entries(OPERATIONS).flatMap(([name, { rest }]) =>
  (rest as readonly RestRoute<object, object>[]).map((definition) => ({
    name: name as CallableName,
    pattern: pathPattern(definition.path),
    definition,
  })),
)

/** A parameter in the address, and the input field that it sets. */
export interface RouteParameter {
  name: string
  field: string
  place: 'path' | 'query'
  /** A search filter, which is written in its own form. */
  isFilter: boolean
  required: boolean
  schema: JsonSchema
}

const parameterCache = new Map<Route, readonly RouteParameter[]>()

/** In the order of the input fields. */
export function routeParameters(route: Route): readonly RouteParameter[] {
  const cached = parameterCache.get(route)
  if (cached !== undefined) return cached
  const { path, params = {} } = route.definition
  const { properties = {}, required = [] } = z.toJSONSchema(OPERATIONS[route.name].input, {
    io: 'input',
    unrepresentable: 'any',
  })
  const renamed = new Map(Object.entries(params).map(([name, field]) => [field, name]))
  const hasFilters = FILTER_NAMES.every((filter) => Object.hasOwn(properties, filter))
  const parameters = Object.entries(properties).map(([field, schema]): RouteParameter => {
    const filter = hasFilters ? FILTER_NAMES.find((one) => one === field) : undefined
    const name = renamed.get(field) ?? (filter === undefined ? field : SEARCH_FILTERS[filter].param)
    return {
      name,
      field,
      place: path.split('/').includes(`:${name}`) ? 'path' : 'query',
      isFilter: filter !== undefined,
      required: required.includes(field),
      schema,
    }
  })
  parameterCache.set(route, parameters)
  return parameters
}
