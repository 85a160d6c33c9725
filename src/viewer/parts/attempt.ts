import { messageOf } from '../../errors.ts'
import { tell } from './toast.tsx'

/** Says what it came to, or why it came to nothing. True: it was done. */
export async function attempt(act: () => Promise<string>): Promise<boolean> {
  try {
    tell(await act())
    return true
  } catch (error) {
    tell(messageOf(error), true)
    return false
  }
}
