/**
 * Events as REST bodies. A body is an event with our field names, or with those of hook payloads and of the original
 * claude-mem (`content_session_id`, `tool_name`, `tool_response`, …). What a caller may leave out gets a default, and the
 * project is that of `cwd`. Nothing is checked or cleaned here: the operation `event` does that for every door.
 */
import { randomUUID } from 'node:crypto'
import type { EventKind } from '../domain/event.ts'
import { importedProjectKey, type Project, projectOfDirectory } from '../domain/project.ts'
import { MemError } from '../lib/errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** Our names, each with the others that are accepted. The first that is given counts. */
const NAMES = {
  session: ['session', 'content_session_id', 'contentSessionId', 'session_id', 'sessionId', 'claudeSessionId'],
  id: ['id', 'tool_use_id', 'toolUseId'],
  promptId: ['promptId', 'prompt_id'],
  text: ['text', 'prompt', 'user_prompt', 'userPrompt'],
  tool: ['tool', 'tool_name', 'toolName'],
  input: ['input', 'tool_input', 'toolInput'],
  response: ['response', 'tool_response', 'toolResponse', 'tool_output', 'toolOutput'],
  durationMs: ['durationMs', 'duration_ms'],
  interrupted: ['interrupted', 'is_interrupt'],
  lastMessage: ['lastMessage', 'last_assistant_message', 'lastAssistantMessage'],
} as const satisfies Record<string, readonly string[]>

/** Fields that an event of this kind has and a caller may leave out. */
const DEFAULTS: Record<EventKind, Fields> = {
  session_start: { source: 'startup' },
  prompt: { private: false },
  tool_use: { input: null, response: null, durationMs: null },
  tool_failure: { input: null, interrupted: false, durationMs: null },
  subagent_end: { lastMessage: '' },
  pre_compact: { trigger: 'unknown' },
  turn_end: { lastMessage: null, error: null, words: [] },
  session_end: { reason: 'unknown' },
}

/** `kinds`: what the address takes; the first is meant where the body does not show another. */
export function eventFromBody(body: unknown, path: string, kinds: readonly [EventKind, ...EventKind[]]): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const fields = withOurNames({ ...body })
  const kind = fields.kind ?? inferKind(fields, kinds)
  if (typeof kind === 'string' && !(kinds as readonly string[]).includes(kind)) {
    throw new MemError(
      'bad_request',
      `an event of kind ${kind} does not belong here; ${path} takes ${kinds.join(', ')}`,
    )
  }
  const cwd = typeof fields.cwd === 'string' ? fields.cwd : ''
  return {
    id: randomUUID(),
    at: Date.now(),
    client: 'rest',
    transcriptPath: null,
    promptId: null,
    agent: null,
    ...(Object.hasOwn(DEFAULTS, String(kind)) ? DEFAULTS[kind as EventKind] : {}),
    ...fields,
    kind,
    cwd,
    project: projectOf(fields.project, cwd),
  }
}

function withOurNames(body: Fields): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...body }
  for (const [ours, accepted] of Object.entries(NAMES)) {
    const given = accepted.find((name) => body[name] !== undefined)
    if (given !== undefined) fields[ours] = body[given]
  }
  // The original sends tool inputs and outputs as texts of JSON.
  if (body.input === undefined && 'input' in fields) fields.input = parsedIfJson(fields.input)
  if (body.response === undefined && 'response' in fields) fields.response = parsedIfJson(fields.response)
  return fields
}

function inferKind(fields: Fields, kinds: readonly [EventKind, ...EventKind[]]): EventKind {
  const [standard] = kinds
  if (standard === 'session_start' && fields.text !== undefined) return 'prompt'
  if (standard === 'tool_use' && typeof fields.error === 'string' && fields.response === undefined)
    return 'tool_failure'
  return standard
}

function parsedIfJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** A project is given as ours, by its name, or not at all. `undefined`: there is none, and the schema says so. */
function projectOf(given: unknown, cwd: string): unknown {
  const name = typeof given === 'string' ? given.trim() : ''
  if (given !== undefined && given !== null && typeof given !== 'string') return given
  if (cwd !== '') {
    const project: Project = projectOfDirectory(cwd)
    return name === '' ? project : { ...project, name }
  }
  return name === '' ? undefined : { key: importedProjectKey(name), name }
}
