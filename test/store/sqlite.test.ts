import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { storeContract } from './contract.ts'
import { place } from './place.ts'

storeContract('SQLite', async () => {
  const { options, dispose } = place()
  const store = await openLocalStore(options)
  return {
    store,
    dispose: async () => {
      await store.close()
      dispose()
    },
  }
})
