/** The sessions of a list: asked for in pages, kept up to date by the stream. */
import { useEffect, useState } from 'preact/hooks'
import type { StreamMessage } from '../../../channel/protocol.ts'
import { ask, onItems } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { useNews } from '../../news.ts'
import type { SessionLine } from './row.tsx'

export interface Wish {
  status: SessionLine['status'] | null
  /** Its key; empty: any. */
  project: string
  /** In its id or the project's name. */
  words: string
  onlyFailed: boolean
}

export interface Lines {
  /** Null before the first answer. */
  lines: SessionLine[] | null
  /** There are further ones. */
  more: boolean
  /** Changed while somebody was looking. */
  arrived: ReadonlySet<string>
  error: string | null
  loading: boolean
  reload(): void
}

type Commit = Extract<StreamMessage, { type: 'commit' }>

/** What was heard of a session since the last answer, added up: a busy day must not be kept whole. */
interface News {
  last: Commit
  learned: number
  firstAt: number
}

function newerThan(lines: readonly SessionLine[], news: ReadonlyMap<string, News>): ReadonlyMap<string, News> {
  const answered = new Map(lines.map(({ session, updatedAt }) => [session, updatedAt]))
  const left = [...news].filter(([session, { last }]) => last.at > (answered.get(session) ?? 0))
  return new Map(left.map(([session, one]) => [session, answered.has(session) ? { ...one, learned: 0 } : one]))
}

function newsAfter(before: News | undefined, item: Commit): News {
  return {
    last: item,
    learned: (before?.learned ?? 0) + item.observations.length,
    firstAt: before?.firstAt ?? item.at,
  }
}

/** What only the page can look for is looked for in so many: years of sessions. */
const SEARCHED = 5_000
/** Changes in a row are one question, in ms. */
const SETTLE_MS = 350

export function useLines(wish: Wish, most: number): Lines {
  const { status, project, words, onlyFailed } = wish
  const limit = words !== '' || onlyFailed ? SEARCHED : most + 1
  const filter = { limit, ...(status === null ? {} : { status }), ...(project === '' ? {} : { project }) }
  const loaded = useLoaded(`sessions ${JSON.stringify(filter)}`, async () => {
    const { sessions } = await ask('sessions', { type: 'sessions', filter })
    return { at: Date.now(), sessions }
  })
  const [news, setNews] = useState<ReadonlyMap<string, News>>(new Map())
  const [erased, setErased] = useState<ReadonlySet<string>>(new Set())
  // What an answer holds need not be told again; what came while it was on its way stays.
  useEffect(() => setNews((before) => newerThan(loaded.data?.sessions ?? [], before)), [loaded.data])
  useEffect(
    () =>
      onItems((items) => {
        const commits = items.filter((item) => item.type === 'commit')
        const gone = items.flatMap((item) => (item.type === 'change' && item.change === 'erased' ? [item.session] : []))
        if (gone.length > 0) setErased((before) => new Set([...before, ...gone]))
        if (commits.length === 0) return
        setNews((before) => {
          const next = new Map(before)
          for (const item of commits) next.set(item.session, newsAfter(next.get(item.session), item))
          return next
        })
      }),
    [],
  )
  const { data, error, loading, reload } = loaded
  useNews(isOfOthers, SETTLE_MS, reload)
  if (data === null) return { lines: null, more: false, arrived: new Set(), error, loading, reload }
  const known = new Map(data.sessions.map((line) => [line.session, line]))
  for (const [session, { last, learned, firstAt }] of news) {
    const line = known.get(session)
    // The answer was given after it.
    if (line !== undefined && line.updatedAt >= last.at) continue
    const observations = (line?.observations ?? 0) + learned
    known.set(session, { ...lineOf(last), observations, createdAt: line?.createdAt ?? firstAt })
  }
  const fitting = [...known.values()]
    .filter((line) => !erased.has(line.session) && fits(line, wish))
    .sort((a, b) => b.updatedAt - a.updatedAt)
  return {
    lines: fitting.slice(0, most),
    more: fitting.length > most,
    arrived: new Set(news.keys()),
    error,
    loading,
    reload,
  }
}

/** What no commit tells: one was set aside, imported, or has another project's name. */
function isOfOthers(item: StreamMessage): boolean {
  return item.type === 'change' && ['quarantined', 'imported', 'projects'].includes(item.change)
}

function fits(line: SessionLine, { status, project, words, onlyFailed }: Wish): boolean {
  const wanted = words.trim().toLowerCase()
  return (
    (status === null || line.status === status) &&
    (project === '' || line.project === project) &&
    (!onlyFailed || line.failed > 0) &&
    (wanted === '' || line.session.toLowerCase().includes(wanted) || line.projectName.toLowerCase().includes(wanted))
  )
}

function lineOf(item: Commit): Omit<SessionLine, 'observations' | 'createdAt'> {
  const { session, project, projectName, status, state, prompts, pending, failed, waiting, wakeAt, at } = item
  return {
    session,
    project,
    projectName,
    status,
    state,
    prompts,
    pending,
    processing: 0,
    failed,
    waiting,
    wakeAt,
    quarantine: null,
    updatedAt: at,
  }
}
