/** What several views show alike. */
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={34} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export function Trouble({ text, retry }: { text: string; retry?: () => void }) {
  return (
    <div class="trouble" role="alert">
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

/** How much of what may be. `of` 0: nothing may. */
export function Meter({ label, value, of, text }: { label: string; value: number; of: number; text: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 1
  const level = share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'fine'
  return (
    <div class={`meter ${level}`}>
      <div class="meter-words">
        <span>{label}</span>
        <span class="figure">{text}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw their own meter each in another way. */}
      <div
        class="meter-track"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={text}
      >
        <div class="meter-bar" style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}

/** Where what is asked for will stand. */
export function Waiting({ rows = 3 }: { rows?: number }) {
  return (
    <div class="waiting" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="waiting-row" />
      ))}
    </div>
  )
}
