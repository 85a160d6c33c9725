import { storeContract } from './contract.ts'
import { MemoryStore } from './memory-store.ts'

storeContract('memory', async () => {
  const store = new MemoryStore()
  return { store, dispose: () => store.close() }
})
