/** How long the observer's conversation is, against the length at which it is compacted. */
import { useCell } from '../cell.ts'
import { settings, settingValue } from '../model/status.ts'
import { counted, short } from '../times.ts'
import { Meter } from './plain.tsx'

export function ContextSize({ tokens, generation }: { tokens: number; generation: number }) {
  useCell(settings)
  const limit = settingValue('CLAUDE_MEM_COMPACT_TOKENS')
  if (typeof limit !== 'number') return null
  const compacted = generation > 1 ? `, compacted ${counted(generation - 1, 'time')}` : ''
  return (
    <Meter
      label="Observer's conversation"
      value={tokens}
      of={limit}
      text={`${short(tokens)} of ${short(limit)} tokens${compacted}`}
    />
  )
}
