/** What the list is asked for: a text, filters, and what the answer says of itself. */
import { useRef, useState } from 'preact/hooks'
import { OBSERVATION_TYPES } from '../../../memory/observation.ts'
import { MEMORY_KINDS, type MemoryKind } from '../../../search/query.ts'
import { useCell } from '../../cell.ts'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { useNews } from '../../news.ts'
import { Icon } from '../../parts/icon.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { replace } from '../../route.ts'
import { count, duration, short } from '../../times.ts'
import { type Asked, filterCount, memoryHref } from './asked.ts'
import { ActiveFilters, MoreFilters } from './filters.tsx'
import { changesMemory } from './news.ts'
import type { Answered, MemoryRows } from './rows.ts'
import { SearchField } from './search-field.tsx'

/** Counting a large memory takes a moment, in ms. */
const COUNT_AGAIN_MS = 3_000

const KIND_NAMES = { observation: 'Observations', summary: 'Summaries', prompt: 'Prompts' } as const

interface HeadProps {
  asked: Asked
  /** What is open beside the list stays open while filters change. */
  open: string | null
  rows: MemoryRows
  onRemember(): void
}

export function MemoryHead({ asked, open, rows, onRemember }: HeadProps) {
  useCell(rows.version)
  const [more, setMore] = useState(false)
  const project = asked.project === '' ? null : asked.project
  // Counting a large memory takes half a second: the first rows go before it.
  const hasRows = useRef(false)
  hasRows.current ||= rows.answered !== null
  const { data: stats, reload } = useLoaded(`stats ${project} ${hasRows.current}`, async () =>
    hasRows.current ? (await ask('memory_stats', { type: 'memory_stats', project })).stats : null,
  )
  useNews(changesMemory, COUNT_AGAIN_MS, reload)
  const set = (change: Partial<Asked>) => replace(memoryHref({ ...asked, ...change }, open))
  const hidden = filterCount({ ...asked, kinds: [], types: [], pinned: false, project: '' })
  return (
    <header class="memory-head">
      <div class="memory-head-line">
        <h1>Memory</h1>
        <p class="memory-said soft" role="status" data-testid="memory-said">
          {rows.answered === null ? '' : <Said answered={rows.answered} shown={rows.kept.count} />}
        </p>
        <button type="button" onClick={onRemember} aria-label="Remember something" title="Remember something">
          <Icon name="edit" size={15} />
          <span class="memory-remember">Remember…</span>
        </button>
      </div>
      <div class="memory-head-line">
        <SearchField text={asked.text} busy={rows.loading} onText={(text) => set({ text })} />
        <KindChoice kinds={asked.kinds} stats={stats} onKinds={(kinds) => set({ kinds })} />
        <ProjectChoice project={asked.project} onProject={(project) => set({ project })} />
        <button type="button" aria-expanded={more} aria-controls="memory-more" onClick={() => setMore(!more)}>
          <Icon name="settings" size={15} />
          Filters
          {hidden === 0 ? null : <span class="memory-badge figure">{hidden}</span>}
        </button>
      </div>
      <div id="memory-more" hidden={!more}>
        {more ? <MoreFilters asked={asked} onSet={set} /> : null}
      </div>
      <Toggles asked={asked} stats={stats} onSet={set} />
      <ActiveFilters asked={asked} onSet={set} />
    </header>
  )
}

const MODES = {
  filter: '',
  strict: 'word for word',
  semantic: 'by meaning',
  hybrid: 'by words and meaning',
} as const

function Said({ answered, shown }: { answered: Answered; shown: number }) {
  const { mode, total, tookMs, notes } = answered
  if (mode === 'filter') {
    return (
      <span class="figure">
        {count(shown)} {shown === 1 ? 'memory' : 'memories'}
      </span>
    )
  }
  return (
    <span class="figure" title={notes.map((note) => safeLine(note)).join('\n')}>
      {shown < total ? `the best ${count(shown)} of ${count(total)}` : `${count(shown)} found`}, {MODES[mode]}, in{' '}
      {duration(tookMs)}
      {notes.map((note) => (
        <span key={note} class="memory-note">
          {safeLine(note)}
        </span>
      ))}
    </span>
  )
}

type Stats = Awaited<ReturnType<typeof ask<'memory_stats'>>>['stats']

interface KindChoiceProps {
  kinds: readonly MemoryKind[]
  stats: Stats | null
  onKinds(kinds: readonly MemoryKind[]): void
}

function ProjectChoice({ project, onProject }: { project: string; onProject(project: string): void }) {
  const { data } = useLoaded('projects', async () => (await ask('projects', { type: 'projects' })).projects)
  const projects = data ?? []
  const isKnown = project === '' || projects.some(({ key }) => key === project)
  return (
    <select
      class="memory-choice"
      aria-label="Project"
      value={project}
      onChange={(event) => onProject(event.currentTarget.value)}
    >
      <option value="">All projects</option>
      {isKnown ? null : <option value={project}>{safeLine(project, 60)}</option>}
      {projects.map(({ key, name, observations }) => (
        <option key={key} value={key}>
          {safeLine(name, 60)} ({short(observations)})
        </option>
      ))}
    </select>
  )
}

function KindChoice({ kinds, stats, onKinds }: KindChoiceProps) {
  const counts = { observation: stats?.observations, summary: stats?.summaries, prompt: stats?.prompts }
  const [only] = kinds
  return (
    <select
      class="memory-choice"
      aria-label="Kind"
      value={kinds.join()}
      onChange={(event) => onKinds(MEMORY_KINDS.filter((kind) => kind === event.currentTarget.value))}
    >
      <option value="">All kinds</option>
      {/* An address may name two. */}
      {only !== undefined && kinds.length > 1 ? (
        <option value={kinds.join()}>{kinds.map((kind) => KIND_NAMES[kind]).join(', ')}</option>
      ) : null}
      {MEMORY_KINDS.map((kind) => (
        <option key={kind} value={kind}>
          {KIND_NAMES[kind]} {counts[kind] === undefined ? '' : `(${short(counts[kind])})`}
        </option>
      ))}
    </select>
  )
}

function Toggles({ asked, stats, onSet }: { asked: Asked; stats: Stats | null; onSet(change: Partial<Asked>): void }) {
  return (
    <fieldset class="memory-toggles">
      <legend class="unseen">Show only</legend>
      <Toggle
        name="pinned"
        icon="pin"
        counted={stats?.pinned}
        on={asked.pinned}
        onToggle={() => onSet({ pinned: !asked.pinned })}
      />
      <span class="memory-toggles-gap" />
      {OBSERVATION_TYPES.map((type) => (
        <Toggle
          key={type}
          name={type}
          icon={type}
          counted={stats?.types[type]}
          on={asked.types.includes(type)}
          onToggle={() => onSet({ types: toggled(asked.types, type) })}
        />
      ))}
    </fieldset>
  )
}

interface ToggleProps {
  name: string
  icon: (typeof OBSERVATION_TYPES)[number] | 'pin'
  counted: number | undefined
  on: boolean
  onToggle(): void
}

function Toggle({ name, icon, counted, on, onToggle }: ToggleProps) {
  return (
    <button type="button" class={`memory-toggle toggle-${icon}`} aria-pressed={on} onClick={onToggle}>
      <Icon name={icon} size={14} />
      {name}
      {counted === undefined ? null : (
        <span class="figure soft" title={count(counted)}>
          {short(counted)}
        </span>
      )}
    </button>
  )
}

function toggled<T>(chosen: readonly T[], one: T): T[] {
  return chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]
}
