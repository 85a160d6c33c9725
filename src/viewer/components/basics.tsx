/** The elements of which all views are made. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { fullCount } from '../format.tsx'
import { type Query, useLast } from '../queries.ts'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'live' | 'warn' | 'bad' | 'accent'

interface PageProps {
  title: string
  /** Beside the title: fields and buttons. */
  tools?: ComponentChildren
  children: ComponentChildren
}

export function Page({ title, tools, children }: PageProps) {
  return (
    <div class="page stack">
      <header class="row wrap">
        <h1 class="grow">{title}</h1>
        {tools}
      </header>
      {children}
    </div>
  )
}

interface SectionProps {
  title: string
  about?: ComponentChildren
  card?: boolean
  tools?: ComponentChildren
  children: ComponentChildren
}

export function Section({ title, about, card = false, tools, children }: SectionProps) {
  return (
    <section class={card ? 'card stack' : 'stack'} aria-label={title}>
      <header class="row wrap spread">
        <h2>
          {title}
          {about === undefined ? null : <span class="about soft"> {about}</span>}
        </h2>
        {tools}
      </header>
      {children}
    </section>
  )
}

/** What only some look for. Its content is made when it is opened. */
export function Details({ summary, children }: { summary: ComponentChildren; children: ComponentChildren }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="soft small">{summary}</summary>
      {open ? <div class="stack details-body">{children}</div> : null}
    </details>
  )
}

interface NoteProps {
  tone?: Tone | undefined
  /** Read out by a screen reader when it appears. */
  live?: boolean
  children: ComponentChildren
}

export function Note({ tone, live = false, children }: NoteProps) {
  return (
    <p class={`note ${tone ?? ''}`} role={live ? 'status' : undefined}>
      {children}
    </p>
  )
}

export function Chip({ tone, title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`chip ${tone ?? ''}`} title={title} dir="auto">
      {children}
    </span>
  )
}

/** Text between backquotes is code. */
export function CodeText({ text }: { text: string }) {
  return <>{text.split('`').map((piece, i) => (i % 2 === 1 ? <code key={i}>{piece}</code> : piece))}</>
}

interface EmptyStateProps {
  icon: IconName
  title: string
  children?: ComponentChildren
}

export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <div class="empty soft">
      <Icon name={icon} size={34} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Nothing when `text` is null. */
function ErrorNotice({ text, retry }: { text: string | null; retry: () => void }) {
  if (text === null) return null
  return (
    <div class="note bad row" role="alert">
      <p class="grow">{text}</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  )
}

function LoadingRows() {
  return (
    <div class="loading stack" aria-busy="true" role="status" aria-label="Loading">
      <div />
      <div />
      <div />
    </div>
  )
}

interface LoadedProps<T> {
  query: Query<T>
  /** Also rendered with the previous answer while the next one loads. */
  children: (data: T) => ComponentChildren
}

/** The answer of a query when it is there, and what became of the request. */
export function Loaded<T>({ query: { data, error, reload }, children }: LoadedProps<T>) {
  const last = useLast(data)
  return (
    <>
      <ErrorNotice text={error} retry={reload} />
      {last === null ? error === null ? <LoadingRows /> : null : children(last)}
    </>
  )
}

/** A value against a limit. A limit of 0 is always full. */
export function Meter({ label, value, of, text }: { label: string; value: number; of: number; text: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 1
  const colour = share >= 1 ? '--bad' : share >= 0.8 ? '--warn' : '--live'
  return (
    <div>
      <p class="row wrap spread small soft">
        <span>{label}</span>
        <span class="figure">{text}</span>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a <meter> differently, and it cannot be styled. */}
      <div
        class="track"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={text}
      >
        <span style={{ width: `${share * 100}%`, background: `var(${colour})` }} />
      </div>
    </div>
  )
}

export interface Figure {
  name: string
  value: string
  /** Tooltip. */
  about: string
  tone?: 'bad'
}

/** Large numbers, each above its name. */
export function FigureList({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="figures row wrap">
      {figures.map(({ name, value, about, tone }) => (
        <div key={name} title={about} class={tone ?? ''}>
          <dt class="small soft">{name}</dt>
          <dd class="figure">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A figure named by what is counted: `3 prompts`. */
export function countFigure(count: number, one: string, about: string, many = `${one}s`): Figure {
  return { name: count === 1 ? one : many, value: fullCount(count), about }
}

export function Pairs({ rows }: { rows: readonly (readonly [ComponentChildren, ComponentChildren])[] }) {
  return (
    <dl class="pairs">
      {rows.flatMap(([name, value], i) => [
        <dt key={`name ${i}`} class="soft">
          {name}
        </dt>,
        <dd key={`value ${i}`}>{value}</dd>,
      ])}
    </dl>
  )
}

interface TableProps {
  caption: string
  columns: readonly string[]
  /** The first cell is the row's heading. */
  rows: readonly (readonly ComponentChildren[])[]
  /** All columns but the first are numbers. */
  numbers?: boolean
}

/** Scrolls by itself on a narrow screen, so that the page does not. */
export function Table({ caption, columns, rows, numbers = false }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="scroll-box" tabIndex={0} aria-label={caption}>
      <table class={numbers ? 'numbers' : ''}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([heading, ...cells], i) => (
            <tr key={i}>
              <th scope="row">{heading}</th>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface SelectProps<T extends string> {
  /** For screen readers. */
  label: string
  value: T
  options: readonly { value: T; text: string }[]
  onSelect(value: T): void
}

export function Select<T extends string>({ label, value, options, onSelect }: SelectProps<T>) {
  const select = (index: number) => {
    const option = options[index]
    if (option !== undefined) onSelect(option.value)
  }
  return (
    <select aria-label={label} value={value} onChange={(event) => select(event.currentTarget.selectedIndex)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
}

interface FieldProps {
  label: string
  hint?: string | undefined
  /** The input. */
  children: ComponentChildren
}

export function FormField({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the input is in `children`.
    <label class="field small">
      <span>
        {label}
        {hint === undefined ? null : <span class="soft"> {hint}</span>}
      </span>
      {children}
    </label>
  )
}

interface ActionButtonProps {
  icon: IconName
  name: string
  about: string
  onAct(): void
  pressed?: boolean
}

/** A small button for an action on what it stands beside. */
export function ActionButton({ icon, name, about, onAct, pressed }: ActionButtonProps) {
  return (
    <button type="button" class="plain small" aria-pressed={pressed} onClick={onAct} title={about}>
      <Icon name={icon} size={15} />
      {name}
    </button>
  )
}
