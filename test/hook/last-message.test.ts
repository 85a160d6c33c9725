import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { lastAssistantMessage, readPayload } from '../../src/hook/payload.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = temporaryDirectory('last')
  file = join(directory, 't.jsonl')
})
const said = (text: string, more: object = {}) =>
  JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] }, ...more })
const used = JSON.stringify({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', name: 'Bash', input: {} }] },
})
const user = JSON.stringify({ type: 'user', message: { content: 'the "assistant" did well' } })

test.each([
  ['the last of several', [said('first'), user, said('last')], 'last'],
  ['before a tool use', [said('said'), used], 'said'],
  ['not a subagent’s', [said('mine'), said('theirs', { isSidechain: true })], 'mine'],
  ['before a cut-off line', [said('whole'), said('cut off').slice(0, 40)], 'whole'],
  ['beyond a long line', [said('old'), JSON.stringify({ type: 'user', filler: 'x'.repeat(200_000) })], 'old'],
  ['none', [user], ''],
  ['an empty file', [], ''],
])('lastMessage: %s', (_name, lines, expected) => {
  writeFileSync(file, lines.join('\n'))
  expect(lastAssistantMessage(file)).toBe(expected)
})

test('lastMessage: a missing transcript is ignored', () => {
  expect(lastAssistantMessage(join(directory, 'nowhere.jsonl'))).toBe('')
  expect(lastAssistantMessage(directory)).toBe('')
})

test('lastMessage: is added to a Stop of an older client, with secrets masked', () => {
  writeFileSync(file, said('The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789. <private>x</private>Done.'))
  const settings = {
    CLAUDE_MEM_SKIP_TOOLS: [],
    CLAUDE_MEM_EXCLUDED_PROJECTS: [],
    CLAUDE_MEM_MAX_FIELD_KB: 64,
    CLAUDE_MEM_MAX_MESSAGE_KB: 5_120,
  }
  const stop = {
    hook_event_name: 'Stop',
    session_id: 's',
    cwd: directory,
    transcript_path: file,
    stop_hook_active: false,
  }
  const reading = readPayload(JSON.stringify(stop), { settings, at: 1 })
  if (reading.type !== 'event' || reading.event.kind !== 'turn_end') throw new Error('not a turn end')
  expect(reading.event.lastMessage).toContain('Done.')
  expect(reading.event.lastMessage).not.toMatch(/abcdefghij|>x</)
})
