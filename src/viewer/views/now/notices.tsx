/** What the daemon wants people to know, newest first, until they have read it. */
import { Cell, useCell } from '../../cell.ts'
import { status } from '../../model/status.ts'
import { Icon } from '../../parts/icon.tsx'
import { safe } from '../../parts/safe-text.ts'
import { Ago } from '../../parts/time.tsx'

/** For this tab: a notice that comes again has another time. */
const KEPT_AS = 'claude-mem-read-notices'
const read = new Cell<ReadonlySet<string>>(kept())
/** More are a list to be opened. */
const SHOWN = 3
/** A notice is a sentence or two, in characters. */
const LONGEST = 600

export function Notices() {
  const notices = useCell(status)?.notices ?? []
  const dismissed = useCell(read)
  const left = notices.filter((notice) => !dismissed.has(keyOf(notice))).reverse()
  if (left.length === 0) return null
  return (
    <section aria-label="Notices" class="now-notices">
      <ul>
        {left.slice(0, SHOWN).map((notice) => (
          <li key={keyOf(notice)} class={`now-notice ${notice.level}`}>
            <Icon name={notice.level === 'info' ? 'help' : 'warn'} />
            <p>
              {safe(notice.text, LONGEST)}{' '}
              <span class="soft">
                <Ago at={notice.at} />
              </span>
            </p>
            <button type="button" class="plain" aria-label="Dismiss" title="Dismiss" onClick={() => dismiss([notice])}>
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {left.length > SHOWN ? (
        <button type="button" class="plain" onClick={() => dismiss(left)}>
          Dismiss all {left.length}
        </button>
      ) : null}
    </section>
  )
}

interface Kept {
  at: number
  text: string
}

const keyOf = ({ at, text }: Kept) => `${at} ${text.slice(0, 40)}`

function dismiss(notices: readonly Kept[]): void {
  read.set(new Set([...read.value, ...notices.map(keyOf)]))
  sessionStorage.setItem(KEPT_AS, JSON.stringify([...read.value]))
}

function kept(): ReadonlySet<string> {
  try {
    const keys: unknown = JSON.parse(sessionStorage.getItem(KEPT_AS) ?? '[]')
    return new Set(Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [])
  } catch {
    // Somebody else wrote it: nothing was read yet.
    return new Set()
  }
}
