/** Icons: one SVG path each, in the colour of the surrounding text. */
import type { ObservationType } from '../../domain/observation.ts'
import type { HitKind } from '../../domain/search-query.ts'

const PATHS = {
  start: 'M3 2.6h7l4 4v7.8H3zM10 2.6v4h4M6 9h5M6 11.6h5',
  memory: 'M8.5 2 15 5.2 8.5 8.4 2 5.2zM2.4 8.6l6.1 3 6.1-3M2.4 12l6.1 3 6.1-3',
  sessions: 'M3 4h11M3 8.5h11M3 13h7',
  usage: 'M3 14V9M7 14V3M11 14V6M15 14v-3',
  settings: 'M2 5h6M12 5h3M2 12h3M9 12h6M10 3v4M7 10v4',
  team: 'M6 8.2a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8ZM1.8 14c0-2.6 1.8-4 4.2-4s4.2 1.4 4.2 4M11 3.6a2.3 2.3 0 0 1 0 4.4M12 10.2c2 .3 3.2 1.6 3.2 3.8',
  bugfix:
    'M8.5 5.2a3.3 3.3 0 0 1 3.3 3.3v2a3.3 3.3 0 1 1-6.6 0v-2a3.3 3.3 0 0 1 3.3-3.3ZM6.6 5.4 5.4 3.4M10.4 5.4l1.2-2M5.2 9.2H2.6M14.4 9.2h-2.6M5.4 12l-2 1.6M11.6 12l2 1.6M8.5 7v6',
  feature: 'M8.5 2.2 10 7l4.8 1.5L10 10l-1.5 4.8L7 10 2.2 8.5 7 7zM13.6 2.4v2.4M12.4 3.6h2.4',
  refactor: 'M13.6 7A5.3 5.3 0 0 0 4 5.6M3.4 10A5.3 5.3 0 0 0 13 11.4M4 2.8v3h3M13 14.2v-3h-3',
  decision: 'M8.5 2.4v12M5 14.6h7M3.4 5h10.2M3.4 5 1.6 9.6h3.6zM13.6 5l-1.8 4.6h3.6z',
  discovery: 'M7.5 3a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2ZM11 11l3.6 3.6M7.5 5.4a2.2 2.2 0 0 0-2.2 2.2',
  change: 'M3 14l.8-3.4L11 3.4l2.6 2.6-7.2 7.2zM9.6 4.8l2.6 2.6',
  summary: 'M4 2.6h9v12H4zM6.4 6h4.2M6.4 8.6h4.2M6.4 11.2h2.4',
  prompt: 'M2.6 3.6h12v8H8.4L5 14.4v-2.8H2.6zM5.6 6.6h6M5.6 8.8h4',
  passage: 'M3 4.4h4.4v4.2c0 2-1 3.4-3.2 4M9.6 4.4H14v4.2c0 2-1 3.4-3.2 4',
  search: 'M7.4 2.8a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2ZM10.8 10.8l3.8 3.8',
  pin: 'M6 2.6h5M6.8 2.6v4L5 9.2h7L10.2 6.6v-4M8.5 9.2v5.4',
  close: 'M4 4l9 9M13 4l-9 9',
  back: 'M10.5 3.5 5.5 8.5l5 5',
  trash: 'M3.4 4.6h10.2M6.6 4.6V3h3.8v1.6M4.6 4.6l.7 9.4h6.4l.7-9.4M7.2 7.2v4.4M9.8 7.2v4.4',
  edit: 'M3 14l.8-3.4L11 3.4l2.6 2.6-7.2 7.2z',
  help: 'M8.5 2.6a5.9 5.9 0 1 1 0 11.8 5.9 5.9 0 0 1 0-11.8ZM6.7 6.8a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.3M8.5 11.8v.1',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 17 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 17 17" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}

/** Icon and colour of a kind of memory, with its name for screen readers. */
export function KindIcon({ kind }: { kind: ObservationType | Exclude<HitKind, 'observation'> }) {
  return (
    <span class="kind-icon" style={{ color: `var(--${kind})` }} title={kind}>
      <Icon name={kind} size={15} />
      <span class="unseen">{kind}</span>
    </span>
  )
}
