/** Asks again once the memory has changed. */
import { useEffect } from 'preact/hooks'
import { onItems } from '../../connection.ts'

/** Several changes within `ms` are one question. */
export function useReloading(reload: () => void, ms: number): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const settled = () => {
      timer = undefined
      reload()
    }
    const stop = onItems((items) => {
      const isChanged = items.some((item) =>
        item.type === 'commit' ? item.observations.length + item.summaries.length + item.newPrompts.length > 0 : true,
      )
      if (isChanged) timer ??= setTimeout(settled, ms)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [reload, ms])
}
