/** The promise's value, or `onTimeout` if it takes longer than `ms`. The work behind the promise is not cancelled. */
export async function withTimeout<T>(ms: number, promise: Promise<T>, onTimeout: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(onTimeout), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Blocks this thread: for hooks and for the store's thread, which have nothing else to do meanwhile. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
