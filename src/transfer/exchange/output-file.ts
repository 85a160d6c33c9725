/** Writes an export file atomically: a private temporary file that is renamed when it is complete. */
import { once } from 'node:events'
import { createWriteStream, existsSync, lstatSync, realpathSync, rmSync, statSync, type WriteStream } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { isInside } from '../../lib/paths.ts'
import { publishFile } from '../../store/recovery/database-files.ts'

/** Lines are collected up to this size for one write. */
const CHUNK_CHARS = 65_536

/** Respects the stream's backpressure. Returns the number of bytes. */
export async function writeChunks(texts: Iterable<string>, stream: WriteStream | NodeJS.WriteStream): Promise<number> {
  let bytes = 0
  let buffered = ''
  const send = async () => {
    bytes += Buffer.byteLength(buffered)
    const text = buffered
    buffered = ''
    if (!stream.write(text)) await once(stream, 'drain')
  }
  for (const text of texts) {
    buffered += text
    if (buffered.length >= CHUNK_CHARS) await send()
  }
  await send()
  return bytes
}

/** Returns the resolved path. Throws before anything is read if the file exists and `force` is not set. */
export function checkOutputFile(path: string, force: boolean): string {
  const file = resolve(path)
  const existing = lstatSync(file, { throwIfNoEntry: false })
  if (existing === undefined) {
    const directory = statSync(dirname(file), { throwIfNoEntry: false })
    if (directory?.isDirectory() !== true)
      throw new MemError('not_found', `the directory ${dirname(file)} does not exist; create it first`)
    return file
  }
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new MemError('bad_request', `${file} is not a file; name one, or - for standard output`)
  if (!force) throw new MemError('bad_request', `${file} already exists; --force replaces it`)
  return realpathSync(file)
}

/** With `--force` a wrong name could replace the database; and `uninstall --purge` deletes the whole directory. */
export function refuseInsideDataDirectory(file: string, dataDir: string): void {
  if (!existsSync(dataDir)) return
  if (!isInside(realpathSync.native(dataDir), join(realpathSync.native(dirname(file)), basename(file)))) return
  throw new MemError('bad_request', `${dataDir} is claude-mem's data directory; choose another directory`)
}

export async function writeFileAtomically(file: string, force: boolean, texts: Iterable<string>): Promise<number> {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.part`)
  try {
    const bytes = await writeNewFile(temporary, texts)
    // Another process may have created it meanwhile.
    checkOutputFile(file, force)
    publishFile(temporary, file)
    return bytes
  } catch (error) {
    rmSync(temporary, { force: true })
    if (error instanceof MemError) throw error
    throw new MemError('storage', `${file} could not be written: ${errorMessage(error)}`, { cause: error })
  }
}

async function writeNewFile(file: string, texts: Iterable<string>): Promise<number> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  await once(stream, 'open')
  const failed = once(stream, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => undefined)
  try {
    const bytes = await Promise.race([writeChunks(texts, stream), failed])
    stream.end()
    await Promise.race([once(stream, 'close'), failed])
    return bytes
  } catch (error) {
    stream.destroy()
    throw error
  }
}
