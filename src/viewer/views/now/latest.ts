/** What a session learned last, as it arrives. */
import { useEffect, useState } from 'preact/hooks'
import type { ObservationType } from '../../../memory/observation.ts'
import { ask, onItems } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'

export interface Learned {
  id: number
  type: ObservationType
  title: string | null
  arrived: boolean
}

/** Newest first, at most `most`. */
export function useLatest(session: string, most: number): readonly Learned[] {
  const loaded = useLoaded(`latest ${session} ${most}`, async () => {
    const { story } = await ask('story', { type: 'story', session, trace: 0, rows: most })
    return story.observationRows.map(({ id, type, title }) => ({ id, type, title, arrived: false })).reverse()
  })
  const [news, setNews] = useState<readonly Learned[]>([])
  const [gone, setGone] = useState<ReadonlySet<number>>(new Set())
  useEffect(
    () =>
      onItems((items) => {
        const fresh: Learned[] = []
        const forgotten: number[] = []
        for (const item of items) {
          if (item.type === 'change' && item.change === 'forgotten') forgotten.push(...item.ids)
          if (item.type !== 'commit' || item.session !== session) continue
          for (const { id, type, title } of item.observations) fresh.unshift({ id, type, title, arrived: true })
        }
        if (fresh.length > 0) setNews((before) => [...fresh, ...before].slice(0, most))
        if (forgotten.length > 0) setGone((before) => new Set([...before, ...forgotten]))
      }),
    [session, most],
  )
  const known = new Set(news.map(({ id }) => id))
  return [...news, ...(loaded.data ?? []).filter(({ id }) => !known.has(id))]
    .filter(({ id }) => !gone.has(id))
    .sort((a, b) => b.id - a.id)
    .slice(0, most)
}
