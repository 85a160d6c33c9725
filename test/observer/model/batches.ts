/** Batches with the default limits. */
import type { InboxEvent, SubagentEndEvent } from '../../../src/domain/event.ts'
import { type BatchOptions, renderBatch } from '../../../src/observer/model/messages.ts'

const DEFAULTS: BatchOptions = {
  projectDir: '/home/dev/shop',
  fieldChars: 4_000,
  totalChars: 40_000,
  folded: [],
  withheld: [],
}
export const render = (messages: InboxEvent[], options: Partial<BatchOptions> = {}) =>
  renderBatch(messages, { ...DEFAULTS, ...options })
export const only = (message: InboxEvent, options: Partial<BatchOptions> = {}) => render([message], options)
export const filler = (chars: number) =>
  Array.from({ length: Math.ceil(chars / 36) }, (_, i) => `${i}: a row, nothing to see, carry on.`).join('\n')

export const ENDED: SubagentEndEvent = {
  id: 'end',
  session: 's',
  at: 1_000,
  client: 'claude-code',
  project: { key: 'dir:/home/dev/shop', name: 'shop' },
  cwd: '/home/dev/shop',
  transcriptPath: null,
  promptId: null,
  agent: { id: 'a1', type: 'Explore' },
  kind: 'subagent_end',
  lastMessage: 'Routes are in src/api/routes.ts',
}
