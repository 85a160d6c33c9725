/** The store on the calling thread: for tests and small tools. */

import { SqliteCore } from './core.ts'
import { type SqliteStore, StoreFacade } from './facade.ts'
import type { OpenOptions } from './open.ts'

export async function openLocalStore(options: OpenOptions): Promise<SqliteStore> {
  const core = await SqliteCore.open(options)
  return new StoreFacade((method, ...args) => core.call(method, args))
}
