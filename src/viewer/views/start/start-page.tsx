/** What the next session of a project will be told, each line with where it came from and what you can do about it. */
import { useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { ContextPart } from '../../../domain/context-parts.ts'
import { stripColors } from '../../../lib/format.ts'
import {
  ActionButton,
  CodeText,
  Details,
  EmptyState,
  Loaded,
  Meter,
  Note,
  Page,
  Section,
  Select,
} from '../../components/basics.tsx'
import { daemonSettings, daemonSettingValue } from '../../daemon-status.ts'
import { countOf, fullCount, RelativeTime } from '../../format.tsx'
import { useObservable } from '../../observable.ts'
import { useLive, useOperation, useProjects } from '../../queries.ts'
import { currentRoute, navigate, viewHref } from '../../route.ts'
import { safeLine, safeText, titleText } from '../../safe-text.ts'
import { MemoryActions } from '../memory/actions.tsx'
import { RememberDialog } from '../memory/dialogs.tsx'
import { TurnObservations } from '../memory/turn-observations.tsx'
import { type LineSource, type StartEntry, type StartSection, startSections } from './start-sections.ts'

type ListedSession = OutputOf<'sessions'>['sessions'][number]

/** Sessions whose lines are named by their request, and in which something may have been given. */
const MAX_SESSIONS = 100
/** More than any budget allows, in characters. */
const MAX_CONTEXT_CHARS = 40_000

export function StartPage() {
  const { projects } = useProjects()
  const given = useObservable(currentRoute).id
  const [remembering, setRemembering] = useState(false)
  if (projects === null) return <Page title={TITLE}>{null}</Page>
  // A project of one question has nothing to tell.
  const selected =
    projects.find(({ key }) => key === given) ?? projects.find(({ observations }) => observations > 0) ?? projects[0]
  if (selected === undefined) return <NothingYet />
  const options = projects.map(({ key, name }) => ({ value: key, text: safeLine(name, 60) }))
  const tools = (
    <>
      <Select
        label="Project"
        value={selected.key}
        options={options}
        onSelect={(key) => navigate(viewHref('start', key))}
      />
      <ActionButton
        icon="edit"
        name="Remember…"
        about="Write something that the next session will be told"
        onAct={() => setRemembering(true)}
      />
    </>
  )
  return (
    <Page title={TITLE} tools={tools}>
      <NextStart key={selected.key} project={selected.key} />
      {remembering ? <RememberDialog project={selected.key} onClose={() => setRemembering(false)} /> : null}
    </Page>
  )
}

const TITLE = 'What your next session will be told'

function NothingYet() {
  return (
    <Page title={TITLE}>
      <EmptyState icon="start" title="Nothing yet">
        <p>Work with your agent as usual. After the first session, this page shows what the next one will be told.</p>
        <p>To import your earlier sessions, run:</p>
        <pre>
          <code>claude-mem backfill</code>
        </pre>
      </EmptyState>
    </Page>
  )
}

function NextStart({ project }: { project: string }) {
  // Settings of the context change the answer, too.
  const settings = useObservable(daemonSettings).filter(({ name }) => name.includes('CONTEXT'))
  const start = useLive(useOperation('context', { project }))
  const sessions = useLive(useOperation('sessions', { project, limit: MAX_SESSIONS }))
  const listed = sessions.data?.sessions ?? []
  return (
    <div class="stack" key={JSON.stringify(settings.map(({ value }) => value))}>
      <Loaded query={start}>{(answer) => <StartText answer={answer} sessions={listed} />}</Loaded>
      <GivenLog sessions={listed} />
    </div>
  )
}

type ContextAnswer = OutputOf<'context'>

function StartText({ answer, sessions }: { answer: ContextAnswer; sessions: readonly ListedSession[] }) {
  const { context, tokens, parts } = answer
  const message = stripColors(answer.message)
  const budget = daemonSettingValue('CLAUDE_MEM_CONTEXT_TOKENS')
  if (context === '') {
    return <Note>Nothing: there is no work of this project to tell of, or every part is switched off.</Note>
  }
  return (
    <>
      <div class="row wrap spread">
        <div class="start-size">
          <Meter
            label="Size"
            value={tokens}
            of={typeof budget === 'number' ? budget : tokens}
            text={`${fullCount(tokens)} of ${typeof budget === 'number' ? fullCount(budget) : '…'} tokens`}
          />
        </div>
        <a class="small" href={viewHref('settings', null, { find: 'context' })}>
          Change size and parts
        </a>
      </div>
      {startSections(answer.lines).map((section) => (
        <StartSectionCard
          key={section.part}
          section={section}
          tokens={parts?.[section.part] ?? 0}
          sessions={sessions}
        />
      ))}
      {message === '' ? null : (
        <Note>
          You will see: <CodeText text={safeLine(message, 600)} />
        </Note>
      )}
      <Details summary="The exact text">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
        <section class="scroll-box" data-testid="start-text" aria-label="The exact text" tabIndex={0}>
          <pre>{safeText(context, MAX_CONTEXT_CHARS)}</pre>
        </section>
      </Details>
    </>
  )
}

/** Why the lines of each part are told. */
const REASONS: Record<ContextPart | 'frame', string> = {
  pinned: 'you pinned them',
  state: 'computed from what tools reported',
  exchange: 'in the words that were used, the report with its beginning and end',
  decided: 'your answers to questions, plans that you approved, observations written by hand',
  story: 'statements of earlier turns that add most for their length',
  others: 'newest first',
  more: 'the same in every session',
  frame: '',
}
const TITLES: Partial<Record<ContextPart | 'frame', string>> = { more: 'How to look up more' }

interface SectionProps {
  section: StartSection
  tokens: number
  sessions: readonly ListedSession[]
}

function StartSectionCard({ section: { part, title, entries }, tokens, sessions }: SectionProps) {
  return (
    <Section
      card
      title={title === '' ? (TITLES[part] ?? part) : title}
      about={REASONS[part]}
      tools={<span class="small soft figure">{countOf(tokens, 'token')}</span>}
    >
      <ul class="rows" data-testid={`part-${part}`}>
        {entries.map((entry) => (
          <li key={entry.text} data-testid="start-line">
            <p class="prose" dir="auto">
              <CodeText text={safeText(entry.text)} />
            </p>
            <EntrySource entry={entry} pinned={part === 'pinned'} sessions={sessions} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

interface EntrySourceProps {
  entry: StartEntry
  pinned: boolean
  sessions: readonly ListedSession[]
}

function EntrySource({ entry: { from }, pinned, sessions }: EntrySourceProps) {
  if (from === null) return null
  if ('observation' in from) {
    return (
      <div class="row wrap small soft">
        <SourceLink from={from} sessions={sessions} />
        <MemoryActions id={from.observation} pinned={pinned} />
      </div>
    )
  }
  return (
    <>
      <p class="small soft">
        From <SourceLink from={from} sessions={sessions} />
      </p>
      <Details summary="Pin, correct or forget">
        <TurnObservations session={from.session} turn={from.turn} />
      </Details>
    </>
  )
}

function SourceLink({ from, sessions }: { from: NonNullable<LineSource>; sessions: readonly ListedSession[] }) {
  if ('observation' in from) return <a href={viewHref('memory', from.observation)}>Observation #{from.observation}</a>
  const session = sessions.find((one) => one.session === from.session)
  return (
    <>
      <a href={viewHref('session', from.session, { turn: `${from.turn}` })}>turn {from.turn}</a> of{' '}
      {session === undefined ? (
        'an earlier session'
      ) : (
        <>
          “{titleText(session.request, 80)}”, <RelativeTime at={session.updatedAt} />
        </>
      )}
    </>
  )
}

const GIVEN_SETTINGS = ['CLAUDE_MEM_PROMPT_CONTEXT', 'CLAUDE_MEM_FILE_CONTEXT']

/** What is recorded of what sessions were given: not their start, and not what an agent made of it. */
function GivenLog({ sessions }: { sessions: readonly ListedSession[] }) {
  useObservable(daemonSettings)
  const given = sessions.filter((session) => session.given > 0)
  const isOff = GIVEN_SETTINGS.every((name) => daemonSettingValue(name) === false)
  return (
    <Section title="What earlier sessions were given" about="after their start">
      {given.length === 0 ? (
        <p class="soft">
          No observation was added to a prompt or to a file that was read.
          {isOff ? (
            <>
              {' '}
              Both are switched off: <a href={viewHref('settings', null, { find: 'add' })}>settings</a>.
            </>
          ) : null}
        </p>
      ) : (
        <ul class="rows" data-testid="given-log">
          {given.map(({ session, request, given: count, updatedAt }) => (
            <li key={session} class="row spread">
              <a href={viewHref('session', session)}>{titleText(request, 120)}</a>
              <span class="small soft">
                {countOf(count, 'observation')}, <RelativeTime at={updatedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <p class="small soft">
        The text that a session got at its start is not recorded, and no agent reports what it used.
      </p>
    </Section>
  )
}
