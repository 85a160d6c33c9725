/** From a payload to its events: the work grows with the payload, whatever a client puts into it. */
import { describe, expect, it } from 'vitest'
import type { HookPayload } from '../../src/hook/clients/adapter.ts'
import { clientAdapterNamed } from '../../src/hook/clients/index.ts'
import { loadHookSettings, readHook } from '../../src/hook/reading.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { expectLinearTime } from '../support/linear-time.ts'

const paths = dataPaths(temporaryDirectory('data'))
const cwd = temporaryDirectory('cwd')
const settings = loadHookSettings(paths.dataDir, {})

function eventsOf(client: string, payload: HookPayload): number {
  const adapter = clientAdapterNamed(client)
  if (adapter === undefined) throw new Error(`${client} has no adapter`)
  const sent = { session_id: 'growth-0001', cwd, ...payload }
  const reading = readHook(sent, JSON.stringify(sent), { adapter, paths, settings, env: {}, at: 1 })
  return reading.type === 'events' ? reading.deliveries.length : 0
}

const patchOf = (files: number): string => '*** Add File: a\n'.repeat(files)
/** 16 bytes for each file. */
const SMALL_FILES = 512

describe('a patch with many files', () => {
  it.each<[string, (files: number) => HookPayload]>([
    [
      'copilot',
      (files) => ({ hook_event_name: 'PostToolUse', tool_name: 'apply_patch', tool_input: { patch: patchOf(files) } }),
    ],
    [
      'opencode',
      (files) => ({
        hook_event_name: 'tool.execute.after',
        ...{ tool: 'apply_patch', call_id: 'call', args: { patchText: patchOf(files) }, result: {} },
      }),
    ],
    [
      'codex',
      (files) => ({
        hook_event_name: 'PostToolUse',
        ...{ tool_name: 'apply_patch', turn_id: 'turn', tool_input: { input: patchOf(files) }, tool_response: 'ok' },
      }),
    ],
  ])('%s: takes linear time', (client, payload) => {
    expect(eventsOf(client, payload(3))).toBe(3)
    expectLinearTime((files) => eventsOf(client, payload(files)), SMALL_FILES)
  })
})

/** `JSON.stringify` takes the square of the depth of each value. */
it('copilot: a payload of many deeply nested values takes linear time', () => {
  const value = JSON.parse(`${'['.repeat(1_500)}${']'.repeat(1_500)}`)
  const payload = (values: number) => ({
    hook_event_name: 'PostToolUse',
    ...{ tool_name: 'apply_patch', tool_input: { patch: patchOf(values) }, tool_result: Array(values).fill(value) },
  })
  const sent = new Map([8, 64].map((values) => [values, payload(values)]))
  expectLinearTime((values) => clientAdapterNamed('copilot')?.translate(sent.get(values) ?? {}, {}, 'the payload'), 8)
})
