/** The head of the memory view: search field, filters, and a summary of the answer. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import type { MAX_QUERY_CHARS } from '../../../api/schemas.ts'
import { formatDate, parseMoment } from '../../../domain/dates.ts'
import { OBSERVATION_TYPES } from '../../../domain/observation.ts'
import { HIT_KINDS, SEARCH_FILTERS, type SearchFilters } from '../../../domain/search-query.ts'
import { Select } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { callDaemon } from '../../connection.ts'
import { compactCount, countOf, durationText, fullCount } from '../../format.tsx'
import { SEARCH_FIELD_ID } from '../../keyboard.ts'
import { useObservable } from '../../observable.ts'
import { isMemoryChange, useProjects, useQuery, useReloadOnStream } from '../../queries.ts'
import { replaceRoute } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { activeFilters, EMPTY_MEMORY_QUERY, type MemoryQuery, memoryHref } from './memory-query.ts'
import type { AnsweredQuery, MemoryRows } from './memory-rows.ts'

/** Counting a large memory takes half a second, so it is repeated rarely, in ms. */
const COUNT_THROTTLE_MS = 3_000
/** Pause after a key before the search starts, in ms. */
const TYPING_MS = 120
/** The daemon's limit: the type makes sure that it is the same. Importing it would add zod to the page. */
const QUERY_CHARS: typeof MAX_QUERY_CHARS = 10_000

interface SearchBarProps {
  query: MemoryQuery
  /** The opened memory stays open while filters change. */
  openId: string | null
  rows: MemoryRows
  onRemember(): void
}

interface FilterProps {
  filters: SearchFilters
  onChange(change: Partial<SearchFilters>): void
}

export function SearchBar({ query, openId, rows, onRemember }: SearchBarProps) {
  useObservable(rows.version)
  const [expanded, setExpanded] = useState(false)
  const { text, filters } = query
  const stats = useMemoryStats(filters.project, rows)
  const onText = (next: string) => replaceRoute(memoryHref({ text: next, filters }, openId))
  const onChange = (change: Partial<SearchFilters>) =>
    replaceRoute(memoryHref({ text, filters: { ...filters, ...change } }, openId))
  const listed = listedFilters(filters)
  return (
    <header class="memory-head stack">
      <div class="row wrap">
        <h1>Memory</h1>
        <p class="memory-summary soft" role="status" data-testid="memory-summary">
          {rows.answered === null ? '' : <AnswerSummary answered={rows.answered} count={rows.count} />}
        </p>
        <button type="button" onClick={onRemember} aria-label="Remember something" title="Remember something">
          <Icon name="edit" size={15} />
          <span class="memory-remember">Remember…</span>
        </button>
      </div>
      <div class="row wrap">
        <SearchField text={text} busy={rows.loading} onText={onText} />
        <KindSelect filters={filters} onChange={onChange} stats={stats} />
        <ProjectSelect filters={filters} onChange={onChange} />
        <button
          type="button"
          aria-expanded={expanded}
          aria-controls="memory-more"
          onClick={() => setExpanded(!expanded)}
        >
          <Icon name="settings" size={15} />
          Filters
          {listed.length === 0 ? null : <span class="memory-badge figure">{listed.length}</span>}
        </button>
      </div>
      <div id="memory-more" hidden={!expanded}>
        {expanded ? <MoreFilters filters={filters} onChange={onChange} /> : null}
      </div>
      <Toggles filters={filters} onChange={onChange} stats={stats} />
      <ActiveFilters filters={filters} onChange={onChange} />
    </header>
  )
}

type MemoryStatsAnswer = OutputOf<'memory_stats'>['stats']

/** Loaded after the first rows: counting would delay them. */
function useMemoryStats(project: string | null, rows: MemoryRows): MemoryStatsAnswer | null {
  const hasRows = useRef(false)
  hasRows.current ||= rows.answered !== null
  const { data, reload } = useQuery(`stats ${project} ${hasRows.current}`, async () =>
    hasRows.current ? (await callDaemon('memory_stats', { project })).stats : null,
  )
  useReloadOnStream(isMemoryChange, COUNT_THROTTLE_MS, reload)
  return data
}

const MODES = { strict: 'by words', semantic: 'by meaning', hybrid: 'by words and meaning' } as const

