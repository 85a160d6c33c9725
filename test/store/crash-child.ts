/** Run by the crash tests as a process of its own, which an armed fault point kills. */
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { accepting, commitOf, toolUse } from './samples.ts'

const [databaseFile = '', backupsDir = '', step = ''] = process.argv.slice(2)
const store = await openLocalStore({ databaseFile, backupsDir })
if (step === 'commit') {
  await store.commit([accepting('a', 1, [toolUse('a', '1')]), commitOf('b', 1)])
} else if (step === 'backup') {
  await store.commit([commitOf('a', 1)])
  await store.backup('daily', 7)
}
await store.close()
