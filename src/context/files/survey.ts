/** What writing a set of files comes to, before any of them is touched. */
import { join } from 'node:path'
import type { FileOutcome } from './change.ts'
import { placeOf } from './place.ts'
import type { WantedFile } from './wanted.ts'

export interface Survey {
  wanted: WantedFile[]
  /** Directories that have to be made for them, seen from the root. */
  missing: string[]
  /** Those that are links to another one of them: two sections would take turns in one file. */
  doubles: FileOutcome[]
}

export async function survey(root: string, files: readonly WantedFile[]): Promise<Survey> {
  const result: Survey = { wanted: [], missing: [], doubles: [] }
  const first = new Map<string, string>()
  for (const wanted of files) {
    const place = await placeOf(root, wanted.file).catch(() => null)
    const path = place?.kind === 'file' || place?.kind === 'absent' ? place.path : join(root, wanted.file)
    const same = first.get(path)
    if (same !== undefined) {
      result.doubles.push({ file: join(root, wanted.file), what: 'left', why: `it is the same file as ${same}` })
      continue
    }
    first.set(path, wanted.file)
    result.wanted.push(wanted)
    if (place?.kind === 'absent') result.missing.push(...place.missing)
  }
  return result
}
