/**
 * Ids of events that were read from a transcript. Tool uses have the client's own id, as in a hook; the rest has ids that
 * no hook gives, the same every time the file is read.
 */
const PREFIX = 'transcript:'

export const transcriptId = (what: string, of: string | number): string => `${PREFIX}${what}:${of}`

export function isTranscriptId(id: string): boolean {
  return id.startsWith(PREFIX)
}

export const startId = (session: string): string => transcriptId('start', session)

/** A session that went on after it was read ends once more: the last line tells the ends apart. */
export const endId = (session: string, lastLine: string | number): string =>
  transcriptId('end', `${session}:${lastLine}`)
