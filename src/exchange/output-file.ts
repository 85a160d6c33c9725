/** A file that is whole or not there: private, written beside its name and renamed at the end. */

import { once } from 'node:events'
import { createWriteStream, existsSync, lstatSync, realpathSync, rmSync, statSync, type WriteStream } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { MemError, messageOf } from '../errors.ts'
import { isInside } from '../paths.ts'
import { publish } from '../store/sqlite/files.ts'

/** Written at once: a line alone is far too little. */
const CHUNK_CHARS = 65_536

/** No faster than the other end takes it. Returns how many bytes there were. */
export async function writeAll(texts: Iterable<string>, stream: WriteStream | NodeJS.WriteStream): Promise<number> {
  let bytes = 0
  let waiting = ''
  const send = async () => {
    bytes += Buffer.byteLength(waiting)
    const text = waiting
    waiting = ''
    if (!stream.write(text)) await once(stream, 'drain')
  }
  for (const text of texts) {
    waiting += text
    if (waiting.length >= CHUNK_CHARS) await send()
  }
  await send()
  return bytes
}

/** Refused before anything is read: what is there is only replaced where somebody said so. */
export function outputFile(given: string, force: boolean): string {
  const file = resolve(given)
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there === undefined) {
    const directory = statSync(dirname(file), { throwIfNoEntry: false })
    if (directory?.isDirectory() !== true)
      throw new MemError('not_found', `there is no directory ${dirname(file)}; make it first`)
    return file
  }
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new MemError('bad_request', `${file} is no file; name one, or - for the standard output`)
  if (!force) throw new MemError('bad_request', `${file} is there already; --force replaces it`)
  return realpathSync(file)
}

/** `--force` and a wrong name must not replace the memory itself; and what is in there goes with `uninstall --purge`. */
export function refuseInside(file: string, dataDir: string): void {
  if (!existsSync(dataDir)) return
  if (!isInside(realpathSync(dataDir), join(realpathSync(dirname(file)), basename(file)))) return
  throw new MemError('bad_request', `${dataDir} is where claude-mem keeps its own files; name another place`)
}

export async function writeFileWhole(file: string, force: boolean, texts: Iterable<string>): Promise<number> {
  const beside = join(dirname(file), `.${basename(file)}.${process.pid}.part`)
  try {
    const bytes = await written(beside, texts)
    // Somebody else may have made it meanwhile.
    outputFile(file, force)
    publish(beside, file)
    return bytes
  } catch (error) {
    rmSync(beside, { force: true })
    if (error instanceof MemError) throw error
    throw new MemError('storage', `${file} could not be written: ${messageOf(error)}`, { cause: error })
  }
}

async function written(file: string, texts: Iterable<string>): Promise<number> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  await once(stream, 'open')
  const failed = once(stream, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => undefined)
  try {
    const bytes = await Promise.race([writeAll(texts, stream), failed])
    stream.end()
    await Promise.race([once(stream, 'close'), failed])
    return bytes
  } catch (error) {
    stream.destroy()
    throw error
  }
}
