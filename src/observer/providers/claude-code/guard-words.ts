/** What the daemon and its guard say to each other. */
export type GuardMessage =
  | { type: 'started'; pid: number }
  | { type: 'failed'; code: string | null; message: string }
  | { type: 'ended'; code: number | null; signal: string | null }

/** All that the daemon ever says. */
export const STOP = 'stop'