function AnswerSummary({
  answered: { query, mode, total, tookMs, notes },
  count,
}: {
  answered: AnsweredQuery
  count: number
}) {
  if (mode === 'filter') {
    const hasMemories = query.filters.kinds.some((kind) => kind !== 'passage')
    return <span class="figure">{hasMemories ? countOf(count, 'memory', 'memories') : countOf(count, 'passage')}</span>
  }
  return (
    <span class="figure" title={notes.map((note) => safeLine(note)).join('\n')}>
      {count < total ? `the best ${fullCount(count)} of ${fullCount(total)}` : `${fullCount(count)} found`},{' '}
      {MODES[mode]}, in {durationText(tookMs)}
      {notes.map((note) => (
        <span key={note} class="block warn">
          {safeLine(note)}
        </span>
      ))}
    </span>
  )
}

function SearchField({ text, busy, onText }: { text: string; busy: boolean; onText(text: string): void }) {
  const [typed, setTyped] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const submitted = useRef(text)
  // The text changes from outside when the user follows a link or goes back. The own change is not taken over again,
  // because more may have been typed since.
  useEffect(() => {
    if (text !== submitted.current) setTyped(text)
    submitted.current = text
  }, [text])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string, delayMs: number) => {
    setTyped(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      submitted.current = next
      onText(next)
    }, delayMs)
  }
  return (
    <div class={busy ? 'memory-search search-field busy' : 'memory-search search-field'}>
      <Icon name="search" />
      <input
        id={SEARCH_FIELD_ID}
        type="search"
        value={typed}
        placeholder="Search: words, a question, or “an exact phrase”"
        aria-label="Search the memory"
        autocomplete="off"
        spellcheck={false}
        maxLength={QUERY_CHARS}
        onInput={(event) => change(event.currentTarget.value, TYPING_MS)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') change(event.currentTarget.value, 0)
          // The first Escape clears the field, the next one leaves it.
          if (event.key === 'Escape' && typed !== '') {
            event.preventDefault()
            change('', 0)
          }
        }}
      />
      {typed === '' ? <kbd title="Press / to search">/</kbd> : null}
    </div>
  )
}

function ProjectSelect({ filters: { project }, onChange }: FilterProps) {
  const projects = useProjects().projects ?? []
  const isUnknown = project !== null && !projects.some(({ key }) => key === project)
  const options = [
    { value: '', text: 'All projects' },
    ...(isUnknown ? [{ value: project, text: safeLine(project, 60) }] : []),
    ...projects.map(({ key, name, observations }) => ({
      value: key,
      text: `${safeLine(name, 60)} (${compactCount(observations)})`,
    })),
  ]
  const onSelect = (value: string) => onChange({ project: value === '' ? null : value })
  return <Select class="memory-choice" label="Project" value={project ?? ''} options={options} onSelect={onSelect} />
}

const KIND_NAMES = {
  observation: 'Observations',
  summary: 'Summaries',
  prompt: 'Prompts',
  passage: 'Passages',
} as const

function KindSelect({ filters: { kinds }, onChange, stats }: FilterProps & { stats: MemoryStatsAnswer | null }) {
  const isAll = kinds.length === HIT_KINDS.length
  const counts = {
    observation: stats?.observations,
    summary: stats?.summaries,
    prompt: stats?.prompts,
    passage: stats?.passages.count,
  }
  const options = [
    { value: '', text: 'All kinds' },
    // Only an address can select two kinds.
    ...(kinds.length > 1 && !isAll
      ? [{ value: kinds.join(), text: kinds.map((kind) => KIND_NAMES[kind]).join(', ') }]
      : []),
    ...HIT_KINDS.map((kind) => {
      const count = counts[kind]
      return { value: kind, text: `${KIND_NAMES[kind]} ${count === undefined ? '' : `(${compactCount(count)})`}` }
    }),
  ]
  const onSelect = (value: string) =>
    onChange({ kinds: value === '' ? HIT_KINDS : HIT_KINDS.filter((kind) => kind === value) })
  return (
    <Select
      class="memory-choice"
      label="Kind"
      value={isAll ? '' : kinds.join()}
      options={options}
      onSelect={onSelect}
    />
  )
}

