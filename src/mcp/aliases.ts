/**
 * Other names for the inputs of tools. Models and other clients know them from the rows they read (`type`), from hook payloads
 * (`session_id`) or from other memories. The published schemas have one name each and refuse unknown ones, so the names are
 * replaced before a call is checked.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

const SESSION = { session_id: 'session', sessionId: 'session', content_session_id: 'session' }
const LISTS = { concept: 'concepts', file: 'files', path: 'files' }
const FILTERS = {
  ...SESSION,
  ...LISTS,
  type: 'types',
  obs_type: 'types',
  kind: 'kinds',
  date_start: 'since',
  dateStart: 'since',
  date_end: 'until',
  dateEnd: 'until',
}

const ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  search_memory: { ...FILTERS, q: 'query', text: 'query' },
  forget: { ...FILTERS, id: 'ids' },
  timeline: { id: 'anchor', q: 'query', depth_before: 'before', depth_after: 'after' },
  get_observations: { id: 'ids', observation_ids: 'ids' },
  get_session_summary: SESSION,
  remember: { ...LISTS, kind: 'type', content: 'text', narrative: 'text' },
}

/** Inputs that are lists: one value is accepted as a list of one, a text with commas as several. */
const LIST_INPUTS = new Set(['types', 'kinds', 'concepts', 'files', 'ids'])

/** Renames the arguments of tool calls in messages of this transport. Called before a server is connected to it. */
export function acceptAliases(transport: Transport): void {
  const earlier = transport.onmessage
  // The protocol keeps a listener that is there before it connects, and calls it first.
  transport.onmessage = (message, extra) => {
    earlier?.(message, extra)
    const call = recordOf(message)
    const params = recordOf(call?.params)
    const given = recordOf(params?.arguments)
    if (call?.method !== 'tools/call' || params === null || given === null) return
    params.arguments = renameArguments(String(params.name), given)
  }
}

/** An input that has its own name wins over its aliases. */
function renameArguments(tool: string, given: Record<string, unknown>): Record<string, unknown> {
  const aliases = Object.hasOwn(ALIASES, tool) ? (ALIASES[tool] ?? {}) : {}
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const target = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name
    if (target !== name && Object.hasOwn(given, target)) renamed[name] = value
    else renamed[target] = LIST_INPUTS.has(target) ? listOf(value) : value
  }
  return renamed
}

function listOf(value: unknown): unknown {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'string') return value
  return value.split(',').map((word) => word.trim())
}

function recordOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}
