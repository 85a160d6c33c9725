/** What the next session of a project gets, while what it may cost is moved. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ContextWish, SettingInfo, StreamMessage } from '../../../channel/protocol.ts'
import { messageOf } from '../../../errors.ts'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { useNews } from '../../news.ts'
import { Trouble, Waiting } from '../../parts/plain.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { tell } from '../../parts/toast.tsx'
import { change } from './changes.ts'
import { type ContextAnswer, PreviewReport } from './preview-report.tsx'
import { Wishes } from './preview-wishes.tsx'
import { asSet, toKeep, type Wanted } from './wish.ts'
import './preview.css'

export const PREVIEW = 'preview-of-context'

/** While a slider moves, in ms. */
const ASK_EVERY_MS = 80
/** After what was learned meanwhile, in ms. */
const SETTLE_MS = 500

export function Preview({ settings }: { settings: readonly SettingInfo[] }) {
  const projects = useLoaded('projects', async () => (await ask('projects', { type: 'projects' })).projects)
  useNews(changesContext, SETTLE_MS, projects.reload)
  const [chosen, setChosen] = useState<string | null>(null)
  const [moved, setMoved] = useState<ContextWish>({})
  const known = projects.data?.filter(({ observations }) => observations > 0) ?? []
  const project = known.find(({ key }) => key === chosen)?.key ?? known[0]?.key ?? null
  const set = asSet(settings)
  const wanted = { ...set, ...moved }
  const kept = toKeep(set, wanted)
  return (
    <section class="preview card" id={PREVIEW} aria-label="Preview of the context">
      <header class="preview-head">
        <h2>The next session gets</h2>
        {project === null ? null : (
          <select aria-label="Project" value={project} onChange={(event) => setChosen(event.currentTarget.value)}>
            {known.map(({ key, name }) => (
              <option key={key} value={key}>
                {safeLine(name, 60)}
              </option>
            ))}
          </select>
        )}
      </header>
      {projects.error === null ? null : <Trouble text={projects.error} retry={projects.reload} />}
      {projects.data !== null && project === null ? (
        <p class="preview-none">
          Nothing is remembered yet. After your first session with Claude Code you see here, word for word, what the
          next one is told before its first prompt.
        </p>
      ) : null}
      {project === null ? null : (
        <>
          <Wishes settings={settings} wanted={wanted} want={(more) => setMoved((before) => ({ ...before, ...more }))} />
          <div class="preview-keep">
            <button type="button" disabled={kept.length === 0} onClick={() => setMoved({})}>
              As set
            </button>
            <button
              type="button"
              class="primary"
              disabled={kept.length === 0}
              onClick={() => void keep(kept).then((done) => done && setMoved({}))}
            >
              Keep these
            </button>
          </div>
          <Given project={project} wanted={wanted} settings={settings} />
        </>
      )}
    </section>
  )
}

async function keep(changes: ReturnType<typeof toKeep>): Promise<boolean> {
  try {
    for (const { name, value } of changes) await change(name, value)
    tell('Kept: sessions that start from now on get this.')
    return true
  } catch (error) {
    tell(messageOf(error), true)
    return false
  }
}

function Given({ project, wanted, settings }: { project: string; wanted: Wanted; settings: readonly SettingInfo[] }) {
  const asked = useUnhurried(JSON.stringify({ project, ...wanted }))
  // What the person is told, and what else holds at once, may be set meanwhile.
  const held = settings.filter(({ name }) => name.includes('CONTEXT')).map(({ value }) => value)
  const { data, error, reload } = useLoaded(`${asked} ${JSON.stringify(held)}`, async () => {
    const wish: { project: string } & Wanted = JSON.parse(asked)
    return { answer: await ask('context', { type: 'context', ...wish }), budget: wish.tokens }
  })
  const last = useRef<{ answer: ContextAnswer; budget: number } | null>(null)
  last.current = data ?? last.current
  useNews(changesContext, SETTLE_MS, reload)
  if (error !== null) return <Trouble text={error} retry={reload} />
  if (last.current === null) return <Waiting rows={3} />
  return <PreviewReport answer={last.current.answer} budget={last.current.budget} />
}

/** The newest value, but not more often than somebody sees. */
function useUnhurried(value: string): string {
  const [held, setHeld] = useState(value)
  const newest = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  newest.current = value
  useEffect(() => {
    if (value === held) return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setHeld(newest.current)
    }, ASK_EVERY_MS)
  }, [value, held])
  useEffect(() => () => clearTimeout(timer.current), [])
  return held
}

function changesContext(item: StreamMessage): boolean {
  return item.type === 'change' || item.observations.length + item.summaries.length > 0
}
