/**
 * The port of a client: a program that runs the hook. An adapter is one file beside this one, listed in index.ts; an
 * install adapter in src/setup/install/clients and a transcript reader in src/transfer/transcripts belong to it.
 *
 * The hook does everything that is common: it reads standard input, cleans and delivers the events, spools what the
 * daemon does not take, keeps what a client without turn ids needs (`../client-session.ts`), and writes the answer. An
 * adapter only translates, in both directions, and says what the client cannot do (`traits`). Rules for an adapter:
 *
 * 1. It never throws on any JSON object. Unknown events, versions and fields give no event, or one with what is known.
 * 2. Tools have the names and shapes of Claude Code, made with the functions of `tool-shapes.ts`: the observer sees the
 *    same event whichever client it was. A tool that has no such shape keeps its own name (`otherToolName`), `mcp__server__tool` for MCP: never that of
 *    a tool of Claude Code, whose answers and edits are taken as what they say.
 * 3. Ids (rule P1 in docs/hook-protocol.md), best first: `tool_use_id` (the client's id of a call); `prompt_id` (its id of
 *    a turn), which makes the id from a hash of the whole payload. A client without turn ids sets `traits.turnIds` to
 *    `'derived'`: the hook then adds a `prompt_id`, the same for all events of a turn. The payload has to contain
 *    something that differs between two uses of a tool (a timestamp, a counter); the same payload twice is one event.
 *    Where the whole payload must not decide (a session end that is reported three times with three timestamps), set
 *    `event_key`: within a turn, events with the same name and key are one event.
 * 4. The answer is what this client accepts for this event. Null: nothing is written, which is right for every event
 *    whose output the client rejects or ignores. It must never make the client block, cancel or decide anything.
 */
import { EMPTY_CONTEXT, type RenderedContext } from '../../domain/rendered-context.ts'

/** A payload as the client sent it, or translated into Claude Code's format (fields of `../payload.ts`). */
export type HookPayload = Record<string, unknown>

/** The result of one run of the hook. */
export interface HookOutcome extends RenderedContext {
  /** Claude Code's name of the event; empty if nothing was reported. */
  event: string
}

export const EMPTY_OUTCOME: HookOutcome = { event: '', ...EMPTY_CONTEXT }

/** What a client lacks. */
export interface ClientTraits {
  /** `derived`: the client names no turns, so the hook makes a `prompt_id` at each prompt and adds it to later events. */
  turnIds: 'sent' | 'derived'
  /**
   * Where the context of a starting session reaches the model. `prompt`: at the first prompt after the start; the hook then
   * asks for it with that prompt, once, and the outcome of SessionStart has no context.
   */
  startContext: 'start' | 'prompt'
  /**
   * Most characters of a context that the client takes; null: no limit that our contexts could reach
   * (CLAUDE_MEM_CONTEXT_TOKENS is 10,000 characters at most). A longer context loses whole lines before its last ones.
   */
  contextChars: number | null
}

export const STANDARD_TRAITS: ClientTraits = { turnIds: 'sent', startContext: 'start', contextChars: null }

export interface ClientAdapter {
  /** The value of `--client`; stored with each session. */
  name: string
  traits: ClientTraits
  /**
   * The events of a payload in Claude Code's format, in their order; empty if nothing is reported. Several: one call of a
   * tool that changed several files; each then needs a `tool_use_id` of its own, or none. `env` is that of the hook,
   * `raw` the payload as it was sent.
   */
  translate(payload: HookPayload, env: NodeJS.ProcessEnv, raw: string): readonly HookPayload[]
  /** The object that is written to standard output as one line; null: nothing. The context fits `contextChars`. */
  answer(outcome: HookOutcome): Record<string, unknown> | null
}

export const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The fields of an object; none for anything else. */
export function fieldsOf(value: unknown): HookPayload {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** The last lines of a context name the tools and close its tag: they stay. */
const KEPT_LAST_LINES = 3

/** At most `maxChars` characters, in whole lines: of a longer text lines are left out before its last ones. */
export function fitContext(context: string, maxChars: number | null): string {
  if (maxChars === null || context.length <= maxChars) return context
  const lines = context.split('\n')
  const end = lines.splice(-Math.min(KEPT_LAST_LINES, lines.length - 1))
  const room = maxChars - end.join('\n').length - 1
  const kept: string[] = []
  for (let chars = 0; kept.length < lines.length; ) {
    const line = lines[kept.length] ?? ''
    chars += line.length + 1
    if (chars > room + 1) break
    kept.push(line)
  }
  // Not even the frame fits: half a context would be misread.
  return kept.length === 0 ? '' : [...kept, ...end].join('\n')
}
