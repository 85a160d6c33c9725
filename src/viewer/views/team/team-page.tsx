/** The team view: the connection, what waits, shared projects and refused records. Changes are for a terminal. */
import { useEffect } from 'preact/hooks'
import { EmptyState, Loaded, Meter, Page, Pairs, Section, Table } from '../../components/basics.tsx'
import { CommandLine } from '../../components/copy.tsx'
import { runWithToast, useBusy } from '../../components/dialog.tsx'
import { callDaemon } from '../../connection.ts'
import { countOf, fullCount, RelativeTime, shortDay } from '../../format.tsx'
import { isMemoryChange, useLast, useLive, useOperation, useQuery } from '../../queries.ts'
import { safeLine } from '../../safe-text.ts'
import {
  CONNECT_COMMAND,
  connectionLine,
  nextCommand,
  type TeamAnswer,
  toBeReceived,
  toBeSent,
  type WaitingText,
} from './team-text.ts'

/** The state changes without stream messages, in ms. */
const STATE_POLL_MS = 3_000
/** New memories within this time cause one request for counts, in ms: a first load brings thousands. */
const COUNTS_THROTTLE_MS = 5_000

export function TeamPage() {
  const answer = useOperation('team_status')
  const { reload } = answer
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, STATE_POLL_MS)
    return () => clearInterval(timer)
  }, [reload])
  const isConnected = answer.data !== null && answer.data.team.connection !== null
  return (
    <Page title="Team" tools={isConnected ? <RetryButton onDone={reload} /> : null}>
      <Loaded query={answer}>{({ team }) => <TeamBody team={team} />}</Loaded>
    </Page>
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
      <Connection team={team} />
      {sync === null ? null : <Exchange sync={sync} shared={team.projects.length} />}
      <SharedProjects team={team} />
      {sync === null ? null : <Refused sync={sync} />}
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

function Connection({ team }: { team: TeamAnswer }) {
  const { connection } = team
  const line = connectionLine(team) ?? { tone: 'warn', text: 'No team is connected.' }
  const command = nextCommand(team)
  return (
    <Section title="Connection" card>
      <p class={line.tone} data-testid="team-state">
        <span class={`dot ${line.tone}`} /> {line.text}
      </p>
      {command === null ? null : <CommandLine command={command} />}
      {connection === null ? null : (
        <Pairs
          rows={[
            [
              'Server',
              safeLine(`${connection.server}/${connection.database} as ${connection.role}, TLS ${connection.tls}`),
            ],
            ['You', safeLine(`${connection.author} on ${connection.machine}`)],
          ]}
        />
      )}
    </Section>
  )
}

type SyncAnswer = NonNullable<TeamAnswer['sync']>

function Exchange({ sync, shared }: { sync: SyncAnswer; shared: number }) {
  const { loading } = sync
  return (
    <Section title="Exchange" card>
      <Pairs
        rows={[
          ['To be sent', <Waiting key="sent" waiting={toBeSent(sync)} />],
          ['To be received', <Waiting key="received" waiting={toBeReceived(sync, shared)} />],
          [
            'Since the daemon started',
            `${countOf(sync.pushed, 'record')} sent, ${fullCount(sync.received)} received, ${fullCount(sync.erased)} erased`,
          ],
        ]}
      />
      {loading === null ? null : (
        <Meter
          label="Received"
          value={loading.done}
          of={loading.total}
          text={`${fullCount(loading.done)} of ${fullCount(loading.total)}`}
        />
      )}
    </Section>
  )
}

function Waiting({ waiting: { text, since, at } }: { waiting: WaitingText }) {
  return (
    <>
      {text}
      {at === null ? null : (
        <span class="soft">
          ; {since} <RelativeTime at={at} />
        </span>
      )}
    </>
  )
}

function SharedProjects({ team: { connection, projects, sync } }: { team: TeamAnswer }) {
  const keys = projects.map(({ project }) => project)
  const memories = useLive(
    useQuery(`team_memories ${keys.join('\n')}`, () => callDaemon('team_memories')),
    isMemoryChange,
    COUNTS_THROTTLE_MS,
  )
  const counts = new Map(useLast(memories.data)?.projects.map((one) => [one.project, one]))
  const problems = new Map(sync?.unavailable.map(({ project, reason }) => [project, reason]))
  const rows = projects.map(({ project, name, since, passages }) => [
    <>
      {safeLine(name, 60)} <span class="block soft small mono">{safeLine(project)}</span>
      {problems.has(project) ? <span class="block bad small">{safeLine(problems.get(project) ?? '', 600)}</span> : null}
    </>,
    fullCount(counts.get(project)?.own ?? 0),
    fullCount(counts.get(project)?.received ?? 0),
    `${since === 0 ? 'all memories' : `memories since ${shortDay(since)}`}${passages ? ', passages' : ''}`,
  ])
  return (
    <Section title="Shared projects" card>
      {connection?.allProjects === true ? (
        <p class="soft">All projects with a remote or a name, also later ones.</p>
      ) : null}
      {projects.length === 0 ? (
        <p class="soft">None: nothing leaves this machine.</p>
      ) : (
        <Table
          caption="Shared projects with their counts of memories"
          columns={['Project', 'From here', 'From others', 'Shared']}
          rows={rows}
        />
      )}
      <p class="soft small">In the directory of a project, this shows what would be sent, and then shares it:</p>
      <CommandLine command="claude-mem team share . --dry-run" />
      <CommandLine command="claude-mem team share ." />
    </Section>
  )
}

function Refused({ sync: { refused, refusedPushed, refusedReceived } }: { sync: SyncAnswer }) {
  if (refusedPushed + refusedReceived === 0) return null
  const rows = refused.toReversed().map(({ id, direction, reason, at }) => [
    <span key="id" class="mono" title={safeLine(id)}>
      {safeLine(id.slice(0, 8))}
    </span>,
    direction === 'pushed' ? 'sent' : 'received',
    safeLine(reason, 600),
    <RelativeTime key="at" at={at} />,
  ])
  return (
    <Section title="Refused records" card>
      <p class="soft">
        Since the daemon started the log refused {fullCount(refusedPushed)} of this machine, and this machine refused{' '}
        {fullCount(refusedReceived)} of the log. They are not tried again. The newest:
      </p>
      <Table
        caption="Refused records, the newest first"
        columns={['Record', 'Direction', 'Reason', 'When']}
        rows={rows}
      />
    </Section>
  )
}
