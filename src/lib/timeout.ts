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
