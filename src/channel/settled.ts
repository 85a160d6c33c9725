import type { Supervisor } from '../actors/supervisor.ts'
import type { Store } from '../store/port.ts'

/** How long closing or flushing a session waits for its effect, in ms. */
const SETTLE_MS = 5_000

/** Until the session (null: every session) has nothing in flight, or time is up. */
export async function settled(
  supervisor: Pick<Supervisor, 'subscribe'>,
  store: Pick<Store, 'unfinishedEffects' | 'session'>,
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
    const look = () => busy().then((still) => (still ? undefined : done()), reject)
    const timer = setTimeout(done, SETTLE_MS)
    const unsubscribe = supervisor.subscribe((item) => {
      if (session === null || (item.type === 'commit' && item.session === session)) void look()
    })
    void look()
  })
}
