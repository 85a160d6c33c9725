/** `#/session` lists sessions, `#/session/ID` shows one. */
import { useRef, useState } from 'preact/hooks'
import { CLIENT_NAMES, CLIENT_TITLES } from '../../../domain/clients.ts'
import type { StreamMessage } from '../../../transport/messages.ts'
import { EmptyState, ErrorNotice, LoadingRows, Select } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { SESSION_STATUSES, type SessionListRow, SessionRowItem } from '../../components/session-status.tsx'
import { fullCount } from '../../format.tsx'
import { useObservable } from '../../observable.ts'
import { useLast, useOperation, useProjects, useReloadOnStream } from '../../queries.ts'
import { currentRoute, replaceRoute, viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { useRowKeys } from '../../shortcuts.ts'
import { StoryPage } from './story-page.tsx'
import './session.css'

const PAGE_ROWS = 100
/** Sessions that are searched by words or for failed messages, which the daemon cannot filter by. */
const MAX_SEARCHED = 5_000
/** Changes within this time cause one request, in ms; longer where a request returns thousands of sessions. */
const THROTTLE_MS = 350
const SEARCH_THROTTLE_MS = 2_000

export function SessionsPage() {
  const { id, query } = useObservable(currentRoute)
  if (id === null) return <SessionList query={query} />
  return <StoryPage key={id} session={id} turn={Number(query.get('turn') ?? Number.NaN)} />
}

interface SessionFilter {
  status: SessionListRow['status'] | null
  /** Key of a project; empty: all projects. */
  project: string
  /** Empty: all clients. */
  client: string
  /** Part of the id or of the project's name. */
  words: string
  onlyFailed: boolean
}

function SessionList({ query }: { query: URLSearchParams }) {
  const [pages, setPages] = useState(1)
  const list = useRef<HTMLDivElement>(null)
  useRowKeys(list)
  const filter: SessionFilter = {
    status: SESSION_STATUSES.find((status) => status === query.get('status')) ?? null,
    project: query.get('project') ?? '',
    client: query.get('client') ?? '',
    words: query.get('q') ?? '',
    onlyFailed: query.get('with') === 'failed',
  }
  const { rows, isNew, error, loading, reload } = useSessionRows(filter, pages * PAGE_ROWS)
  const change = (name: string, value: string) => {
    setPages(1)
    replaceRoute(viewHref('session', null, { ...Object.fromEntries(query), [name]: value }))
  }
  const isFiltered = [...query.values()].some((value) => value !== '')
  const visible = rows?.slice(0, pages * PAGE_ROWS) ?? []
  return (
    <div class="session-list" ref={list}>
      <div class="view-head row wrap">
        <h1>Sessions</h1>
        <SessionFilters filter={filter} onChange={change} />
      </div>
      <ErrorNotice text={error} retry={reload} />
      {rows === null && loading ? <LoadingRows rows={6} /> : null}
      {rows?.length === 0 ? <NoSessions filtered={isFiltered} /> : null}
      {visible.length === 0 ? null : (
        <ul class="session-rows box" aria-label="Sessions">
          {visible.map((row) => (
            <SessionRowItem key={row.session} row={row} arrived={isNew(row)} />
          ))}
        </ul>
      )}
      {rows !== null && rows.length > visible.length ? (
        <button type="button" class="session-more" data-row onClick={() => setPages(pages + 1)}>
          Show {fullCount(PAGE_ROWS)} more
        </button>
      ) : null}
    </div>
  )
}

/** Matching sessions, most recently updated first: one more than `max` if there are more. */
function useSessionRows(filter: SessionFilter, max: number) {
  const { status, project, client, words, onlyFailed } = filter
  const isSearch = words !== '' || onlyFailed
  const request = {
    limit: isSearch ? MAX_SEARCHED : max + 1,
    ...(status === null ? {} : { status }),
    ...(project === '' ? {} : { project }),
    ...(client === '' ? {} : { client }),
  }
  const { data, error, loading, reload } = useOperation('sessions', request)
  useReloadOnStream(isSessionChange, isSearch ? SEARCH_THROTTLE_MS : THROTTLE_MS, reload)
  // Rows that changed since the list was opened are highlighted.
  const [openedAt] = useState(() => Date.now())
  const rows = useLast(data)?.sessions.filter((row) => matchesFilter(row, filter)) ?? null
  return { rows, isNew: (row: SessionListRow) => row.updatedAt > openedAt, error, loading, reload }
}

function isSessionChange(message: StreamMessage): boolean {
  return message.type === 'commit' || ['erased', 'quarantined', 'imported', 'projects'].includes(message.change)
}

function matchesFilter(row: SessionListRow, { words, onlyFailed }: SessionFilter): boolean {
  const text = `${row.session} ${row.projectName}`.toLowerCase()
  return (!onlyFailed || row.failed > 0) && text.includes(words.trim().toLowerCase())
}

interface SessionFiltersProps {
  filter: SessionFilter
  /** `name`: parameter in the address. */
  onChange(name: string, value: string): void
}

function SessionFilters({ filter, onChange }: SessionFiltersProps) {
  const projects = useProjects().projects ?? []
  return (
    <search class="session-filters row wrap">
      <label class="session-search search-field">
        <span class="unseen">Project or id</span>
        <Icon name="search" />
        <input
          type="search"
          placeholder="Project or id"
          value={filter.words}
          onInput={(event) => onChange('q', event.currentTarget.value)}
        />
      </label>
      <Select
        label="Status"
        value={filter.status ?? ''}
        options={[
          { value: '', text: 'Any status' },
          ...SESSION_STATUSES.map((status) => ({ value: status, text: status })),
        ]}
        onSelect={(value) => onChange('status', value)}
      />
      <Select
        label="Project"
        value={filter.project}
        options={[
          { value: '', text: 'All projects' },
          ...projects.map(({ key, name }) => ({ value: key, text: safeLine(name) })),
        ]}
        onSelect={(value) => onChange('project', value)}
      />
      <Select
        label="Client"
        value={filter.client}
        options={[
          { value: '', text: 'All clients' },
          ...CLIENT_NAMES.map((name) => ({ value: name, text: CLIENT_TITLES[name] })),
        ]}
        onSelect={(value) => onChange('client', value)}
      />
      <label class="check soft">
        <input
          type="checkbox"
          checked={filter.onlyFailed}
          onChange={(event) => onChange('with', event.currentTarget.checked ? 'failed' : '')}
        />
        With failed messages
      </label>
    </search>
  )
}

function NoSessions({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <EmptyState icon="sessions" title="No session matches">
        <p>
          <a href={viewHref('session')}>Show all sessions</a>
        </p>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon="sessions" title="No sessions yet">
      <p>Sessions of your coding agent appear here, with their prompts and the memories made from them.</p>
      <p>
        Import earlier sessions with <code>claude-mem backfill</code>.
      </p>
    </EmptyState>
  )
}
