/**
 * What may be kept of an event: the one definition for every door. The hook applies it before an event is sent or spooled,
 * the daemon applies it to every event that it accepts, because anything may write to its socket, its port and its spool.
 *
 * 1. Skipped entirely: events of excluded projects, skipped tools, claude-mem's own tools.
 * 2. Private parts are removed from every text; of a prompt that has nothing else only the fact remains.
 * 3. Secrets are masked and texts are cut to their bounds (sanitize.ts).
 * 4. Names and paths are text that SQLite can store, the time is one that a date can have.
 *
 * A cleaned event that is cleaned again is equal to itself.
 */
import { DAY_MS } from './dates.ts'
import type { MemoryEvent } from './event.ts'
import { isEntirelyPrivate } from './private-parts.ts'
import { isExcluded } from './project.ts'
import { DEFAULT_BOUNDS, type SizeBounds, sanitizeText, sanitizeToolFields, toWellFormed } from './sanitize.ts'
import { boundTurnWords, MAX_TURN_WORDS_CHARS, newestTurnWords } from './turn-words.ts'

/** The settings that decide what is kept. */
export interface CleaningRules {
  CLAUDE_MEM_SKIP_TOOLS: readonly string[]
  CLAUDE_MEM_EXCLUDED_PROJECTS: readonly string[]
  CLAUDE_MEM_MAX_FIELD_KB: number
  CLAUDE_MEM_MAX_MESSAGE_KB: number
}

/** Without what else is in the same settings. */
export function pickRules(rules: CleaningRules): CleaningRules {
  return {
    CLAUDE_MEM_SKIP_TOOLS: rules.CLAUDE_MEM_SKIP_TOOLS,
    CLAUDE_MEM_EXCLUDED_PROJECTS: rules.CLAUDE_MEM_EXCLUDED_PROJECTS,
    CLAUDE_MEM_MAX_FIELD_KB: rules.CLAUDE_MEM_MAX_FIELD_KB,
    CLAUDE_MEM_MAX_MESSAGE_KB: rules.CLAUDE_MEM_MAX_MESSAGE_KB,
  }
}

/** For events that a program replays: nothing is skipped because of settings, and the bounds are those of the settings' defaults. */
export const NO_EXCLUSIONS: CleaningRules = {
  CLAUDE_MEM_SKIP_TOOLS: [],
  CLAUDE_MEM_EXCLUDED_PROJECTS: [],
  CLAUDE_MEM_MAX_FIELD_KB: 64,
  CLAUDE_MEM_MAX_MESSAGE_KB: 5_120,
}

export type CleanedEvent = { type: 'event'; event: MemoryEvent } | { type: 'skipped'; reason: string }

/** Cleans an event once, however many parts of the daemon it passes. */
export class EventCleaner {
  readonly #rules: () => CleaningRules
  readonly #now: () => number
  readonly #cleaned = new WeakSet<MemoryEvent>()

  constructor(rules: () => CleaningRules, now: () => number) {
    this.#rules = rules
    this.#now = now
  }

