/** The team view: the connection, what waits, shared projects, refused records and members. */
import type { ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isTravellingKey } from '../../../domain/team-record.ts'
import { EmptyState, ErrorNotice, LoadingRows, Meter, Table } from '../../components/basics.tsx'
import { CommandLine } from '../../components/copy.tsx'
import { runWithToast, useBusy } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { callDaemon } from '../../connection.ts'
import { countOf, fullCount, RelativeTime, shortDay } from '../../format.tsx'
import { isMemoryChange, useLast, useOperation, useProjects, useQuery, useReloadOnStream } from '../../queries.ts'
import { safeLine } from '../../safe-text.ts'
import { ShareDialog, UnshareDialog } from './team-dialogs.tsx'
import {
  CONNECT_COMMAND,
  connectionLine,
  nextStep,
  rightsText,
  type TeamAnswer,
  toBeReceived,
  toBeSent,
  type WaitingText,
} from './team-text.ts'
import './team.css'

/** The state changes without stream messages, in ms. */
const STATE_POLL_MS = 3_000
/** New memories within this time cause one request for counts, in ms: a first load brings thousands. */
const COUNTS_THROTTLE_MS = 5_000

export function TeamPage() {
  const { data, error, reload } = useOperation('team_status')
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, STATE_POLL_MS)
    return () => clearInterval(timer)
  }, [reload])
  const team = data?.team ?? null
  return (
    <div class="team stack">
      <div class="view-head row wrap">
        <h1>Team</h1>
        {team?.connection === null || team === null ? null : <RetryButton onDone={reload} />}
      </div>
      <ErrorNotice text={error} retry={reload} />
      {team === null && error === null ? <LoadingRows rows={4} /> : null}
      {team === null ? null : <TeamBody team={team} />}
    </div>
  )
}

function RetryButton({ onDone }: { onDone(): void }) {
  const { busy, start } = useBusy(async () => {
    await runWithToast(async () => {
      await callDaemon('team_retry')
      return 'Trying now. The state is updated in a moment.'
    })
    onDone()
  })
  return (
    <button type="button" disabled={busy} onClick={start}>
      Retry now
    </button>
  )
}

function TeamBody({ team }: { team: TeamAnswer }) {
  const { connection, problem, sync } = team
  if (connection === null && problem === null && team.projects.length === 0) return <NotConnected />
  return (
    <>
      <ConnectionCard team={team} />
      {sync === null ? null : <Exchange sync={sync} shared={team.projects.length} />}
      <SharedProjects team={team} />
      {sync === null ? null : <Refused sync={sync} />}
      {sync?.phase.is === 'connected' ? <Members /> : null}
    </>
  )
}

function NotConnected() {
  return (
    <EmptyState icon="team" title="All memories stay on this machine">
      <p>
        Several machines, or several people, can have one memory: through a PostgreSQL database of your own. Nothing is
        sent unless you share a project. To connect, run in a terminal:
      </p>
      <CommandLine command={CONNECT_COMMAND} />
      <p class="small">
        It asks for the password, which belongs neither into this page nor into the history of a shell.
      </p>
    </EmptyState>
  )
}

function ConnectionCard({ team }: { team: TeamAnswer }) {
  const { connection } = team
  const line = connectionLine(team) ?? { tone: 'warn', text: 'No team is connected.' }
  const step = nextStep(team) ?? (connection === null ? { text: 'To connect:', command: CONNECT_COMMAND } : null)
  return (
    <section class="card team-card stack" aria-label="Connection">
      <p class={`team-state row ${line.tone}`} data-testid="team-state">
        <span class={`dot ${line.tone}`} />
        <span class="grow">{line.text}</span>
      </p>
      {step === null ? null : (
        <div data-testid="team-next">
          <p>{step.text}</p>
          {step.command === null ? null : <CommandLine command={step.command} />}
        </div>
      )}
      {connection === null ? null : (
        <dl class="team-facts small">
          <dt class="soft">Server</dt>
          <dd>
            {safeLine(`${connection.server}/${connection.database}`)} as {safeLine(connection.role)}, TLS{' '}
            {safeLine(connection.tls)}
          </dd>
          <dt class="soft">You</dt>
          <dd>
            {safeLine(connection.author)} on {safeLine(connection.machine)}
          </dd>
        </dl>
      )}
    </section>
  )
}

type SyncAnswer = NonNullable<TeamAnswer['sync']>

