/** A data directory with a long path has its socket in the shared temporary directory, where others may have been first. */
import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectIfRunning } from '../../src/cli/daemon-connection.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { connect } from '../../src/transport/public-client.ts'
import { temporaryDirectory } from '../support/directories.ts'

let paths: Paths
let directory: string
let server: Server
let connections: number

beforeEach(async () => {
  vi.stubEnv('TMPDIR', temporaryDirectory('shared'))
  paths = dataPaths(join(temporaryDirectory('long'), 'x'.repeat(120)))
  directory = dirname(paths.socket)
  connections = 0
  server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  mkdirSync(directory)
  server.listen(paths.socket)
  await once(server, 'listening')
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  vi.unstubAllEnvs()
})

describe.skipIf(process.platform === 'win32')('a socket directory that others can write to', () => {
  test('is refused by every client before it connects', async () => {
    expect(directory).toContain(`claude-mem-${userInfo().uid}`)
    chmodSync(directory, 0o777)
    const refused = {
      code: 'forbidden',
      message: `${directory} is not a private directory of yours; remove it and try again`,
    }
    await expect(DaemonClient.connect(paths)).rejects.toMatchObject(refused)
    await expect(connectIfRunning(paths)).rejects.toMatchObject(refused)
    await expect(connect({ dataDir: paths.dataDir })).rejects.toMatchObject(refused)
    expect(connections).toBe(0)
  })

  test('is used where it is private', async () => {
    chmodSync(directory, 0o700)
    await expect(DaemonClient.connect(paths)).rejects.toMatchObject({ code: 'not_running' })
    expect(connections).toBe(1)
  })
})
