/** What can be done about an observation: pin, correct, forget. */
import { useState } from 'preact/hooks'
import { ActionButton } from '../../components/basics.tsx'
import { runWithToast } from '../../components/dialog.tsx'
import { callDaemon } from '../../connection.ts'
import { useLive, useOperation } from '../../queries.ts'
import { CorrectDialog, ForgetDialog } from './dialogs.tsx'

interface MemoryActionsProps {
  id: number
  /** Not given: it is asked for. */
  pinned?: boolean
  onCorrected?(id: number): void
}

export function MemoryActions({ id, pinned, onCorrected }: MemoryActionsProps) {
  const [dialog, setDialog] = useState<'forget' | 'correct' | null>(null)
  const close = () => setDialog(null)
  return (
    <span class="row actions">
      {pinned === undefined ? <KnownPin id={id} /> : <PinButton id={id} pinned={pinned} />}
      <ActionButton
        icon="edit"
        name="Correct"
        about="Replace it with a corrected observation"
        onAct={() => setDialog('correct')}
      />
      <ActionButton icon="trash" name="Forget" about="Delete it permanently" onAct={() => setDialog('forget')} />
      {dialog === 'forget' ? <ForgetDialog id={id} onClose={close} /> : null}
      {dialog === 'correct' ? <CorrectDialog id={id} onClose={close} onCorrected={onCorrected} /> : null}
    </span>
  )
}

function KnownPin({ id }: { id: number }) {
  const { data } = useLive(useOperation('observations', { ids: [id] }), (message) => message.type === 'change')
  return <PinButton id={id} pinned={data?.observations[0]?.pinned ?? false} />
}

function PinButton({ id, pinned }: { id: number; pinned: boolean }) {
  const pin = () =>
    runWithToast(async () => {
      await callDaemon('pin', { ids: [id], on: !pinned })
      return pinned ? `#${id} is no longer pinned.` : `#${id} is pinned: sessions of its project start with it.`
    })
  return (
    <ActionButton
      icon="pin"
      name={pinned ? 'Unpin' : 'Pin'}
      about="Pinned observations are always part of what a session is told"
      onAct={() => void pin()}
      pressed={pinned}
    />
  )
}
