/**
 * What the client says to a hook becomes an event, or is ignored. Nothing of an ignored payload goes anywhere.
 * Seen with real clients: 1.0 has neither `tool_use_id` nor `prompt_id`, 2.0 has the first, 2.1 both.
 */
import { type Bounds, DEFAULT_BOUNDS, wellFormed } from '../memory/bound.ts'
import { cleanText, cleanTool } from '../memory/clean.ts'
import type { Agent, MemoryEvent } from '../memory/event.ts'
import { isWhollyPrivate } from '../memory/privacy.ts'
import { projectOf } from '../memory/project.ts'
import { shortHash } from '../paths.ts'
import type { Settings } from '../settings.ts'
import type { Payload } from './clients/client.ts'
import { isExcluded } from './excluded.ts'
import { lastMessageIn } from './last-message.ts'

export type Reading = { type: 'event'; event: MemoryEvent } | { type: 'ignored'; reason: string }

export interface ReadOptions {
  settings: Pick<
    Settings,
    'CLAUDE_MEM_SKIP_TOOLS' | 'CLAUDE_MEM_EXCLUDED_PROJECTS' | 'CLAUDE_MEM_MAX_FIELD_KB' | 'CLAUDE_MEM_MAX_MESSAGE_KB'
  >
  /** Epoch milliseconds. */
  at: number
  client?: string
}

const OBSERVED_EVENTS: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  'StopFailure',
  'SubagentStop',
  'PreCompact',
  'SessionEnd',
])

/** claude-mem's own tools, as a server of the user's or of the plugin: memory of reading memory is noise. */
const OWN_TOOL = /^mcp__(?:plugin_)?claude-mem_/

export function readPayload(raw: string, options: ReadOptions): Reading {
  const payload = parsePayload(raw)
  return payload === null ? ignored('the payload is not a JSON object') : readFields(payload, raw, options)
}

/** Null where it is no JSON object. */
export function parsePayload(raw: string): Payload | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw)
  } catch {
    return null
  }
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : null
}

/** `raw` is what the client sent: where it names nothing, its own words tell one event from another. */
export function readFields(payload: Payload, raw: string, options: ReadOptions): Reading {
  const hook = name(payload.hook_event_name)
  if (!OBSERVED_EVENTS.has(hook)) return ignored(`${hook || 'an event without a name'} is not observed`)
  const session = name(payload.session_id)
  if (session === '') return ignored('there is no session id')
  const tool = name(payload.tool_name)
  if (isToolEvent(hook)) {
    if (tool === '') return ignored('there is no tool name')
    if (OWN_TOOL.test(tool)) return ignored("claude-mem's own tools are not observed")
    if (options.settings.CLAUDE_MEM_SKIP_TOOLS.includes(tool)) return ignored(`${tool} is in CLAUDE_MEM_SKIP_TOOLS`)
  }
  const cwd = directoryOf(payload)
  const project = projectOf(cwd)
  if (isExcluded(cwd, project, options.settings.CLAUDE_MEM_EXCLUDED_PROJECTS)) return ignored('the project is excluded')

  const agent = agentOf(payload, hook)
  const lastMessage = text(payload.last_assistant_message)
  if (hook === 'SubagentStop' && (agent === null || lastMessage === '')) {
    return ignored('a subagent without a type or a last message, as a compaction reports it')
  }
  const bounds = boundsOf(options.settings)
  const max = bounds.text
  const base = {
    id: eventId(hook, payload, raw),
    session,
    at: options.at,
    client: options.client ?? 'claude-code',
    project,
    cwd,
    transcriptPath: name(payload.transcript_path) || null,
    promptId: name(payload.prompt_id) || null,
    agent,
  }
  switch (hook) {
    case 'SessionStart':
      return event({ ...base, kind: 'session_start', source: name(payload.source) || 'startup' })
    case 'UserPromptSubmit': {
      const prompt = text(payload.prompt)
      const wholly = isWhollyPrivate(prompt)
      return event({ ...base, kind: 'prompt', text: wholly ? '' : cleanText(prompt, max), private: wholly })
    }
    case 'PostToolUse': {
      const { input, response } = cleanTool(
        { input: payload.tool_input ?? null, response: payload.tool_response ?? null },
        bounds,
      )
      return event({ ...base, kind: 'tool_use', tool, input, response, durationMs: duration(payload.duration_ms) })
    }
    case 'PostToolUseFailure': {
      const { input, error } = cleanTool({ input: payload.tool_input ?? null, error: text(payload.error) }, bounds)
      const interrupted = payload.is_interrupt === true
      return event({
        ...base,
        kind: 'tool_failure',
        tool,
        input,
        error: text(error),
        interrupted,
        durationMs: duration(payload.duration_ms),
      })
    }
    case 'SubagentStop':
      return event({ ...base, kind: 'subagent_end', lastMessage: cleanText(lastMessage, max) })
    case 'PreCompact':
      return event({ ...base, kind: 'pre_compact', trigger: name(payload.trigger) || 'unknown' })
    case 'SessionEnd':
      return event({ ...base, kind: 'session_end', reason: name(payload.reason) || 'unknown' })
    default: {
      const error = hook === 'StopFailure' ? cleanText(text(payload.error) || 'unknown', max) : null
      const said = lastMessage === '' && base.transcriptPath !== null ? lastMessageIn(base.transcriptPath) : lastMessage
      return event({
        ...base,
        kind: 'turn_end',
        lastMessage: said === '' ? null : cleanText(said, max),
        error,
      })
    }
  }
}