  /** The event was cleaned on another thread. It is cleaned again if the rules have changed since. */
  addCleaned(event: MemoryEvent, rules: CleaningRules): void {
    if (isSame(pickRules(rules), pickRules(this.#rules()), 0)) this.#cleaned.add(event)
  }

  clean(event: MemoryEvent): CleanedEvent {
    if (this.#cleaned.has(event)) return { type: 'event', event }
    const cleaned = cleanEvent(event, this.#rules(), this.#now())
    if (cleaned.type === 'event') this.#cleaned.add(cleaned.event)
    return cleaned
  }
}

/** `now`: epoch ms at which the event arrives. */
export function cleanEvent(event: MemoryEvent, rules: CleaningRules, now: number): CleanedEvent {
  const reason = skipReason(event, rules)
  if (reason !== null) return { type: 'skipped', reason }
  const bounds = sizeBounds(rules)
  let cleaned = cleanOnce(event, bounds, now)
  // Masking and cutting can make a text that a second pass changes, such as a secret's name beside a cut. Most events
  // come out as they went in, and are cleaned once.
  let before = event
  for (let round = 1; round < MAX_ROUNDS && !isSame(before, cleaned, 0); round++) {
    before = cleaned
    cleaned = cleanOnce(cleaned, bounds, now)
  }
  return { type: 'event', event: cleaned }
}

const MAX_ROUNDS = 4

/** claude-mem's own MCP tools, installed or as a plugin: observing how memory is read would only add noise. */
const OWN_TOOL = /^mcp__(?:plugin_(?:mem_)?)?claude-mem_/

function skipReason(event: MemoryEvent, rules: CleaningRules): string | null {
  if (event.kind === 'tool_use' || event.kind === 'tool_failure') {
    const { tool } = event
    if (OWN_TOOL.test(tool)) return "claude-mem's own tools are not observed"
    if (rules.CLAUDE_MEM_SKIP_TOOLS.includes(tool)) return `${tool} is in CLAUDE_MEM_SKIP_TOOLS`
  }
  return isExcluded(event.cwd, event.project, rules.CLAUDE_MEM_EXCLUDED_PROJECTS) ? EXCLUDED : null
}

const EXCLUDED = 'the project is excluded'

function cleanOnce(event: MemoryEvent, bounds: SizeBounds, now: number): MemoryEvent {
  const base = cleanBase(event, now)
  switch (event.kind) {
    case 'session_start':
      return { ...event, ...base, source: cleanWord(event.source) }
    case 'prompt': {
      const isPrivate = event.private || isEntirelyPrivate(event.text)
      return { ...event, ...base, text: isPrivate ? '' : sanitizeText(event.text, bounds.text), private: isPrivate }
    }
    case 'tool_use': {
      const { input, response } = sanitizeToolFields({ input: event.input, response: event.response }, bounds)
      return { ...event, ...base, tool: cleanIdentifier(event.tool), input, response }
    }
    case 'tool_failure': {
      const { input, error } = sanitizeToolFields({ input: event.input, error: event.error }, bounds)
      const text = typeof error === 'string' ? error : ''
      return { ...event, ...base, tool: cleanIdentifier(event.tool), input, error: text }
    }
    case 'subagent_end':
      return { ...event, ...base, lastMessage: sanitizeText(event.lastMessage, bounds.text) }
    case 'turn_end': {
      const { lastMessage, error } = event
      return {
        ...event,
        ...base,
        lastMessage: lastMessage === null ? null : sanitizeText(lastMessage, bounds.text),
        error: error === null ? null : sanitizeText(error, bounds.text),
        words: cleanWords(event.words, bounds),
      }
    }
    case 'pre_compact':
      return { ...event, ...base, trigger: cleanWord(event.trigger) }
    case 'session_end':
      return { ...event, ...base, reason: cleanWord(event.reason) }
  }
}

function cleanWords(words: readonly string[], bounds: SizeBounds): string[] {
  const most = Math.min(bounds.text, MAX_TURN_WORDS_CHARS)
  const cleaned = newestTurnWords(words).map((text) => sanitizeText(text, most).trim())
  return boundTurnWords(cleaned.filter((text) => text !== ''))
}

function cleanBase(event: MemoryEvent, now: number) {
  const { project, transcriptPath, promptId, agent } = event
  return {
    id: cleanIdentifier(event.id),
    session: cleanIdentifier(event.session),
    at: cleanTime(event.at, now),
    client: cleanIdentifier(event.client),
    project: { key: cleanIdentifier(project.key), name: cleanIdentifier(project.name) },
    cwd: cleanIdentifier(event.cwd),
    transcriptPath: transcriptPath === null ? null : cleanIdentifier(transcriptPath),
    promptId: promptId === null ? null : cleanIdentifier(promptId),
    agent: agent === null ? null : { id: cleanIdentifier(agent.id), type: cleanIdentifier(agent.type) },
  }
}

/** A clock that is a day ahead is wrong: the event gets the time of its arrival. It is never refused for its clock. */
export const MAX_CLOCK_AHEAD_MS = DAY_MS

export function cleanTime(at: number, now: number): number {
  const whole = Math.floor(at)
  return whole >= 0 && whole <= now + MAX_CLOCK_AHEAD_MS ? whole : Math.floor(now)
}

/** Ids, names and paths: compared as they are, so only what SQLite cannot compare is replaced. */
export function cleanIdentifier(text: string): string {
  return toWellFormed(text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text)
}

/** Most characters of a word such as `startup`. */
const MAX_WORD = 200
const PLAIN_WORD = /^\w{0,40}$/

/** A client's word for what happened; of another program it can be any text. */
function cleanWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : sanitizeText(text, MAX_WORD)
}

/**
 * Characters, chosen so that the event fits into one message in any script (UTF-8 takes up to four bytes a character)
 * and leaves room for the envelope.
 */
function sizeBounds(rules: CleaningRules): SizeBounds {
  const total = Math.min(DEFAULT_BOUNDS.total, rules.CLAUDE_MEM_MAX_MESSAGE_KB * 512)
  return { ...DEFAULT_BOUNDS, total, text: Math.min(rules.CLAUDE_MEM_MAX_FIELD_KB * 1024, total / 4) }
}

/** More levels than a cleaned value has. */
const MAX_COMPARED_DEPTH = 80

/** Equal as JSON. */
function isSame(one: unknown, other: unknown, depth: number): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (depth > MAX_COMPARED_DEPTH || Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every(
    (key) => Object.hasOwn(other, key) && isSame(Reflect.get(one, key), Reflect.get(other, key), depth + 1),
  )
}
