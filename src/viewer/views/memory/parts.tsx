/** What observations, summaries and prompts show alike. */
import type { ComponentChildren } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { tell } from '../../parts/toast.tsx'
import { hrefOf } from '../../route.ts'
import { clockTime, exactTime, shortDayOf } from '../../times.ts'
import { ASKED_FOR_ALL, memoryHref } from './asked.ts'

/** Of a long list: the rest is counted. */
const MOST_FILES = 60

export function Prose({ text }: { text: string }) {
  return (
    <p class="memory-prose" dir="auto">
      {safe(text)}
    </p>
  )
}

/** Paths that can be taken along, each with a way to what else is known of it. */
export function Files({ label, files }: { label: string; files: readonly string[] }) {
  if (files.length === 0) return null
  return (
    <div class="memory-files">
      <h4>{label}</h4>
      <ul>
        {files.slice(0, MOST_FILES).map((file) => (
          <li key={file}>
            <a
              class="mono"
              href={memoryHref({ ...ASKED_FOR_ALL, files: [file.slice(0, 200)] })}
              title="What else is known of it"
            >
              {safeLine(file, 400)}
            </a>
            <Copy text={file} what="path" />
          </li>
        ))}
      </ul>
      {files.length > MOST_FILES ? <p class="soft">and {files.length - MOST_FILES} more</p> : null}
    </div>
  )
}

export function Copy({ text, what }: { text: string; what: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      tell(`Copied the ${what}.`)
    } catch {
      tell(`The browser does not let this page copy the ${what}.`, true)
    }
  }
  return (
    <button
      type="button"
      class="plain memory-copy"
      onClick={() => void copy()}
      aria-label={`Copy the ${what} ${safeLine(text, 80)}`}
    >
      Copy
    </button>
  )
}

/** Where and when. */
export function Place({ session, turn, at, children }: PlaceProps) {
  const query = turn > 0 ? { turn: `${turn}` } : {}
  return (
    <ul class="memory-place soft">
      {children}
      <li>
        <Icon name="clock" size={14} />
        <time class="figure" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
          {shortDayOf(at)}, {clockTime(at)}
        </time>
      </li>
      <li>
        <Icon name="sessions" size={14} />
        <a href={hrefOf('session', session, query)} title={safeLine(session)}>
          session {safeLine(session.slice(0, 8))}
          {turn > 0 ? `, turn ${turn}` : ''}
        </a>
      </li>
    </ul>
  )
}

interface PlaceProps {
  session: string
  /** 0: of none. */
  turn: number
  at: number
  children?: ComponentChildren
}
