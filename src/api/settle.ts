/** Waiting for the effects of sessions. */
import type { DaemonContext } from './context.ts'

/** Resolves when the session (null: every session) has no effect in flight, or after CLAUDE_MEM_DELETE_TIMEOUT. */
export async function waitUntilSettled(
  { supervisor, store, process }: Pick<DaemonContext, 'supervisor' | 'store' | 'process'>,
  session: string | null,
): Promise<void> {
  const busy = async () => {
    if (session === null) return (await store.unfinishedEffects()).length > 0
    return (await store.session(session))?.effect != null
  }
  await new Promise<void>((resolve, reject) => {
    const done = () => {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
    const check = () => busy().then((still) => (still ? undefined : done()), reject)
    const timer = setTimeout(done, process.settleTimeoutMs())
    const unsubscribe = supervisor.subscribe((item) => {
      if (session === null || (item.type === 'commit' && item.session === session)) void check()
    })
    void check()
  })
}
