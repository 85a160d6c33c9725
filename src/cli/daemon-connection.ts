/** Connections to a running daemon. Separate from memory-client.ts, because starting a daemon needs them too. */
import { MemError, systemCode } from '../lib/errors.ts'
import type { Paths } from '../lib/paths.ts'
import type { DaemonClient } from '../transport/client.ts'
import type { Cli } from './cli.ts'

export function isNotRunning(error: unknown): boolean {
  return error instanceof MemError && error.code === 'not_running'
}

/** Fails with `not_running` if no daemon is running; does not start one. */
export async function withRunningDaemon<T>(cli: Cli, use: (client: DaemonClient) => Promise<T>): Promise<T> {
  return await useClient(await connectDaemon(cli.paths), use)
}

/** Null if no daemon is running. Rejects with `unresponsive` if one accepts connections but does not answer. */
export async function withDaemonIfRunning<T>(
  paths: Paths,
  use: (client: DaemonClient) => Promise<T>,
): Promise<T | null> {
  const client = await connectIfRunning(paths)
  return client === null ? null : await useClient(client, use)
}

/** Closes the connection afterwards. */
export async function useClient<T>(client: DaemonClient, use: (client: DaemonClient) => Promise<T>): Promise<T> {
  try {
    return await use(client)
  } finally {
    client.close()
  }
}

export async function connectDaemon(paths: Paths): Promise<DaemonClient> {
  const { DaemonClient } = await import('../transport/client.ts')
  return await DaemonClient.connect(paths)
}

export async function connectIfRunning(paths: Paths): Promise<DaemonClient | null> {
  try {
    return await connectDaemon(paths)
  } catch (error) {
    if (error instanceof MemError && ['forbidden', 'unresponsive'].includes(error.code)) throw error
    const cause = error instanceof Error ? error.cause : undefined
    if (['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(systemCode(cause) ?? '')) return null
    throw new MemError('not_running', `something listens on ${paths.socket} and closes the connection; try again`, {
      cause: error,
      retryable: true,
    })
  }
}
