/** Times in the text for an agent, short: the day is named where it differs from the line before. */
import { formatDay, formatTime } from '../domain/dates.ts'

/** Epoch ms of the day whose year needs no mention. */
export type Moment = number

/** `Nov 16 14:30` */
export function moment(at: number, now: Moment): string {
  return `${formatDay(at, now)} ${formatTime(at)}`
}

/** `14:30` on the day of `since`, else `Nov 16 14:30`. */
export function momentAfter(at: number, since: number, now: Moment): string {
  return formatDay(at, now) === formatDay(since, now) ? formatTime(at) : moment(at, now)
}