function Toggles({ filters: { types, pinned }, onChange, stats }: FilterProps & { stats: MemoryStatsAnswer | null }) {
  return (
    <fieldset class="memory-toggles wrap">
      <legend class="unseen">Show only</legend>
      <Toggle icon="pin" count={stats?.pinned} on={pinned} onToggle={() => onChange({ pinned: !pinned })}>
        pinned
      </Toggle>
      <span class="memory-toggles-gap" />
      {OBSERVATION_TYPES.map((type) => {
        const on = types.includes(type)
        const next = on ? types.filter((one) => one !== type) : [...types, type]
        return (
          <Toggle key={type} icon={type} count={stats?.types[type]} on={on} onToggle={() => onChange({ types: next })}>
            {type}
          </Toggle>
        )
      })}
    </fieldset>
  )
}

interface ToggleProps {
  icon: (typeof OBSERVATION_TYPES)[number] | 'pin'
  count: number | undefined
  on: boolean
  onToggle(): void
  children: ComponentChildren
}

function Toggle({ icon, count, on, onToggle, children }: ToggleProps) {
  return (
    <button type="button" class="memory-toggle" aria-pressed={on} onClick={onToggle}>
      <span style={{ color: `var(--${icon}, inherit)` }}>
        <Icon name={icon} size={14} />
      </span>
      {children}
      {count === undefined ? null : (
        <span class="figure soft" title={fullCount(count)}>
          {compactCount(count)}
        </span>
      )}
    </button>
  )
}

function MoreFilters({ filters: { concepts, files, since, until }, onChange }: FilterProps) {
  const add = (words: readonly string[], word: string) => [...new Set([...words, word])]
  return (
    <div class="memory-more">
      <WordField
        label="Concept"
        placeholder="how-it-works"
        onAdd={(word) => onChange({ concepts: add(concepts, word) })}
      />
      <WordField label="File" placeholder="part of a path" onAdd={(word) => onChange({ files: add(files, word) })} />
      <WordField label="Author" placeholder="me, or a member" onAdd={(author) => onChange({ author })} />
      <label class="stack small soft">
        From
        <input
          type="date"
          value={dayValue(since)}
          max={dayValue(until)}
          onChange={(event) => onChange({ since: parseMoment(event.currentTarget.value, 'start', Date.now()) })}
        />
      </label>
      <label class="stack small soft">
        To
        <input
          type="date"
          value={dayValue(until)}
          min={dayValue(since)}
          onChange={(event) => onChange({ until: parseMoment(event.currentTarget.value, 'end', Date.now()) })}
        />
      </label>
    </div>
  )
}

/** Enter, or leaving the field, adds the word. */
function WordField({ label, placeholder, onAdd }: { label: string; placeholder: string; onAdd(word: string): void }) {
  const [typed, setTyped] = useState('')
  const add = () => {
    const word = typed.trim()
    if (word === '') return
    onAdd(word)
    setTyped('')
  }
  return (
    <label class="stack small soft">
      {label}
      <input
        value={typed}
        placeholder={placeholder}
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add()
        }}
      />
    </label>
  )
}

/** As date fields need it. */
function dayValue(at: number | null): string {
  return at === null ? '' : formatDate(at)
}

/** Filters that have a control of their own are not listed. */
const WITH_CONTROL: readonly string[] = (['project', 'kinds', 'types', 'pinned'] as const).map(
  (name) => SEARCH_FILTERS[name].param,
)

function listedFilters(filters: SearchFilters) {
  return activeFilters(filters).filter(({ param }) => !WITH_CONTROL.includes(param))
}

/** The active filters, each with a button to remove it. */
function ActiveFilters({ filters, onChange }: FilterProps) {
  if (activeFilters(filters).length === 0) return null
  return (
    <ul class="row wrap" aria-label="Active filters">
      {listedFilters(filters).map(({ param, value, without }) => {
        const text = `${param}: ${typeof value === 'number' ? dayValue(value) : safeLine(String(value), 60)}`
        return (
          <li key={text} class="chip accent removable">
            <span class="ellipsis">{text}</span>
            <button
              type="button"
              aria-label={`Remove the filter ${text}`}
              title="Remove this filter"
              onClick={() => onChange(without)}
            >
              <Icon name="close" size={12} />
            </button>
          </li>
        )
      })}
      <li>
        <button type="button" class="plain small-button" onClick={() => onChange(EMPTY_MEMORY_QUERY.filters)}>
          Clear all filters
        </button>
      </li>
    </ul>
  )
}