function Exchange({ sync, shared }: { sync: SyncAnswer; shared: number }) {
  const { loading, phase } = sync
  return (
    <section class="card team-card stack" aria-labelledby="team-exchange">
      <h2 id="team-exchange">Exchange</h2>
      <dl class="team-facts">
        <Waiting name="To be sent" waiting={toBeSent(sync)} />
        <Waiting name="To be received" waiting={toBeReceived(sync, shared)} />
        <dt class="soft">Since the daemon started</dt>
        <dd>
          {countOf(sync.pushed, 'record')} sent, {fullCount(sync.received)} received, {fullCount(sync.erased)} erased
        </dd>
        {phase.is === 'off' ? null : (
          <>
            <dt class="soft">{phase.is === 'connected' ? 'Connected' : 'Connection lost'}</dt>
            <dd>
              <RelativeTime at={phase.since} />
              {phase.is === 'waiting' ? `, ${countOf(phase.attempts, 'attempt')}` : ''}
            </dd>
          </>
        )}
      </dl>
      {loading === null ? null : (
        <Meter
          label="Received"
          value={loading.done}
          of={loading.total}
          text={`${fullCount(loading.done)} of ${fullCount(loading.total)}`}
        />
      )}
    </section>
  )
}

function Waiting({ name, waiting: { text, since, at } }: { name: string; waiting: WaitingText }) {
  return (
    <>
      <dt class="soft">{name}</dt>
      <dd>
        {text}
        {at === null ? null : (
          <span class="soft">
            ; {since} <RelativeTime at={at} />
          </span>
        )}
      </dd>
    </>
  )
}

function SharedProjects({ team }: { team: TeamAnswer }) {
  const { connection, projects } = team
  const keys = projects.map(({ project }) => project)
  const memories = useQuery(`team_memories ${keys.join('\n')}`, () => callDaemon('team_memories'))
  useReloadOnStream(isMemoryChange, COUNTS_THROTTLE_MS, memories.reload)
  const counts = new Map(useLast(memories.data)?.projects.map((one) => [one.project, one]))
  const [isSharing, setSharing] = useState(false)
  const [unshared, setUnshared] = useState<TeamAnswer['projects'][number] | null>(null)
  const problems = new Map(team.sync?.unavailable.map(({ project, reason }) => [project, reason]))
  return (
    <section class="card team-card stack" aria-labelledby="team-projects">
      <header class="row wrap spread">
        <h2 id="team-projects">Shared projects</h2>
        {connection === null ? null : (
          <button type="button" onClick={() => setSharing(true)}>
            Share a project…
          </button>
        )}
      </header>
      {connection?.allProjects === true ? (
        <p class="soft">All projects with a remote or a name, also later ones.</p>
      ) : null}
      <ErrorNotice text={memories.error} retry={memories.reload} />
      {projects.length === 0 ? <p class="soft">None: nothing leaves this machine.</p> : null}
      {projects.length === 0 ? null : (
        <WideTable
          caption="Shared projects with their counts of memories"
          columns={[
            'Project',
            { name: 'From here', about: 'Memories that were learned on this machine' },
            { name: 'From others', about: 'Memories that were received from other machines' },
            'Shared',
            'Action',
          ]}
        >
          <tbody>
            {projects.map((one) => (
              <SharedProjectRow
                key={one.project}
                shared={one}
                counts={counts.get(one.project) ?? null}
                problem={problems.get(one.project) ?? null}
                onUnshare={() => setUnshared(one)}
              />
            ))}
          </tbody>
        </WideTable>
      )}
      <LocalProjects />
      {isSharing ? <ShareDialog shared={keys} onClose={() => setSharing(false)} /> : null}
      {unshared === null ? null : (
        <UnshareDialog
          project={unshared}
          own={counts.get(unshared.project)?.own ?? null}
          onClose={() => setUnshared(null)}
        />
      )}
    </section>
  )
}

interface SharedProjectRowProps {
  shared: TeamAnswer['projects'][number]
  counts: { own: number; received: number } | null
  problem: string | null
  onUnshare(): void
}

