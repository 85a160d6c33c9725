/** Looking inside, and settings, as plain HTTP. */
import { eventNamed, storyNamed } from '../store/named.ts'
import { MAX_USAGE_DAYS } from '../store/usage-view.ts'
import { activityOf, originOf } from './look-requests.ts'
import { MAX_STORY_ROWS } from './memory-limits.ts'
import { type Call, onlyKnown, type Route, textOf, wholeNumberOf } from './rest-route.ts'
import { parseSettingValue } from './schema.ts'

const DEFAULT_DAYS = 30
const DEFAULT_TRACE = 200
const DEFAULT_ROWS = 200

export const lookRoutes: Route[] = [
  {
    method: 'GET',
    path: /^\/api\/observations\/(\d{1,15})\/origin$/,
    handle: ({ service, params }) => originOf(service, Number(params[0])),
  },
  {
    method: 'GET',
    path: /^\/api\/events\/([^/]+)$/,
    handle: ({ service, params, query }) => eventNamed(service.store, params[0] ?? '', textOf(query, 'session')),
  },
  { method: 'GET', path: /^\/api\/sessions\/([^/]+)\/story$/, handle: story },
  {
    method: 'POST',
    path: /^\/api\/sessions\/([^/]+)\/reopen$/,
    handle: ({ service, params }) => service.reopenSession(params[0] ?? ''),
  },
  { method: 'GET', path: /^\/api\/activity$/, handle: activity },
  { method: 'GET', path: /^\/api\/settings$/, handle: async ({ service }) => service.settings.list() },
  { method: 'PUT', path: /^\/api\/settings\/(\w+)$/, handle: setSetting },
]

async function story({ service, params, query }: Call): Promise<unknown> {
  onlyKnown(query, ['trace', 'rows'])
  return await storyNamed(service.store, params[0] ?? '', {
    trace: wholeNumberOf(query, 'trace', DEFAULT_TRACE, MAX_STORY_ROWS, 0),
    rows: wholeNumberOf(query, 'rows', DEFAULT_ROWS, MAX_STORY_ROWS, 0),
  })
}

async function activity({ service, query }: Call): Promise<unknown> {
  onlyKnown(query, ['days'])
  return await activityOf(service, wholeNumberOf(query, 'days', DEFAULT_DAYS, MAX_USAGE_DAYS))
}

/** `{"value": …}`; null takes it out of the file again. */
async function setSetting({ service, params, body }: Call): Promise<unknown> {
  const { value } = parseSettingValue(await body())
  const written = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  service.settings.set(params[0] ?? '', written)
  return service.settings.list()
}
