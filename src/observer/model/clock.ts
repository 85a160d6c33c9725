/** Dates and times as the user's machine has them, in digits that no locale changes. */
const two = (n: number) => String(n).padStart(2, '0')

/** `2026-11-16` */
export function dateOf(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** `14:02:11` */
export function clockOf(at: number): string {
  const date = new Date(at)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** `+01:00`: what the local clock was ahead of UTC at that time. */
export function offsetOf(at: number): string {
  const ahead = -new Date(at).getTimezoneOffset()
  const minutes = Math.abs(ahead)
  return `${ahead < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
