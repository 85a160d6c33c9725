/** Work that has something to clean up when somebody presses Ctrl-C. */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController()
  const stop = () => interrupted.abort(new Error('it was interrupted'))
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await run(interrupted.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
