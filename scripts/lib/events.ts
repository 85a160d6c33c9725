/** Events as a hook makes them of the payloads of a client. */
import { readPayload } from '../../src/hook/payload.ts'
import type { MemoryEvent } from '../../src/memory/event.ts'
import { loadSettings } from '../../src/settings.ts'
import type { Payload } from './payloads.ts'

const settings = loadSettings('', {}).values

export function eventOf(payload: Payload, at = Date.now()): MemoryEvent {
  const reading = readPayload(JSON.stringify(payload), { settings, at })
  if (reading.type === 'ignored') throw new Error(`a hook would ignore this: ${reading.reason}`)
  return reading.event
}
