/** Small elements that several views share. */
import type { ComponentChildren } from 'preact'
import { fullCount } from '../format.tsx'
import { Icon, type IconName } from './icon.tsx'

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
export function ErrorNotice({ text, retry }: { text: string | null; retry?: () => void }) {
  if (text === null) return null
  return (
    <div class="error-notice bad row" role="alert">
      <Icon name="warn" />
      <p class="grow">{text}</p>
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function LoadingRows({ rows = 3 }: { rows?: number }) {
  return (
    <div class="loading stack" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  )
}

/** A value against a limit. A limit of 0 is always full. */
export function Meter({ label, value, of, text }: { label: string; value: number; of: number; text: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 1
  const colour = share >= 1 ? '--bad' : share >= 0.8 ? '--warn' : '--live'
  return (
    <div>
      <p class="meter-words wrap spread small soft">
        <span>{label}</span>
        <span class="figure">{text}</span>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a <meter> differently, and it cannot be styled. */}
      <div
        class="track meter-track"
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
export function FigureList({ figures, class: className = '' }: { figures: readonly Figure[]; class?: string }) {
  return (
    <dl class={`figures wrap ${className}`}>
      {figures.map(({ name, value, about, tone }) => (
        <div key={name} title={about} class={`column ${tone ?? ''}`}>
          <dd class="figure">{value}</dd>
          <dt class="smaller soft">{name}</dt>
        </div>
      ))}
    </dl>
  )
}

/** A figure named by what is counted: `3 prompts`. */
export function countFigure(count: number, one: string, about: string, many = `${one}s`): Figure {
  return { name: count === 1 ? one : many, value: fullCount(count), about }
}

interface TableProps {
  /** Headings, with a tooltip where the name does not say enough. */
  columns: readonly (string | { name: string; about: string })[]
  /** For screen readers. */
  caption?: string
  class?: string
  /** The table's body. */
  children: ComponentChildren
}

export function Table({ columns, caption, class: className = '', children }: TableProps) {
  return (
    <table class={`table ${className}`}>
      {caption === undefined ? null : <caption class="unseen">{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column) => {
            const { name, about } = typeof column === 'string' ? { name: column, about: undefined } : column
            return (
              <th key={name} scope="col" title={about}>
                {name}
              </th>
            )
          })}
        </tr>
      </thead>
      {children}
    </table>
  )
}

interface SelectProps<T extends string> {
  /** For screen readers. */
  label: string
  value: T
  options: readonly { value: T; text: string }[]
  onSelect(value: T): void
  class?: string
}

export function Select<T extends string>({ label, value, options, onSelect, class: className }: SelectProps<T>) {
  const select = (index: number) => {
    const option = options[index]
    if (option !== undefined) onSelect(option.value)
  }
  return (
    <select
      class={className}
      aria-label={label}
      value={value}
      onChange={(event) => select(event.currentTarget.selectedIndex)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
}
