/** One line of the daemon's log for people. */
import type { LogEntry } from '../log-files.ts'
import type { Look, Paint, Style } from '../style.ts'
import { clean } from '../text.ts'
import { clockTime } from '../times.ts'

const LEVELS: Record<number, { name: string; paint: keyof Style }> = {
  10: { name: 'trace', paint: 'dim' },
  20: { name: 'debug', paint: 'dim' },
  30: { name: 'info', paint: 'green' },
  40: { name: 'warn', paint: 'yellow' },
  50: { name: 'error', paint: 'red' },
  60: { name: 'fatal', paint: 'red' },
}
const KNOWN = new Set(['level', 'time', 'pid', 'hostname', 'msg'])

export function logLine(entry: LogEntry, look: Look): string {
  const { style } = look
  const level = LEVELS[Number(entry.level)]
  const paint: Paint = level === undefined ? style.dim : style[level.paint]
  const details = Object.entries(entry)
    .filter(([name]) => !KNOWN.has(name))
    .map(([name, value]) => ({ name, text: shown(value) }))
    // Many sentences end with the words of their error.
    .filter(({ name, text }) => name !== 'error' || !String(entry.msg).includes(text))
    .map(({ name, text }) => style.dim(clean(`${name}=${text}`)))
  const at = Date.parse(String(entry.time))
  const time = Number.isNaN(at) ? [] : [style.dim(clockTime(at, look.now))]
  const text = typeof entry.msg === 'string' ? [clean(entry.msg)] : []
  return [...time, ...(level === undefined ? [] : [paint(level.name.padEnd(5))]), ...text, ...details].join(' ')
}

/** An error is its sentence; the stack is in the file. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message)
  return JSON.stringify(value)
}
