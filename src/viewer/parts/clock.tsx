/** A moment of a day to the second: lines that follow each other closely are told apart. */
import { exactTime } from '../times.ts'
import './clock.css'

const seconds = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

export function Clock({ at }: { at: number }) {
  return (
    <time class="clock figure soft" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {seconds.format(at)}
    </time>
  )
}
