/** The head of the memory view: search field and filters. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MAX_QUERY_CHARS } from '../../../api/schemas.ts'
import { formatDate, parseMoment } from '../../../domain/dates.ts'
import { OBSERVATION_TYPES } from '../../../domain/observation.ts'
import { HIT_KINDS, SEARCH_FILTERS, type SearchFilters } from '../../../domain/search-query.ts'
import { Details, FormField, Select } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { SEARCH_FIELD_ID } from '../../keyboard.ts'
import { useProjects } from '../../queries.ts'
import { replaceRoute } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { activeFilters, EMPTY_MEMORY_QUERY, type MemoryQuery, memoryHref } from './memory-query.ts'

/** Pause after a key before the search starts, in ms. */
const TYPING_MS = 120
/** The daemon's limit: the type makes sure that it is the same. Importing it would add zod to the page. */
const QUERY_CHARS: typeof MAX_QUERY_CHARS = 10_000

interface SearchBarProps {
  query: MemoryQuery
  /** The opened memory stays open while filters change. */
  openId: string | null
}

interface FilterProps {
  filters: SearchFilters
  onChange(change: Partial<SearchFilters>): void
}

export function SearchBar({ query: { text, filters }, openId }: SearchBarProps) {
  const onText = (next: string) => replaceRoute(memoryHref({ text: next, filters }, openId))
  const onChange = (change: Partial<SearchFilters>) =>
    replaceRoute(memoryHref({ text, filters: { ...filters, ...change } }, openId))
  return (
    <search class="stack">
      <SearchField text={text} onText={onText} />
      <div class="row wrap">
        <ProjectSelect filters={filters} onChange={onChange} />
        <KindSelect filters={filters} onChange={onChange} />
        <TypeSelect filters={filters} onChange={onChange} />
        <label class="check">
          <input type="checkbox" checked={filters.pinned} onChange={() => onChange({ pinned: !filters.pinned })} />
          Pinned
        </label>
      </div>
      <Details summary="More filters">
        <MoreFilters filters={filters} onChange={onChange} />
      </Details>
      <ActiveFilters filters={filters} onChange={onChange} />
    </search>
  )
}

function SearchField({ text, onText }: { text: string; onText(text: string): void }) {
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
    <div class="search-field">
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
    </div>
  )
}

function ProjectSelect({ filters: { project }, onChange }: FilterProps) {
  const projects = useProjects().projects ?? []
  const isUnknown = project !== null && !projects.some(({ key }) => key === project)
  const options = [
    { value: '', text: 'All projects' },
    ...(isUnknown ? [{ value: project, text: safeLine(project, 60) }] : []),
    ...projects.map(({ key, name }) => ({ value: key, text: safeLine(name, 60) })),
  ]
  const onSelect = (value: string) => onChange({ project: value === '' ? null : value })
  return <Select label="Project" value={project ?? ''} options={options} onSelect={onSelect} />
}

const KIND_NAMES = {
  observation: 'Observations',
  summary: 'Summaries',
  prompt: 'Prompts',
  passage: 'Passages',
} as const

function KindSelect({ filters: { kinds }, onChange }: FilterProps) {
  const options = [
    { value: '', text: 'Any kind' },
    // Only an address can select two kinds.
    ...(kinds.length > 1 ? [{ value: kinds.join(), text: kinds.map((kind) => KIND_NAMES[kind]).join(', ') }] : []),
    ...HIT_KINDS.map((kind) => ({ value: kind, text: KIND_NAMES[kind] })),
  ]
  const onSelect = (value: string) => onChange({ kinds: HIT_KINDS.filter((kind) => kind === value) })
  return <Select label="Kind" value={kinds.join()} options={options} onSelect={onSelect} />
}

function TypeSelect({ filters: { types }, onChange }: FilterProps) {
  const options = [
    { value: '', text: 'Any type' },
    ...(types.length > 1 ? [{ value: types.join(), text: types.join(', ') }] : []),
    ...OBSERVATION_TYPES.map((type) => ({ value: type, text: type })),
  ]
  const onSelect = (value: string) => onChange({ types: OBSERVATION_TYPES.filter((type) => type === value) })
  return <Select label="Type" value={types.join()} options={options} onSelect={onSelect} />
}

function MoreFilters({ filters: { concepts, files, since, until }, onChange }: FilterProps) {
  const add = (words: readonly string[], word: string) => [...new Set([...words, word])]
  return (
    <div class="field-grid">
      <WordField
        label="Concept"
        placeholder="how-it-works"
        onAdd={(word) => onChange({ concepts: add(concepts, word) })}
      />
      <WordField label="File" placeholder="part of a path" onAdd={(word) => onChange({ files: add(files, word) })} />
      <WordField label="Author" placeholder="me, or a member" onAdd={(author) => onChange({ author })} />
      <FormField label="From">
        <input
          type="date"
          value={dayValue(since)}
          max={dayValue(until)}
          onChange={(event) => onChange({ since: parseMoment(event.currentTarget.value, 'start', Date.now()) })}
        />
      </FormField>
      <FormField label="To">
        <input
          type="date"
          value={dayValue(until)}
          min={dayValue(since)}
          onChange={(event) => onChange({ until: parseMoment(event.currentTarget.value, 'end', Date.now()) })}
        />
      </FormField>
    </div>
  )
}

/** Enter, or leaving the field, adds the word. */
function WordField({ label, placeholder, onAdd }: { label: string; placeholder: string; onAdd(word: string): void }) {
  const add = (field: HTMLInputElement) => {
    const word = field.value.trim()
    field.value = ''
    if (word !== '') onAdd(word)
  }
  return (
    <FormField label={label}>
      <input
        placeholder={placeholder}
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        onBlur={(event) => add(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add(event.currentTarget)
        }}
      />
    </FormField>
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

/** The active filters, each with a button to remove it. */
function ActiveFilters({ filters, onChange }: FilterProps) {
  const active = activeFilters(filters)
  if (active.length === 0) return null
  return (
    <ul class="row wrap" aria-label="Active filters">
      {active
        .filter(({ param }) => !WITH_CONTROL.includes(param))
        .map(({ param, value, without }) => {
          const text = `${param}: ${typeof value === 'number' ? dayValue(value) : safeLine(String(value), 60)}`
          return (
            <li key={text} class="chip accent">
              <span class="ellipsis">{text}</span>
              <button
                type="button"
                class="plain"
                aria-label={`Remove the filter ${text}`}
                onClick={() => onChange(without)}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          )
        })}
      <li>
        <button type="button" class="plain small" onClick={() => onChange(EMPTY_MEMORY_QUERY.filters)}>
          Clear all filters
        </button>
      </li>
    </ul>
  )
}
