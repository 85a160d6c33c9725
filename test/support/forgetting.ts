/** Forgetting without session actors, for tests whose sessions only exist as rows. */
import type { Forgetting } from '../../src/daemon/forgetting.ts'

type Sessions = ConstructorParameters<typeof Forgetting>[0]['sessions']

export const NO_ACTORS: Sessions = {
  whileForgetting: (_scopes, forget) => forget(),
  eraseSession: (_session, erase) => erase(),
}
