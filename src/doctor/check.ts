/** What a check says, and how it is carried out: whatever it meets, it says something. */
import { messageOf } from '../errors.ts'

/** `advice`: it works, and could be better, or soon will not. */
export type State = 'ok' | 'advice' | 'problem'

export interface Finding {
  state: State
  detail: string
  /** What to do; null where nothing has to be done. */
  fix: string | null
}

export interface Check extends Finding {
  id: string
  title: string
}

export interface Examination {
  id: string
  title: string
  /** One finding a fault, or one that all is well; none where there is nothing to look at. */
  look(): Promise<Finding[]>
}

export const ok = (detail: string): Finding => ({ state: 'ok', detail, fix: null })
export const advice = (detail: string, fix: string): Finding => ({ state: 'advice', detail, fix })
export const problem = (detail: string, fix: string): Finding => ({ state: 'problem', detail, fix })

export function faultsOr(faults: Finding[], well: string): Finding[] {
  return faults.length > 0 ? faults : [ok(well)]
}

export async function examine({ id, title, look }: Examination): Promise<Check[]> {
  try {
    return (await look()).map((finding) => ({ id, title, ...finding }))
  } catch (error) {
    const detail = `it could not be looked at: ${messageOf(error)}`
    return [{ id, title, ...problem(detail, 'mend what it says, then run claude-mem doctor again') }]
  }
}

/** For a command that somebody copies into a shell. */
export function quoted(path: string): string {
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`
}
