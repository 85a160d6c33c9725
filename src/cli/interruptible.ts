/** Work that has something to clean up when somebody presses Ctrl-C or closes the terminal. */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController()
  const stop = () => interrupted.abort(new Error('it was interrupted'))
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await run(interrupted.signal)
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
