/** A service over a harness: what its doors need, with nothing behind it that a test did not ask for. */
import type { Memory } from '../../src/channel/memory.ts'
import { Service, type ServiceOptions } from '../../src/channel/service.ts'
import { ContextKeeper } from '../../src/context/keeper.ts'
import type { Paths } from '../../src/paths.ts'
import type { Harness } from '../actors/harness.ts'
import { CONTEXT_SETTINGS } from '../context/samples.ts'

export function serviceOver(
  h: Harness,
  memory: Memory,
  paths: Paths,
  over: Pick<ServiceOptions, 'port'> & Partial<ServiceOptions>,
): Service {
  return new Service({
    supervisor: h.supervisor,
    store: h.store,
    memory,
    keeper: new ContextKeeper({
      reader: h.store,
      directory: paths.context,
      settings: () => CONTEXT_SETTINGS,
      notice: () => undefined,
    }),
    provider: () => ({ name: 'plain', model: null }),
    budget: () => null,
    dataDir: paths.dataDir,
    socket: paths.socket,
    spooled: () => 0,
    keepBackups: () => 3,
    stop: () => undefined,
    ...over,
  })
}
