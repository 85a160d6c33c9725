/** `#/session` lists sessions by their request, `#/session/ID` shows one. */
import { useRef, useState } from 'preact/hooks'
import type { StreamMessage } from '../../../transport/messages.ts'
import { EmptyState, Loaded, Page, Select } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { useRowKeys } from '../../keyboard.ts'
import { useObservable } from '../../observable.ts'
import { useLive, useOperation, useProjects } from '../../queries.ts'
import { currentRoute, replaceRoute, viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { type ListedSession, SESSION_STATUSES, SessionRow } from './session-parts.tsx'
import { StoryPage } from './story-page.tsx'

const PAGE_ROWS = 50
/** Sessions that are searched by words or for failed messages, which the daemon cannot filter by. */
const MAX_SEARCHED = 2_000
/** Time between two requests that return so many sessions, in ms. */
const SEARCH_THROTTLE_MS = 2_000

export const WITH_FAILED = 'with failed messages'

export function SessionsPage() {
  const { id, query } = useObservable(currentRoute)
  if (id === null) return <SessionList query={query} />
  return <StoryPage key={id} session={id} turn={Number(query.get('turn') ?? Number.NaN)} />
}

function SessionList({ query }: { query: URLSearchParams }) {
  const [pages, setPages] = useState(1)
  // Sessions that changed since the list was opened are highlighted.
  const [openedAt] = useState(() => Date.now())
  const list = useRef<HTMLDivElement>(null)
  useRowKeys(list)
  const filter = {
    words: query.get('q') ?? '',
    status: query.get('status') ?? '',
    project: query.get('project') ?? '',
  }
  const max = pages * PAGE_ROWS
  const isSearch = filter.words !== '' || filter.status === WITH_FAILED
  const status = SESSION_STATUSES.find((one) => one === filter.status)
  const request = {
    limit: isSearch ? MAX_SEARCHED : max + 1,
    ...(status === undefined ? {} : { status }),
    ...(filter.project === '' ? {} : { project: filter.project }),
  }
  const answer = useLive(useOperation('sessions', request), isSessionChange, isSearch ? SEARCH_THROTTLE_MS : undefined)
  const change = (name: keyof typeof PARAMETERS, value: string) => {
    setPages(1)
    replaceRoute(viewHref('session', null, { ...Object.fromEntries(query), [PARAMETERS[name]]: value }))
  }
  return (
    <div ref={list}>
      <Page title="Sessions" tools={<SessionFilters filter={filter} onChange={change} />}>
        <Loaded query={answer}>
          {({ sessions }) => {
            const rows = sessions.filter((row) => matchesFilter(row, filter))
            if (rows.length === 0) return <NoSessions filtered={Object.values(filter).some((value) => value !== '')} />
            return (
              <>
                <ul class="rows card" aria-label="Sessions">
                  {rows.slice(0, max).map((row) => (
                    <SessionRow key={row.session} row={row} isNew={row.updatedAt > openedAt} />
                  ))}
                </ul>
                {rows.length > max ? (
                  <button type="button" class="more" data-row onClick={() => setPages(pages + 1)}>
                    Show more
                  </button>
                ) : null}
              </>
            )
          }}
        </Loaded>
      </Page>
    </div>
  )
}

interface SessionFilter {
  words: string
  /** A status, or `WITH_FAILED`; empty: any. */
  status: string
  /** Key of a project; empty: all projects. */
  project: string
}

/** In the address. */
const PARAMETERS = { words: 'q', status: 'status', project: 'project' } as const satisfies Record<
  keyof SessionFilter,
  string
>

function isSessionChange(message: StreamMessage): boolean {
  return message.type === 'commit' || ['erased', 'quarantined', 'imported', 'projects'].includes(message.change)
}

function matchesFilter(row: ListedSession, { words, status }: SessionFilter): boolean {
  const text = `${row.request ?? ''} ${row.outcome ?? ''} ${row.session} ${row.projectName}`.toLowerCase()
  return (status !== WITH_FAILED || row.failed > 0) && text.includes(words.trim().toLowerCase())
}

interface SessionFiltersProps {
  filter: SessionFilter
  onChange(name: keyof SessionFilter, value: string): void
}

function SessionFilters({ filter, onChange }: SessionFiltersProps) {
  const projects = useProjects().projects ?? []
  return (
    <search class="row wrap">
      <div class="search-field">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Words of request or outcome"
          aria-label="Words of request or outcome"
          value={filter.words}
          onInput={(event) => onChange('words', event.currentTarget.value)}
        />
      </div>
      <Select
        label="Status"
        value={filter.status}
        options={[
          { value: '', text: 'Any status' },
          ...[...SESSION_STATUSES, WITH_FAILED].map((status) => ({ value: status, text: status })),
        ]}
        onSelect={(value) => onChange('status', value)}
      />
      <Select
        label="Project"
        value={filter.project}
        options={[
          { value: '', text: 'All projects' },
          ...projects.map(({ key, name }) => ({ value: key, text: safeLine(name, 60) })),
        ]}
        onSelect={(value) => onChange('project', value)}
      />
    </search>
  )
}

function NoSessions({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <EmptyState icon="sessions" title="No session matches">
        <a href={viewHref('session')}>Show all sessions</a>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon="sessions" title="No sessions yet">
      <p>Sessions of your coding agent appear here, with their requests and what came of them.</p>
      <p>
        Import earlier sessions with <code>claude-mem backfill</code>.
      </p>
    </EmptyState>
  )
}
