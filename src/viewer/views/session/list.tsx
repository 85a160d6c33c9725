/** All sessions, newest first, as they change. */
import { useRef, useState } from 'preact/hooks'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Trouble, Waiting } from '../../parts/plain.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { safeLine } from '../../parts/safe-text.ts'
import { hrefOf, replace } from '../../route.ts'
import { count } from '../../times.ts'
import { useLines, type Wish } from './lines.ts'
import { SessionRow, STATUSES } from './row.tsx'
import './session.css'

const PAGE = 100

export function SessionList({ query }: { query: URLSearchParams }) {
  const [pages, setPages] = useState(1)
  const list = useRef<HTMLDivElement>(null)
  useRowKeys(list)
  const wish: Wish = {
    status: STATUSES.find((status) => status === query.get('status')) ?? null,
    project: query.get('project') ?? '',
    words: query.get('q') ?? '',
    onlyFailed: query.get('with') === 'failed',
  }
  const most = pages * PAGE
  const { lines, more, arrived, error, loading, reload } = useLines(wish, most)
  const change = (name: string, value: string) => {
    setPages(1)
    replace(hrefOf('session', null, { ...Object.fromEntries(query), [name]: value }))
  }
  const isFiltered = [...query.values()].some((value) => value !== '')
  return (
    <div class="session-list" ref={list}>
      <div class="view-head">
        <h1>Sessions</h1>
        <Filters wish={wish} change={change} />
      </div>
      {error === null ? null : <Trouble text={error} retry={reload} />}
      {lines === null && loading ? <Waiting rows={6} /> : null}
      {lines?.length === 0 ? <None filtered={isFiltered} /> : null}
      {lines === null || lines.length === 0 ? null : (
        <ul class="session-rows" aria-label="Sessions">
          {lines.map((line) => (
            <SessionRow key={line.session} line={line} arrived={arrived.has(line.session)} />
          ))}
        </ul>
      )}
      {more ? (
        <button type="button" class="session-more" data-row onClick={() => setPages(pages + 1)}>
          Show {count(PAGE)} more
        </button>
      ) : null}
    </div>
  )
}

function Filters({ wish, change }: { wish: Wish; change(name: string, value: string): void }) {
  const projects = useLoaded('projects of sessions', async () => {
    return (await ask('projects', { type: 'projects' })).projects
  })
  return (
    <search class="session-filters">
      <label class="session-search">
        <span class="unseen">Project or id</span>
        <Icon name="search" />
        <input
          type="search"
          placeholder="Project or id"
          value={wish.words}
          onInput={(event) => change('q', event.currentTarget.value)}
        />
      </label>
      <label>
        <span class="unseen">Status</span>
        <select value={wish.status ?? ''} onChange={(event) => change('status', event.currentTarget.value)}>
          <option value="">Any status</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {status}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="unseen">Project</span>
        <select value={wish.project} onChange={(event) => change('project', event.currentTarget.value)}>
          <option value="">All projects</option>
          {(projects.data ?? []).map(({ key, name }) => (
            <option key={key} value={key}>
              {safeLine(name)}
            </option>
          ))}
        </select>
      </label>
      <label class="session-check">
        <input
          type="checkbox"
          checked={wish.onlyFailed}
          onChange={(event) => change('with', event.currentTarget.checked ? 'failed' : '')}
        />
        With failed messages
      </label>
    </search>
  )
}

function None({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty icon="sessions" title="No session is like that">
        <p>
          <a href={hrefOf('session')}>Show all sessions</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty icon="sessions" title="No session yet">
      <p>Each time you work with your coding agent, its session is kept here: what you asked, and what came of it.</p>
      <p>
        Sessions from before can be read in with <code>claude-mem backfill</code>.
      </p>
    </Empty>
  )
}
