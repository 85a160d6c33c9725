import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import { MemError } from '../../src/lib/errors.ts'
import { openStore } from '../../src/store/sqlite/client.ts'
import { type Bundle, bundle } from './bundle.ts'
import { committed, storeContract } from './contract.ts'
import { place } from './place.ts'
import { accepting, commitOf, NOW, observationOf, toolUse, turnOf } from './samples.ts'

let worker: Bundle
beforeAll(() => {
  worker = bundle('src/store/sqlite/worker.ts', 'store-worker.mjs', {
    'backup-worker.js': 'src/store/recovery/backup-worker.ts',
  })
})
afterAll(() => worker.dispose())

storeContract('SQLite on its own thread', async () => {
  const here = place()
  const store = await openStore({ ...here.options, workerFile: worker.file })
  return {
    store,
    dispose: async () => {
      await store.close()
      here.dispose()
    },
  }
})

describe('the store thread', () => {
  test('thread.errorsKeepTheirCode', async () => {
    const here = place()
    const store = await openStore({ ...here.options, workerFile: worker.file })
    const failure = await store.quarantine('nobody', 'x', NOW).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(MemError)
    expect(failure).toMatchObject({
      code: 'not_found',
      retryable: false,
      message: 'no session starts with "nobody"; claude-mem inspect lists them',
    })
    await expect(store.backup('Not A Name', 1)).rejects.toMatchObject({ code: 'bad_request' })
    await store.close()
    here.dispose()
  })

  test('thread.refusalToOpenReachesTheCaller', async () => {
    const here = place()
    const first = await openStore({ ...here.options, workerFile: worker.file })
    await first.close()
    const raw = new BetterSqlite3(here.file)
    raw.pragma('user_version = 99')
    raw.close()
    await expect(openStore({ ...here.options, workerFile: worker.file })).rejects.toMatchObject({
      code: 'newer_database',
    })
    here.dispose()
  })

  test('thread.answersWhileABackupRuns', async () => {
    const here = place()
    const store = await openStore({ ...here.options, workerFile: worker.file })
    for (let n = 1; n <= 200; n += 1) {
      await committed(store, accepting('s', n, [toolUse('s', `${n}`, 'x'.repeat(20_000))]))
    }
    let done = false
    const backup = store.backup('daily', 7).finally(() => {
      done = true
    })
    await committed(store, commitOf('t', 1))
    expect(done).toBe(false)
    const info = await backup
    expect(existsSync(info.file)).toBe(true)
    await store.close()
    here.dispose()
  })

  test('thread.commitsWhileALongSessionIsErased', async () => {
    const here = place()
    const store = await openStore({ ...here.options, workerFile: worker.file })
    const turns = Array.from({ length: 500 }, (_, n) => turnOf('user', `${n} ${'said '.repeat(200)}`))
    for (let revision = 1; revision <= 6; revision++) await committed(store, commitOf('long', revision, { turns }))
    const order: string[] = []
    const erased = store.eraseSession('long', Date.now()).then(() => order.push('erased'))
    // The first step is running; the commit is next, before all other steps.
    await committed(store, commitOf('t', 1)).then(() => order.push('committed'))
    await erased
    expect(order).toEqual(['committed', 'erased'])
    expect(await store.session('long')).toBeNull()
    expect(await store.observerTurns('long', 0)).toEqual([])
    await store.close()
    here.dispose()
  })

  test('thread.commitsWhileManyMemoriesAreForgotten', async () => {
    const here = place()
    const store = await openStore({ ...here.options, workerFile: worker.file })
    for (let session = 1; session <= 12; session++) {
      const observations = Array.from({ length: 50 }, (_, n) =>
        observationOf([], { title: `${session}.${n} is known` }),
      )
      await committed(store, commitOf(`s${session}`, 1, { observations }))
    }
    const order: string[] = []
    const filters = { ...NO_FILTERS, project: (await store.projects({ limit: 1 }))[0]?.key ?? '' }
    const request = { ids: [], filters, dryRun: false, at: Date.now() }
    const forgotten = store.forget(request).then((report) => {
      order.push('forgotten')
      return report
    })
    // The first step is running; the commit is next, before all other steps.
    await committed(store, commitOf('t', 1)).then(() => order.push('committed'))
    expect(await forgotten).toMatchObject({ observations: 600, missing: [] })
    expect(order).toEqual(['committed', 'forgotten'])
    expect(await store.observations({})).toEqual([])
    await store.close()
    here.dispose()
  })

  test('thread.closingWaitsForWhatIsForgotten', async () => {
    const here = place()
    const store = await openStore({ ...here.options, workerFile: worker.file })
    const observations = Array.from({ length: 300 }, (_, n) => observationOf([], { title: `${n} is known` }))
    const { observationIds: ids } = await committed(store, commitOf('s', 1, { observations }))
    const forgotten = store.forget({ ids, filters: null, dryRun: false, at: Date.now() })
    await store.close()
    expect(await forgotten).toMatchObject({ observations: 300 })
    here.dispose()
  })

  test('thread.closedStoreRefusesCalls', async () => {
    const here = place()
    let exits = 0
    const store = await openStore({
      ...here.options,
      workerFile: worker.file,
      onExit: () => {
        exits += 1
      },
    })
    await store.close()
    await expect(store.lastSeq()).rejects.toMatchObject({ code: 'storage', retryable: false })
    expect(exits).toBe(0)
    here.dispose()
  })

  test('thread.deathRejectsWhatWaitsAndTellsTheCaller', async () => {
    const here = place()
    const dying = join(here.directory, 'dying-worker.mjs')
    writeFileSync(
      dying,
      `import { parentPort } from 'node:worker_threads'
       parentPort.on('message', () => { throw new Error('out of luck') })
       parentPort.postMessage({ type: 'started', methods: ['commit', 'lastSeq', 'close'] })`,
    )
    let tell: (error: MemError) => void = () => {}
    const told = new Promise<MemError>((resolve) => {
      tell = resolve
    })
    const store = await openStore({ ...here.options, workerFile: dying, onExit: tell })
    const calls = await Promise.allSettled([store.commit([commitOf('s', 1)]), store.lastSeq()])
    for (const call of calls) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage', retryable: true } })
    }
    expect((await told).message).toContain('out of luck')
    await expect(store.lastSeq()).rejects.toMatchObject({ code: 'storage', retryable: true })
    here.dispose()
  })

  test('thread.missingWorkerFileIsExplained', async () => {
    const here = place()
    await expect(openStore(here.options)).rejects.toThrow(/store-worker\.js is missing/)
    here.dispose()
  })
})
