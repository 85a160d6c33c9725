/** Tool events as Claude Code reports them, with only what a test is about. */
import type { InboxEvent } from '../../src/domain/event.ts'

let n = 0
const base = () => ({
  id: `e${++n}`,
  session: 's',
  at: 1_000 + n,
  client: 'claude-code',
  project: { key: 'dir:/home/dev/shop', name: 'shop' },
  cwd: '/home/dev/shop',
  transcriptPath: null,
  promptId: null,
  agent: null,
})

export function used(tool: string, input: unknown, response: unknown): InboxEvent {
  return { ...base(), kind: 'tool_use', tool, input, response, durationMs: 1 }
}
export function failed(tool: string, input: unknown, error: string): InboxEvent {
  return { ...base(), kind: 'tool_failure', tool, input, error, interrupted: false, durationMs: 1 }
}
export const bash = (command: string, stdout = ''): InboxEvent =>
  used('Bash', { command }, { stdout, stderr: '', interrupted: false })
export const bashFails = (command: string, output: string, code = 1): InboxEvent =>
  failed('Bash', { command }, `Exit code ${code}\n${output}`)
export const read = (file: string): InboxEvent =>
  used('Read', { file_path: `/home/dev/shop/${file}` }, { type: 'text', file: { content: '…' } })
export const grep = (pattern: string, filenames: string[]): InboxEvent =>
  used('Grep', { pattern }, { mode: 'files_with_matches', filenames, numFiles: filenames.length })
export const write = (file: string, content: string): InboxEvent =>
  used(
    'Write',
    { file_path: `/home/dev/shop/${file}`, content },
    { type: 'create', filePath: `/home/dev/shop/${file}`, content, structuredPatch: [], originalFile: null },
  )

/** An edit with the patch that the client would send. */
export function edit(file: string, before: string, from: string, to: string): InboxEvent {
  const path = `/home/dev/shop/${file}`
  const start = before.slice(0, before.indexOf(from)).split('\n').length
  const lines = [...from.split('\n').map((line) => `-${line}`), ...to.split('\n').map((line) => `+${line}`)]
  const patch = [{ oldStart: start, oldLines: 1, newStart: start, newLines: 1, lines }]
  return used(
    'Edit',
    { file_path: path, old_string: from, new_string: to },
    { filePath: path, oldString: from, newString: to, originalFile: before, structuredPatch: patch },
  )
}
