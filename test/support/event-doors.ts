/** The ways on which an event reaches a real daemon, each as a program that we did not write could use it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import type { DaemonSandbox } from './daemon.ts'
import { waitUntil } from './waiting.ts'

/** Null: the door does not answer. */
export type EventDoor = (event: MemoryEvent) => Promise<{ duplicate: boolean; skipped?: string } | null>

const REST_PATHS: Record<MemoryEvent['kind'], string> = {
  session_start: 'init',
  prompt: 'init',
  tool_use: 'observations',
  tool_failure: 'observations',
  subagent_end: 'observations',
  turn_end: 'summarize',
  pre_compact: 'summarize',
  session_end: 'summarize',
}

let files = 0

export function eventDoors(place: DaemonSandbox): Record<'REST' | 'WebSocket' | 'spool', EventDoor> {
  return {
    REST: async (event) => {
      const { port } = await place.status()
      const response = await fetch(`http://127.0.0.1:${port}/api/sessions/${REST_PATHS[event.kind]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${readFileSync(place.paths.token, 'utf8').trim()}` },
        body: JSON.stringify(event),
      })
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      return (await response.json()) as { duplicate: boolean; skipped?: string }
    },
    WebSocket: (event) => place.ask((client) => client.call('event', { event, version: '' })),
    // Written by hand: the hook's own function would be given a cleaned event.
    spool: async (event) => {
      mkdirSync(place.paths.spool, { recursive: true })
      const file = join(place.paths.spool, `${String(Date.now()).padStart(15, '0')}-door-${++files}`)
      writeFileSync(`${file}.json`, JSON.stringify({ v: PROTOCOL_VERSION, event }))
      await waitUntil('the spool is empty', async () => (await place.status()).spooled === 0)
      return null
    },
  }
}

/** What a client gives the hook for an event; null for kinds that these tests do not send through a hook. */
export function hookPayload(event: MemoryEvent): object | null {
  const base = {
    session_id: event.session,
    cwd: event.cwd,
    prompt_id: event.promptId ?? undefined,
    transcript_path: event.transcriptPath ?? undefined,
    ...(event.agent === null ? {} : { agent_id: event.agent.id, agent_type: event.agent.type }),
  }
  switch (event.kind) {
    case 'prompt':
      return { ...base, hook_event_name: 'UserPromptSubmit', prompt: event.text }
    case 'tool_use': {
      const { tool: tool_name, input: tool_input, response: tool_response, id: tool_use_id } = event
      return { ...base, hook_event_name: 'PostToolUse', tool_name, tool_input, tool_response, tool_use_id }
    }
    case 'subagent_end':
      return { ...base, hook_event_name: 'SubagentStop', last_assistant_message: event.lastMessage }
    case 'turn_end':
      return { ...base, hook_event_name: 'Stop', last_assistant_message: event.lastMessage }
    default:
      return null
  }
}
