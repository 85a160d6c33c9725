/** Start and end of a session in Cursor, after its documentation: Cursor itself is not run by any test. */
import { describe, expect, it } from 'vitest'
import { EMPTY_OUTCOME, type HookPayload } from '../../src/hook/clients/adapter.ts'
import { adapterFromArgs } from '../../src/hook/clients/index.ts'
import { readPayloadFields } from '../../src/hook/payload.ts'
import { loadSettings } from '../../src/settings/settings.ts'

const { values: settings } = loadSettings('', {})
const cursor = adapterFromArgs(['--client', 'cursor'])
const BASE = { conversation_id: 'c-1', cursor_version: '3.12.17', workspace_roots: ['/home/me/shop'], user_email: null }

function reported(fields: HookPayload) {
  const payload = { ...BASE, ...fields }
  return cursor.translate(payload, {}, JSON.stringify(payload)).map((one) => {
    return readPayloadFields(one, JSON.stringify(payload), { settings, at: 1, client: 'cursor' })
  })
}

describe('a session of Cursor', () => {
  it('starts under the id of its conversation, and gets the memory of the project', () => {
    const start = {
      hook_event_name: 'sessionStart',
      session_id: 's-1',
      is_background_agent: false,
      composer_mode: 'agent',
    }
    expect(reported(start)).toMatchObject([
      { type: 'event', event: { kind: 'session_start', session: 'c-1', cwd: '/home/me/shop', source: 'startup' } },
    ])
    expect(cursor.answer({ ...EMPTY_OUTCOME, event: 'SessionStart', context: 'known' })).toEqual({
      continue: true,
      additional_context: 'known',
    })
  })

  it('ends, and events that it may have in other versions are no error', () => {
    expect(reported({ hook_event_name: 'sessionEnd', reason: 'user_close' })).toMatchObject([
      { event: { kind: 'session_end', session: 'c-1', reason: 'user_close' } },
    ])
    expect(reported({ hook_event_name: 'workspaceOpen' })).toEqual([])
    expect(reported({ hook_event_name: 'stop', generation_id: 7, status: ['x'] })).toMatchObject([{ type: 'event' }])
  })
})
