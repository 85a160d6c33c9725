/** A summary or a prompt that is open. */
import { useEffect, useState } from 'preact/hooks'
import { ask, onItems } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { KindMark } from '../../parts/icon.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { hrefOf } from '../../route.ts'
import { NotThere, Panel, Part } from './panel.tsx'
import { Copy, Files, Place, Prose } from './parts.tsx'

interface SummaryProps {
  id: number
  session: string
  onClose(): void
}

/** As many as are given at once; a session has fewer. */
const SUMMARIES = 200
const PROMPTS = 2_000

export function OpenedSummary({ id, session, onClose }: SummaryProps) {
  const gone = useErased(session)
  const { data, error, loading, reload } = useLoaded(`summary ${id} ${session} ${gone}`, async () => {
    const { summaries } = await ask('summaries', { type: 'summaries', session, project: null, limit: SUMMARIES })
    return { summary: summaries.find((one) => one.id === id) ?? null }
  })
  const summary = data?.summary ?? null
  if (summary === null) {
    return (
      <Panel label="Summary" onClose={onClose}>
        <NotThere what="summary" loading={loading && data === null} error={error} onRetry={reload} />
      </Panel>
    )
  }
  const parts = [
    ['Investigated', summary.investigated],
    ['Learned', summary.learned],
    ['Completed', summary.completed],
    ['Next steps', summary.nextSteps],
    ['Notes', summary.notes],
  ] as const
  return (
    <Panel label={`Summary ${id}`} onClose={onClose}>
      <p class="memory-kind">
        <KindMark kind="summary" />
        Summary <span class="figure soft">#{id}</span>
      </p>
      <h2 class="memory-title" dir="auto">
        {safeLine(summary.request ?? 'What one turn came to', 600)}
      </h2>
      <Place session={session} turn={summary.promptNumber} at={summary.createdAt} />
      {parts.map(([title, text]) =>
        text === null || text === '' ? null : (
          <Part key={title} title={title}>
            <Prose text={text} />
          </Part>
        ),
      )}
      {summary.filesEdited.length + summary.filesRead.length === 0 ? null : (
        <Part title="Files">
          <Files label="Edited" files={summary.filesEdited} />
          <Files label="Read" files={summary.filesRead} />
        </Part>
      )}
      {summary.model === null ? null : <p class="soft memory-small">Written by {safeLine(summary.model)}.</p>}
    </Panel>
  )
}

interface PromptProps {
  number: number
  session: string
  onClose(): void
}

export function OpenedPrompt({ number, session, onClose }: PromptProps) {
  const gone = useErased(session)
  const { data, error, loading, reload } = useLoaded(`prompt ${number} ${session} ${gone}`, async () => {
    const { story } = await ask('story', { type: 'story', session, trace: 0, rows: PROMPTS })
    const ofTurn = <T extends { promptNumber: number }>(rows: readonly T[]) =>
      rows.filter((row) => row.promptNumber === number)
    const prompt = story.prompts.find((one) => one.number === number) ?? null
    return { prompt, learned: ofTurn(story.observationRows), summaries: ofTurn(story.summaryRows) }
  })
  const prompt = data?.prompt ?? null
  if (data === null || prompt === null) {
    return (
      <Panel label="Prompt" onClose={onClose}>
        <NotThere what="prompt" loading={loading && data === null} error={error} onRetry={reload} />
      </Panel>
    )
  }
  return (
    <Panel label={`Prompt ${number}`} onClose={onClose}>
      <p class="memory-kind">
        <KindMark kind="prompt" />
        Prompt {number}
      </p>
      <h2 class="unseen">Prompt {number}</h2>
      <Place session={session} turn={number} at={prompt.at} />
      {prompt.private ? (
        <p class="memory-prose">It was private: nothing of it was kept, and its turn was not observed.</p>
      ) : (
        <>
          <Prose text={prompt.text} />
          <Copy text={prompt.text} what="prompt" />
        </>
      )}
      <Part title="What came of it">
        {data.learned.length + data.summaries.length === 0 ? (
          <p class="soft">
            Nothing was learned from this turn yet. <a href={hrefOf('session', session)}>Its session</a> says why.
          </p>
        ) : (
          <ul class="memory-near">
            {data.learned.map(({ id, type, title }) => (
              <li key={id}>
                <a href={hrefOf('memory', id)}>
                  <KindMark kind={type} />
                  <span>{safeLine(title ?? `Observation ${id}`)}</span>
                </a>
              </li>
            ))}
            {data.summaries.map(({ id, request }) => (
              <li key={`summary ${id}`}>
                <a href={hrefOf('memory', `summary.${id}.${session}`)}>
                  <KindMark kind="summary" />
                  <span>{safeLine(request ?? 'Summary')}</span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Part>
    </Panel>
  )
}

/** Grows when something of the session may have gone or come. */
function useErased(session: string): number {
  const [times, setTimes] = useState(0)
  useEffect(
    () =>
      onItems((items) => {
        const touched = items.some((item) =>
          item.type === 'commit'
            ? item.session === session && item.observations.length + item.summaries.length > 0
            : item.change === 'forgotten' || item.change === 'erased',
        )
        if (touched) setTimes((n) => n + 1)
      }),
    [session],
  )
  return times
}
