/**
 * Named fault points: places where a test or the chaos script can kill the process, to open each race. They do nothing
 * unless enabled by CLAUDE_MEM_FAULT="point:n[,point:n]": the n-th passage of a point kills the process at once, as
 * `kill -9` would. `commit.lose:p` instead drops a commit with probability p although it was acknowledged, to verify
 * that the chaos script detects a lost event. `close.hang` blocks the store's thread when it is closed.
 */
const POINTS = {
  decide: 'the event is in the mailbox, the machine has not decided',
  'commit.begin': 'decided, the transaction has not begun',
  'commit.member': 'one commit of the group is applied, others are not',
  'commit.before': 'all are applied, nothing is durable',
  'commit.after': 'durable, no caller is notified',
  ack: 'durable, the acknowledgement is not sent',
  'effect.start': 'the effect is claimed, the observer is not called',
  'passages.stored': 'some passages of the effect are durable, the observer is not called',
  'effect.result': 'the observer answered, the answer is not stored',
  'spool.read': 'a spool file is read, its event is not accepted',
  'spool.committed': 'a spooled event is durable, its file still exists',
  'backup.written': 'a backup is written, not yet renamed',
  'copy.rewritten': 'a backup is rewritten without what was forgotten, not yet renamed',
  'migrate.step': 'a migration is half done',
  listen: 'the spool is read, the daemon does not listen yet',
  drain: 'the daemon is shutting down',
  'install.file': 'some files of a program are copied, others are not',
  'install.copied': 'a program is copied, not yet tried',
  'install.placed': 'a program is complete, another one is in use',
  'install.switch': 'the version before is recorded, not yet left',
  'install.switched': 'a program is in use, older ones still exist',
} as const

export type FaultPoint = keyof typeof POINTS
export const FAULT_POINTS = Object.keys(POINTS) as FaultPoint[]

const LOSE = 'commit.lose'
const HANG = 'close.hang'
const enabled = parse(process.env.CLAUDE_MEM_FAULT)

function parse(text: string | undefined): Map<string, number> | null {
  if (text === undefined || text === '') return null
  return new Map(
    text.split(',').map((item) => {
      const [point = '', value = '1'] = item.split(':')
      return [point, Number(value)]
    }),
  )
}

export function faultPoint(point: FaultPoint): void {
  if (enabled === null) return
  const left = enabled.get(point)
  if (left === undefined) return
  if (left > 1) enabled.set(point, left - 1)
  else process.kill(process.pid, 'SIGKILL')
}

export function faultByChance(point: typeof LOSE): boolean {
  return enabled !== null && Math.random() < (enabled.get(point) ?? 0)
}

/** Blocks the thread for ever, as a disk that does not answer would. */
export function faultByBlocking(point: typeof HANG): void {
  if (enabled?.has(point) === true) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
