/** Small elements that several views share. */
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

interface EmptyStateProps {
  icon: IconName
  title: string
  children?: ComponentChildren
}

export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <div class="empty">
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
    <div class="error-notice" role="alert">
      <Icon name="warn" />
      <p>{text}</p>
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
    <div class="loading" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  )
}

/** A value against a limit. A limit of 0 is always full. */
export function Meter({ label, value, of, text }: { label: string; value: number; of: number; text: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 1
  const level = share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'fine'
  return (
    <div class={`meter ${level}`}>
      <p class="meter-words">
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
        <span style={{ width: `${share * 100}%` }} />
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
    <dl class={`figures ${className}`}>
      {figures.map(({ name, value, about, tone }) => (
        <div key={name} title={about} class={tone}>
          <dd class="figure">{value}</dd>
          <dt>{name}</dt>
        </div>
      ))}
    </dl>
  )
}

interface SelectProps {
  label: string
  value: string
  options: readonly { value: string; text: string }[]
  onSelect(value: string): void
  class?: string
}

/** A select field whose label is only for screen readers. */
export function Select({ label, value, options, onSelect, class: className }: SelectProps) {
  return (
    <select
      class={className}
      aria-label={label}
      value={value}
      onChange={(event) => onSelect(event.currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
}
