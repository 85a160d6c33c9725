/** The opened memory: chooses the panel by its id in the address. Contains the panels of summaries and prompts. */
import { AuthorChip } from '../../author.tsx'
import { EmptyState } from '../../components/basics.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { KindIcon } from '../../components/icon.tsx'
import { useOperation, useReloadOnStream } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { summaryParts } from '../session/story-turns.ts'
import type { MemoryQuery } from './memory-query.ts'
import type { MemoryRows } from './memory-rows.ts'
import { ObservationPanel } from './observation.tsx'
import { DetailPanel, FileList, MemoryLink, MemoryMeta, MissingMemory, PanelSection, ProseText } from './panel.tsx'
import { PassagePanel } from './passage.tsx'

interface OpenMemoryProps {
  /** As in the address: `12`, `summary.4.SESSION`, `prompt.2.SESSION`, `p12`. */
  id: string
  query: MemoryQuery
  rows: MemoryRows
  onClose(): void
}

const SUMMARY_OR_PROMPT = /^(summary|prompt)\.(\d{1,15})\.(.+)$/s

export function OpenMemory({ id, query, rows, onClose }: OpenMemoryProps) {
  if (/^\d{1,15}$/.test(id)) return <ObservationPanel id={Number(id)} query={query} rows={rows} onClose={onClose} />
  if (/^p\d{1,15}$/.test(id)) return <PassagePanel id={Number(id.slice(1))} query={query} onClose={onClose} />
  const [, kind, number, session = ''] = SUMMARY_OR_PROMPT.exec(id) ?? []
  if (kind === 'summary') return <SummaryPanel id={Number(number)} session={session} onClose={onClose} />
  if (kind === 'prompt') return <PromptPanel number={Number(number)} session={session} onClose={onClose} />
  return (
    <DetailPanel label="Memory" onClose={onClose}>
      <EmptyState icon="memory" title="There is no such memory">
        <p>The address is not valid. Select a memory from the list.</p>
      </EmptyState>
    </DetailPanel>
  )
}

/** Limits of one request; sessions have fewer. */
const MAX_SUMMARIES = 200
const MAX_PROMPTS = 2_000
/** Changes within this time cause one request, in ms. */
const THROTTLE_MS = 100

function SummaryPanel({ id, session, onClose }: { id: number; session: string; onClose(): void }) {
  const query = useOperation('summaries', { session, limit: MAX_SUMMARIES })
  useReloadOnSession(session, query.reload)
  const summary = query.data?.summaries.find((one) => one.id === id)
  if (summary === undefined) return <MissingMemory kind="summary" query={query} onClose={onClose} />
  return (
    <DetailPanel label={`Summary ${id}`} onClose={onClose}>
      <p class="row wrap">
        <KindIcon kind="summary" />
        Summary <span class="figure soft">#{id}</span>
        <AuthorChip memory={summary} at={summary.createdAt} />
      </p>
      <h2 class="memory-title" dir="auto">
        {safeLine(summary.request ?? 'Summary of a turn', 600)}
      </h2>
      <MemoryMeta session={session} turn={summary.promptNumber} at={summary.createdAt} />
      {summaryParts({ ...summary, request: null }).map(({ name, text }) => (
        <PanelSection key={name} title={name}>
          <ProseText text={text} />
        </PanelSection>
      ))}
      {summary.filesEdited.length + summary.filesRead.length === 0 ? null : (
        <PanelSection title="Files">
          <FileList label="Edited" files={summary.filesEdited} />
          <FileList label="Read" files={summary.filesRead} />
        </PanelSection>
      )}
      {summary.model === null ? null : <p class="soft small memory-section">Written by {safeLine(summary.model)}.</p>}
    </DetailPanel>
  )
}

function PromptPanel({ number, session, onClose }: { number: number; session: string; onClose(): void }) {
  const query = useOperation('story', { session, trace: 0, rows: MAX_PROMPTS })
  useReloadOnSession(session, query.reload)
  const story = query.data?.story
  const prompt = story?.prompts.find((one) => one.number === number)
  if (story === undefined || prompt === undefined) {
    return <MissingMemory kind="prompt" query={query} onClose={onClose} />
  }
  const observations = story.observationRows.filter(({ promptNumber }) => promptNumber === number)
  const summaries = story.summaryRows.filter(({ promptNumber }) => promptNumber === number)
  return (
    <DetailPanel label={`Prompt ${number}`} onClose={onClose}>
      <p class="row wrap">
        <KindIcon kind="prompt" />
        Prompt {number}
      </p>
      <h2 class="unseen">Prompt {number}</h2>
      <MemoryMeta session={session} turn={number} at={prompt.at} />
      {prompt.private ? (
        <p class="memory-prose">This prompt is private: its text was not stored and its turn was not observed.</p>
      ) : (
        <>
          <ProseText text={prompt.text} />
          <CopyButton text={prompt.text} what="prompt" />
        </>
      )}
      <PanelSection title="Memories of this turn">
        {observations.length + summaries.length === 0 ? (
          <p class="soft">
            This turn has no memories yet. <a href={viewHref('session', session)}>Its session</a> shows why.
          </p>
        ) : (
          <ul class="memory-nearby">
            {observations.map(({ id, type, title }) => (
              <MemoryLink key={id} href={viewHref('memory', id)} kind={type} title={title ?? `Observation ${id}`} />
            ))}
            {summaries.map(({ id, request }) => (
              <MemoryLink
                key={`summary ${id}`}
                href={viewHref('memory', `summary.${id}.${session}`)}
                kind="summary"
                title={request ?? 'Summary'}
              />
            ))}
          </ul>
        )}
      </PanelSection>
    </DetailPanel>
  )
}

/** Reloads when the session got memories, or when memories were deleted. */
function useReloadOnSession(session: string, reload: () => void): void {
  useReloadOnStream(
    (message) =>
      message.type === 'commit'
        ? message.session === session && message.observations.length + message.summaries.length > 0
        : message.change === 'forgotten' || message.change === 'erased',
    THROTTLE_MS,
    reload,
  )
}
