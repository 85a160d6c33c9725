/** What stands before and after an observation, in time. */
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { useNews } from '../../news.ts'
import { KindMark } from '../../parts/icon.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { clockTime, exactTime, shortDayOf } from '../../times.ts'
import { type Asked, memoryHref } from './asked.ts'
import { changesMemory, placeOf } from './news.ts'
import { Part } from './panel.tsx'

/** On either side. */
const AROUND = 4
/** After a change: several in a row are one question, in ms. */
const SETTLE_MS = 400

export function Neighbours({ id, asked }: { id: number; asked: Asked }) {
  const { data, reload } = useLoaded(`timeline ${id}`, () =>
    ask('timeline', { type: 'timeline', anchor: id, query: null, project: null, before: AROUND, after: AROUND }),
  )
  useNews(changesMemory, SETTLE_MS, reload)
  if (data === null || data.items.length < 2) return null
  return (
    <Part title="Around it" about="in its project, oldest first">
      <ol class="memory-near">
        {data.items.map((item) => {
          const isIt = item.kind === 'observation' && item.id === id
          const kind = item.type ?? (item.kind === 'prompt' ? 'prompt' : 'summary')
          return (
            <li key={`${item.kind} ${item.id}`}>
              <a href={memoryHref(asked, placeOf(item))} aria-current={isIt ? 'true' : undefined}>
                <KindMark kind={kind} />
                <span dir="auto">{safeLine(item.title)}</span>
                <time
                  class="figure soft"
                  dateTime={new Date(item.createdAt).toISOString()}
                  title={exactTime(item.createdAt)}
                >
                  {shortDayOf(item.createdAt)} {clockTime(item.createdAt)}
                </time>
              </a>
            </li>
          )
        })}
      </ol>
    </Part>
  )
}
