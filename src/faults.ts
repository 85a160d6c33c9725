/**
 * Named fault points: where a process may die so that tests and the chaos script can open each race. They do nothing
 * unless armed by CLAUDE_MEM_FAULT="point:n[,point:n]": the n-th passage of a point kills the process at once, as
 * `kill -9` would. `commit.lose:p` instead breaks the promise of a commit with probability p, to show that the
 * chaos script notices.
 */
const POINTS = {
  decide: 'an event was accepted into the mailbox, nothing is decided',
  'commit.begin': 'decided, the transaction is not begun',
  'commit.member': 'a member of the group is applied, others are not',
  'commit.before': 'all is applied, nothing is durable',
  'commit.after': 'durable, nobody knows',
  ack: 'durable, the hook is about to be told',
  'effect.start': 'claimed, the observer is not asked',
  'effect.result': 'the observer answered, the answer is not stored',
  'spool.read': 'a spool file is read, its event is not accepted',
  'spool.committed': 'a spooled event is durable, its file still lies there',
  'backup.written': 'a backup is written, not yet under its name',
  'migrate.step': 'a migration is half done',
  listen: 'the spool is read, nobody is listened to',
  drain: 'the daemon is letting go',
} as const

export type FaultPoint = keyof typeof POINTS
export const FAULT_POINTS = Object.keys(POINTS) as FaultPoint[]

const LOSE = 'commit.lose'
const armed = parse(process.env.CLAUDE_MEM_FAULT)

function parse(text: string | undefined): Map<string, number> | null {
  if (text === undefined || text === '') return null
  return new Map(
    text.split(',').map((item) => {
      const [point = '', value = '1'] = item.split(':')
      return [point, Number(value)]
    }),
  )
}

export function fault(point: FaultPoint): void {
  if (armed === null) return
  const left = armed.get(point)
  if (left === undefined) return
  if (left > 1) armed.set(point, left - 1)
  else process.kill(process.pid, 'SIGKILL')
}

export function sabotaged(point: typeof LOSE): boolean {
  return armed !== null && Math.random() < (armed.get(point) ?? 0)
}
