/**
 * What a session gets when it starts, and the file that keeps it. The daemon renders it and writes one file per project
 * (src/daemon/rendered-context-cache.ts), so that a hook can deliver the last version while no daemon runs
 * (src/hook/local.ts). The hook bundles this file, so it may not import a package.
 */
import { join } from 'node:path'
import { shortHash } from '../lib/paths.ts'

export interface RenderedContext {
  /** For the agent. Empty if nothing is known. */
  context: string
  /** For the user. Empty if there is nothing to report. */
  message: string
}

export const EMPTY_CONTEXT: RenderedContext = { context: '', message: '' }

/** Raised when an older hook would misread the file. */
const FILE_FORMAT = 1

export function renderedContextPath(directory: string, projectKey: string): string {
  return join(directory, `${shortHash(projectKey)}.json`)
}

export function encodeRenderedContext({ context, message }: RenderedContext): string {
  return JSON.stringify({ v: FILE_FORMAT, context, message })
}

/** Null if the text is not in this format. */
export function decodeRenderedContext(json: string): RenderedContext | null {
  try {
    const { v, context, message }: Record<string, unknown> = Object(JSON.parse(json))
    if (v !== FILE_FORMAT) return null
    return {
      context: typeof context === 'string' ? context : '',
      message: typeof message === 'string' ? message : '',
    }
  } catch {
    return null
  }
}