function SharedProjectRow({ shared, counts, problem, onUnshare }: SharedProjectRowProps) {
  const name = safeLine(shared.name, 60)
  const extent = shared.since === 0 ? 'all memories' : `memories since ${shortDay(shared.since)}`
  return (
    <tr data-testid="team-project" data-project={shared.project}>
      <th scope="row">
        <span class="block">{name}</span>
        <span class="block soft small mono">{safeLine(shared.project)}</span>
        {problem === null ? null : <span class="block bad small">{safeLine(problem, 600)}</span>}
      </th>
      <td>{counts === null ? '…' : fullCount(counts.own)}</td>
      <td>{counts === null ? '…' : fullCount(counts.received)}</td>
      <td>
        {extent}
        {shared.passages ? ', passages' : ''}
      </td>
      <td>
        <button type="button" class="small-button" onClick={onUnshare} aria-label={`Unshare ${name}…`}>
          Unshare…
        </button>
      </td>
    </tr>
  )
}

/** Scrolls by itself on a narrow screen, so that the page does not. */
function WideTable(props: ComponentProps<typeof Table> & { caption: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="team-table" aria-label={props.caption} tabIndex={0}>
      <Table {...props} />
    </section>
  )
}

/** Names of projects that are listed; the others are counted. */
const MAX_LOCAL_NAMES = 5

/** Projects that no other machine could recognise, or whose remote was not looked at yet. */
function LocalProjects() {
  const local = useProjects().projects?.filter(({ key }) => !isTravellingKey(key)) ?? []
  if (local.length === 0) return null
  const names = local.slice(0, MAX_LOCAL_NAMES).map(({ name }) => safeLine(name, 40))
  const others = local.length - names.length
  return (
    <div class="small">
      <p class="soft">
        {countOf(local.length, 'project')} known only by path: {names.join(', ')}
        {others === 0 ? '' : ` and ${fullCount(others)} more`}. One with a remote can be shared after its next session;
        one without needs a name that is the same on every machine:
      </p>
      <CommandLine command="claude-mem projects link PATH NAME" />
    </div>
  )
}

function Refused({ sync: { refused, refusedPushed, refusedReceived } }: { sync: SyncAnswer }) {
  if (refused.length === 0) return null
  return (
    <section class="card team-card stack" aria-labelledby="team-refused">
      <h2 id="team-refused" class="row">
        <Icon name="warn" /> Refused records
      </h2>
      <p class="soft">
        Since the daemon started the log refused {fullCount(refusedPushed)} of this machine, and this machine refused{' '}
        {fullCount(refusedReceived)} of the log. They are not tried again. The newest:
      </p>
      <WideTable caption="Refused records, the newest first" columns={['Record', 'Direction', 'Reason', 'When']}>
        <tbody>
          {[...refused].reverse().map(({ id, direction, reason, at }, i) => (
            <tr key={`${id} ${i}`}>
              <th scope="row" class="mono" title={safeLine(id)}>
                {safeLine(id.slice(0, 8))}
              </th>
              <td>{direction === 'pushed' ? 'sent' : 'received'}</td>
              <td>{safeLine(reason, 600)}</td>
              <td>
                <RelativeTime at={at} />
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </section>
  )
}

function Members() {
  const { data, error, reload } = useOperation('team_members')
  const members = data?.members ?? null
  const seesOthers = members?.some(({ grants }) => grants.some(({ mayGrant }) => mayGrant)) ?? false
  return (
    <section class="card team-card stack" aria-labelledby="team-members">
      <h2 id="team-members">Members</h2>
      <ErrorNotice text={error} retry={reload} />
      {members === null && error === null ? <LoadingRows rows={1} /> : null}
      {members === null || seesOthers ? null : (
        <p class="soft">
          This role sees only its own rights: the members of a project are visible to those who may grant.
        </p>
      )}
      {members === null || members.length === 0 ? null : (
        <WideTable caption="Members and their rights" columns={['Member', 'Project', 'May', 'Machines']}>
          <tbody>
            {members.flatMap((member) =>
              member.grants.map((grant, i) => (
                <tr key={`${member.role} ${grant.repository}`}>
                  <th scope="row">{memberName(member)}</th>
                  <td class="mono">{grant.repository === '*' ? 'all projects' : safeLine(grant.repository)}</td>
                  <td>{rightsText(grant)}</td>
                  <td>{i === 0 ? safeLine(member.machines.join(', ')) : ''}</td>
                </tr>
              )),
            )}
          </tbody>
        </WideTable>
      )}
    </section>
  )
}

function memberName({ role, author }: { role: string; author: string }): string {
  return safeLine(author === '' || author === role ? role : `${author} (${role})`, 80)
}
