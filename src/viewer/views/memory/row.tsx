/** One memory in the list: what it is, in three lines of always the same height. */
import { useMemo } from 'preact/hooks'
import { Icon, KindMark } from '../../parts/icon.tsx'
import { markedPieces, safeLine } from '../../parts/safe-text.ts'
import { clockTime, count, dayOf, exactTime, short, shortDayOf } from '../../times.ts'
import { ScoreBar } from './explanation.tsx'
import type { Row } from './news.ts'
import './row.css'

/** In px, as row.css has it. */
export const ROW_HEIGHT = 88
/** Files named in a row. */
const FILES = 2

interface MemoryRowProps {
  row: Row
  href: string
  tabIndex: 0 | -1
  open: boolean
  isNew: boolean
  /** It is the first of its day in a list that is ordered by time. */
  opensDay: boolean
  /** Of the best hit, where a text was looked for; null: it was not. */
  best: number | null
  onExplain(row: Row, at: HTMLElement): void
}

export function MemoryRow({ row, href, tabIndex, open, isNew, opensDay, best, onExplain }: MemoryRowProps) {
  // Most drawings are of rows that only moved.
  return useMemo(
    () => (
      <article class={classOf(row, open, isNew)} data-testid="memory-row" data-kind={row.kind} data-id={row.id}>
        {opensDay ? <h2 class="memory-day">{dayOf(row.createdAt)}</h2> : null}
        <KindMark kind={row.type ?? (row.kind === 'prompt' ? 'prompt' : 'summary')} />
        <div class="memory-row-text">
          <h3 class="memory-row-title" dir="auto">
            <a href={href} tabIndex={tabIndex} data-row-link aria-current={open ? 'true' : undefined}>
              <Marked text={titleOf(row)} words={row.explanation.matched} />
            </a>
          </h3>
          {row.kind === 'prompt' ? null : (
            <p class="memory-row-snippet" dir="auto">
              <Marked text={row.snippet} words={row.explanation.matched} />
            </p>
          )}
          <RowFoot row={row} best={best} onExplain={onExplain} />
        </div>
        <div class="memory-row-side figure">
          <time dateTime={new Date(row.createdAt).toISOString()} title={exactTime(row.createdAt)}>
            {best === null ? clockTime(row.createdAt) : whenOf(row.createdAt)}
          </time>
          {row.pinned ? (
            <span class="memory-pinned" title="Pinned: always among what a session starts with">
              <Icon name="pin" size={15} />
              <span class="unseen">pinned</span>
            </span>
          ) : null}
        </div>
      </article>
    ),
    [row, href, tabIndex, open, isNew, opensDay, best, onExplain],
  )
}

/** A prompt has no title: its words are one, on two lines. */
function titleOf({ kind, title, snippet }: Row): string {
  const text = kind === 'prompt' ? snippet : title
  return text === '' ? '(no title)' : text
}

function classOf(row: Row, open: boolean, isNew: boolean): string {
  const marks = [open ? 'open' : '', isNew ? 'arrived' : '', row.supersededBy === null ? '' : 'superseded']
  return ['memory-row', `row-${row.kind}`, ...marks].filter(Boolean).join(' ')
}

function RowFoot({ row, best, onExplain }: Pick<MemoryRowProps, 'row' | 'best' | 'onExplain'>) {
  const { supersededBy, similar, files, completes, kind, id } = row
  return (
    <p class="memory-row-foot">
      <span class="memory-row-project" title="Project">
        {safeLine(row.projectName)}
      </span>
      <span class="figure memory-row-id" title={`The ${kind}'s number`}>
        #{id}
      </span>
      {supersededBy === null ? null : <span class="chip warn">superseded by #{supersededBy}</span>}
      {completes ? (
        <span class="chip" title="It only passes the filters">
          not in the words
        </span>
      ) : null}
      {similar.length === 0 ? null : (
        <span class="chip" title={`Nearly the same: ${similar.map((one) => `#${one}`).join(', ')}`}>
          +{count(similar.length)} alike
        </span>
      )}
      {files.slice(0, FILES).map((file) => (
        <span key={file} class="mono memory-row-file" title={safeLine(file, 500)}>
          {safeLine(nameOf(file))}
        </span>
      ))}
      {files.length > FILES ? <span class="memory-row-file">+{count(files.length - FILES)} files</span> : null}
      <span class="figure memory-row-tokens" title={`Reading it whole takes about ${count(row.tokens)} tokens`}>
        ~{short(row.tokens)} tokens
      </span>
      {best === null || completes ? null : (
        <button
          type="button"
          class="plain score-button"
          aria-label={`Why #${id} stands here: score ${row.explanation.score.toFixed(2)}`}
          title="Why it stands here"
          onClick={(event) => onExplain(row, event.currentTarget)}
        >
          <ScoreBar explanation={row.explanation} best={best} />
          <span class="figure">{row.explanation.score.toFixed(2)}</span>
        </button>
      )}
    </p>
  )
}

function whenOf(at: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear()
  return isThisYear ? shortDayOf(at) : new Date(at).toLocaleDateString(undefined, { month: 'short', year: 'numeric' })
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path
}

export function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const shown = safeLine(text)
  if (words.length === 0) return <>{shown}</>
  return (
    <>
      {markedPieces(shown, words).map((piece, i) =>
        piece.marked ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>,
      )}
    </>
  )
}

/** Where the daemon has not answered yet. */
export function RowToCome() {
  return (
    <div class="memory-row to-come" aria-hidden="true">
      <span />
      <span />
      <span />
    </div>
  )
}
