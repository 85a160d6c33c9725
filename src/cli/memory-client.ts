/**
 * Calls the operations of `src/api`: through a running daemon or, for operations that only read, in this process on the
 * database file. The parts behind it are loaded when they are needed.
 */
import type { Call, CallArguments, OperationName, OutputOf } from '../api/index.ts'
import type { DaemonClient } from '../transport/client.ts'
import type { Cli } from './cli.ts'
import { connectDaemon, connectIfRunning, isNotRunning, useClient } from './daemon-connection.ts'

export interface MemoryConnection {
  /** Without a daemon, operations that need one fail with `not_running`. */
  readonly call: Call
  /** Null: no daemon is running, and the database file is read. */
  readonly daemon: DaemonClient | null
  close(): Promise<void>
}

/** Calls one operation that only reads. `running`: a daemon answered it. */
export async function callMemory<N extends OperationName>(
  cli: Cli,
  name: N,
  ...args: CallArguments<N>
): Promise<OutputOf<N> & { running: boolean }> {
  return await withMemory(cli, async (call, running) => Object.assign(await call(name, ...args), { running }))
}

/** `running`: a daemon answers the calls. */
export async function withMemory<T>(cli: Cli, use: (call: Call, running: boolean) => Promise<T>): Promise<T> {
  const memory = await openMemory(cli)
  try {
    return await use(memory.call, memory.daemon !== null)
  } finally {
    await memory.close()
  }
}

export async function openMemory({ paths, env }: Cli): Promise<MemoryConnection> {
  try {
    const daemon = await connectDaemon(paths)
    return { call: (name, ...args) => daemon.call(name, ...args), daemon, close: async () => daemon.close() }
  } catch (error) {
    if (!isNotRunning(error)) throw error
  }
  const { openReadOnlyMemory } = await import('../api/read-only.ts')
  return { ...(await openReadOnlyMemory(paths, env)), daemon: null }
}

/** For operations that need a daemon; starts one if none is running. */
export async function withDaemon<T>(cli: Cli, use: (client: DaemonClient) => Promise<T>): Promise<T> {
  return await useClient((await connectIfRunning(cli.paths)) ?? (await startAndConnect(cli)), use)
}

async function startAndConnect(cli: Cli): Promise<DaemonClient> {
  const { ensureDaemonRunning } = await import('./daemon-process.ts')
  await ensureDaemonRunning(cli)
  return await connectDaemon(cli.paths)
}
