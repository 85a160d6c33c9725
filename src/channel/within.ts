/** What `asked` comes to, or `late` where that takes longer than `ms`. It goes on all the same. */
export async function within<T>(ms: number, asked: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), ms)
  })
  try {
    return await Promise.race([asked, patience])
  } finally {
    clearTimeout(timer)
  }
}
