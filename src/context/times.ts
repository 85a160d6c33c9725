/** Days and times in the user's zone; month names of our own, so that no locale changes what a session gets. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov 16, 2026` */
export function dayOf(at: number): string {
  const date = new Date(at)
  return `${MONTHS[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()}`
}

/** `Nov 16`, with the year where it is not that of `now`. */
export function dayIn(at: number, now: number): string {
  const date = new Date(at)
  if (date.getFullYear() !== new Date(now).getFullYear()) return dayOf(at)
  return `${MONTHS[date.getMonth()]} ${date.getDate()}`
}

/** `14:30` */
export function timeOf(at: number): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}
