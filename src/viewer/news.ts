/** A view that adds up what is stored asks again after changes: several in a row are one question. */
import { useEffect } from 'preact/hooks'
import type { StreamMessage } from '../channel/protocol.ts'
import { onItems } from './connection.ts'

export function useNews(matters: (item: StreamMessage) => boolean, settleMs: number, reload: () => void): void {
  // `matters` is a plain rule: the same whenever the view is drawn.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onItems((items) => {
      if (!items.some(matters)) return
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, settleMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [reload, settleMs])
}
