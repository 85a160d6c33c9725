/** Calls a core by method name; every error comes out as one of the family. */
import { storageError } from './errors.ts'
import type { Answer, Answers, Arguments, Method } from './facade.ts'

export async function answer<Known extends Method, M extends Known>(
  core: Answers<Known>,
  method: M,
  args: Arguments<M>,
): Promise<Answer<M>> {
  try {
    return await core[method](...args)
  } catch (error) {
    throw storageError(error)
  }
}