/** A message has room for its event whatever script it is written in, and for the rest of the envelope. */
function boundsOf(settings: ReadOptions['settings']): Bounds {
  const total = Math.min(DEFAULT_BOUNDS.total, settings.CLAUDE_MEM_MAX_MESSAGE_KB * 512)
  return { ...DEFAULT_BOUNDS, total, text: Math.min(settings.CLAUDE_MEM_MAX_FIELD_KB * 1024, total / 4) }
}

const event = (value: MemoryEvent): Reading => ({ type: 'event', event: value })
const ignored = (reason: string): Reading => ({ type: 'ignored', reason })
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
/** Ids, names and paths: none is longer than a path may be. */
const MAX_NAME = 4_096
export const name = (value: unknown): string => wellFormed(text(value).slice(0, MAX_NAME))
const duration = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const isToolEvent = (hook: string): boolean => hook === 'PostToolUse' || hook === 'PostToolUseFailure'

/** A main session that runs as an agent has a type but no id; a compaction's subagent has an id but no type. */
function agentOf(payload: Payload, hook: string): Agent | null {
  const type = name(payload.agent_type)
  const id = name(payload.agent_id) || (hook === 'SubagentStop' ? type : '')
  return id === '' || type === '' ? null : { id, type }
}

/**
 * The same payload delivered twice (hooks registered twice, a client that retries) has the same id wherever the
 * client gives something to tell its turns apart; a second Stop of one turn says something else and counts.
 */
function eventId(hook: string, payload: Payload, raw: string): string {
  const toolUse = name(payload.tool_use_id)
  if (toolUse !== '') return toolUse
  const prompt = name(payload.prompt_id)
  return prompt === '' ? randomId() : `${hook}:${prompt}:${shortHash(sample(raw))}`
}

/** Hashing is slow in plain JavaScript: of a huge payload the ends and the length tell enough. */
const HASHED_CHARS = 65_536

function sample(raw: string): string {
  if (raw.length <= 2 * HASHED_CHARS) return raw
  return `${raw.slice(0, HASHED_CHARS)}${raw.length}${raw.slice(-HASHED_CHARS)}`
}

/** Unique within a session; loading crypto for it would cost every hook a millisecond. */
function randomId(): string {
  const parts = [Date.now(), process.pid, process.hrtime()[1], Math.floor(Math.random() * 2 ** 52)]
  return `random:${parts.map((part) => part.toString(36)).join('-')}`
}

/** Where the client works. */
export function directoryOf(payload: Payload): string {
  const given = name(payload.cwd)
  if (given !== '') return given
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}
