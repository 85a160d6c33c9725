/** What can be done with an observation. What came of it is told in passing; the stream brings the change itself. */
import { useState } from 'preact/hooks'
import { ask } from '../../connection.ts'
import { attempt } from '../../parts/attempt.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { go } from '../../route.ts'
import { type Asked, memoryHref } from './asked.ts'
import { CorrectDialog } from './correct-dialog.tsx'
import { ForgetDialog } from './forget-dialog.tsx'
import type { Observation } from './observation.tsx'
import { SupersedeDialog } from './supersede-dialog.tsx'

export function Actions({ observation, asked }: { observation: Observation; asked: Asked }) {
  const [dialog, setDialog] = useState<'forget' | 'correct' | 'supersede' | null>(null)
  const { id, pinned, supersededBy } = observation
  const close = () => setDialog(null)
  const pin = () =>
    attempt(async () => {
      await ask('pinned', { type: 'pin', ids: [id], on: !pinned })
      return pinned ? `#${id} is not pinned any more.` : `#${id} is pinned: sessions of its project start with it.`
    })
  const holdAgain = (from: number) =>
    attempt(async () => {
      await ask('linked', { type: 'link', from, to: id, kind: 'supersedes', on: false })
      return `#${id} holds again: #${from} does not supersede it.`
    })
  return (
    <>
      <Action
        icon="pin"
        name={pinned ? 'Unpin' : 'Pin'}
        about="Sessions of its project start with it"
        onAct={() => void pin()}
        pressed={pinned}
      />
      <Action icon="edit" name="Correct" about="Say what it should have said" onAct={() => setDialog('correct')} />
      {supersededBy === null ? (
        <Action
          icon="link"
          name="Supersede"
          about="Another one holds instead of it"
          onAct={() => setDialog('supersede')}
        />
      ) : (
        <Action
          icon="link"
          name="Holds again"
          about={`#${supersededBy} does not supersede it after all`}
          onAct={() => void holdAgain(supersededBy)}
        />
      )}
      <Action icon="trash" name="Forget" about="Remove every copy of it" onAct={() => setDialog('forget')} />
      {dialog === 'forget' ? <ForgetDialog observation={observation} onClose={close} /> : null}
      {dialog === 'correct' ? (
        <CorrectDialog
          observation={observation}
          onClose={close}
          onCorrected={(newer) => go(memoryHref(asked, `${newer}`))}
        />
      ) : null}
      {dialog === 'supersede' ? <SupersedeDialog observation={observation} onClose={close} /> : null}
    </>
  )
}

interface ActionProps {
  icon: IconName
  name: string
  about: string
  onAct(): void
  pressed?: boolean
}

function Action({ icon, name, about, onAct, pressed }: ActionProps) {
  return (
    <button type="button" class="plain" aria-pressed={pressed} onClick={onAct} title={about}>
      <Icon name={icon} size={16} />
      <span>{name}</span>
    </button>
  )
}
