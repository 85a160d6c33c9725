/**
 * What sharing would send, and the commands that share and unshare. A page may not run them: like settings that decide where
 * text goes, they are for someone at a terminal.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isTravellingKey } from '../../../domain/team-record.ts'
import { ErrorNotice, LoadingRows, Select } from '../../components/basics.tsx'
import { CommandLine } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { countOf } from '../../format.tsx'
import { useOperation, useProjects } from '../../queries.ts'
import { safeLine } from '../../safe-text.ts'
import { shareCommand, shareCountsText, unshareCommand } from './team-text.ts'

interface ShareDialogProps {
  /** Keys of projects that are shared now. */
  shared: readonly string[]
  onClose(): void
}

export function ShareDialog({ shared, onClose }: ShareDialogProps) {
  const { projects, error, reload } = useProjects()
  const [chosen, setChosen] = useState<string | null>(null)
  // A chosen project stays in the list while the command in the terminal shares it.
  const candidates = projects?.filter(({ key }) => isTravellingKey(key) && (key === chosen || !shared.includes(key)))
  const project = candidates?.find(({ key }) => key === chosen) ?? candidates?.[0] ?? null
  if (chosen === null && project !== null) setChosen(project.key)
  return (
    <CommandDialog title="Share a project" onClose={onClose}>
      <ErrorNotice text={error} retry={reload} />
      {candidates === undefined && error === null ? <LoadingRows rows={2} /> : null}
      {candidates !== undefined && project === null ? (
        <p>There is no other project with a remote or a name. What is known only by its path stays on this machine.</p>
      ) : null}
      {candidates === undefined || project === null ? null : (
        <>
          <Select
            label="Project"
            value={project.key}
            options={candidates.map(({ key, name }) => ({ value: key, text: safeLine(`${name} (${key})`, 90) }))}
            onSelect={setChosen}
          />
          {shared.includes(project.key) ? (
            <p role="status">{safeLine(project.name, 60)} is shared now.</p>
          ) : (
            <SharePlan key={project.key} project={project} />
          )}
        </>
      )}
    </CommandDialog>
  )
}

function SharePlan({ project: { key, name } }: { project: { key: string; name: string } }) {
  const { data, error, reload } = useOperation('team_plan', { project: key })
  const counts = data?.report.shared[0]?.counts ?? null
  if (error !== null) return <ErrorNotice text={error} retry={reload} />
  if (counts === null) return <LoadingRows rows={1} />
  return (
    <>
      <p data-testid="team-plan">
        Would leave this machine: <strong>{shareCountsText(counts)}</strong>, and what is learned in{' '}
        {safeLine(name, 60)} later. To do it, run in a terminal:
      </p>
      <ProjectCommand command={shareCommand(key)} instead="claude-mem team share ." />
      <p class="soft small">
        With <code>--dry-run --show</code> it lists each record instead of sending it; <code>--since 30d</code> sends
        only newer ones.
      </p>
    </>
  )
}

interface UnshareDialogProps {
  project: { project: string; name: string }
  /** Memories of this machine in it; null: not known yet. */
  own: number | null
  onClose(): void
}

export function UnshareDialog({ project: { project, name }, own, onClose }: UnshareDialogProps) {
  const sent = own === null ? 'what this machine has sent' : `${countOf(own, 'memory', 'memories')} of this machine`
  return (
    <CommandDialog title={`Unshare ${safeLine(name, 60)}`} onClose={onClose}>
      <p>To stop sending and receiving. What was sent stays in the database:</p>
      <ProjectCommand command={unshareCommand(project, false)} instead="claude-mem team unshare ." />
      <p>To also erase {sent} in the database and on other machines. Everything stays on this one:</p>
      <ProjectCommand command={unshareCommand(project, true)} instead="claude-mem team unshare . --withdraw" />
    </CommandDialog>
  )
}

/** `instead`: for a key that does not belong into a command. */
function ProjectCommand({ command, instead }: { command: string | null; instead: string }) {
  if (command !== null) return <CommandLine command={command} />
  return (
    <>
      <p class="warn small">The key of this project has unusual characters. Run this in its directory:</p>
      <CommandLine command={instead} />
    </>
  )
}

function CommandDialog({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const close = (
    <button type="button" onClick={onClose}>
      Close
    </button>
  )
  return (
    <Dialog title={title} onClose={onClose} actions={close}>
      <div class="stack">{children}</div>
    </Dialog>
  )
}
