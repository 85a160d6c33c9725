/** What is open: an observation, a summary or a prompt, with everything it has. */
import { Empty } from '../../parts/plain.tsx'
import type { Asked } from './asked.ts'
import { OpenedObservation } from './observation.tsx'
import { OpenedPrompt, OpenedSummary } from './others.tsx'
import { Panel } from './panel.tsx'
import type { MemoryRows } from './rows.ts'
import './opened.css'
import './origin.css'

interface OpenedProps {
  /** As it stands in the address: `12`, `summary.4.SESSION`, `prompt.2.SESSION`. */
  place: string
  asked: Asked
  rows: MemoryRows
  onClose(): void
}

const OTHER = /^(summary|prompt)\.(\d{1,15})\.(.+)$/s

export function Opened({ place, asked, rows, onClose }: OpenedProps) {
  const other = OTHER.exec(place)
  if (/^\d{1,15}$/.test(place)) {
    return <OpenedObservation id={Number(place)} asked={asked} rows={rows} onClose={onClose} />
  }
  if (other?.[1] === 'summary') {
    return <OpenedSummary id={Number(other[2])} session={other[3] ?? ''} onClose={onClose} />
  }
  if (other?.[1] === 'prompt') {
    return <OpenedPrompt number={Number(other[2])} session={other[3] ?? ''} onClose={onClose} />
  }
  return (
    <Panel label="Memory" onClose={onClose}>
      <Empty icon="memory" title="There is no such memory">
        <p>The address names none. The list has them all.</p>
      </Empty>
    </Panel>
  )
}
