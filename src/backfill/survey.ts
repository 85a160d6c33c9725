/** Reads through the transcripts that may be wanted, and says what is in them. Nothing leaves this process. */
import { basename } from 'node:path'
import { type Found, type Problem, type TranscriptFile, whyUnreadable } from './find.ts'
import { type ScannedSession, type ScanSettings, scanTranscript } from './scan.ts'

export interface SurveyedSession extends ScannedSession {
  file: string
}

export interface Survey {
  sessions: SurveyedSession[]
  problems: Problem[]
  /** Lines that were passed over: not JSON, cut off, or too long. */
  badLines: number
}

export interface SurveyOptions {
  settings: ScanSettings
  /** Epoch ms: what was last written before is not looked at. Null: everything. */
  since: number | null
  /** Somebody named the files: one without a session is worth a word. */
  named: boolean
  progress?: (done: SurveyProgress) => void
}

export interface SurveyProgress {
  files: number
  ofFiles: number
  bytes: number
  ofBytes: number
}

export async function survey(found: Found, options: SurveyOptions): Promise<Survey> {
  const { settings, since, named, progress } = options
  const files = found.files.filter(({ changedAt }) => since === null || changedAt >= since)
  const result: Survey = { sessions: [], problems: [...found.problems], badLines: 0 }
  const done: SurveyProgress = { files: 0, ofFiles: files.length, bytes: 0, ofBytes: sizeOf(files) }
  for (const { file, bytes } of files) {
    const before = done.bytes
    try {
      const { sessions, lines, badLines } = await scanTranscript(file, basename(file, '.jsonl'), settings, (chars) => {
        done.bytes = Math.min(before + bytes, done.bytes + chars)
        progress?.(done)
      })
      result.badLines += badLines
      const reason = complaint(sessions.length, lines, badLines, named)
      if (reason !== null) result.problems.push({ file, reason })
      const wanted = sessions.filter(({ to }) => since === null || to >= since)
      result.sessions.push(...wanted.map((session) => ({ ...session, file })))
    } catch (error) {
      result.problems.push({ file, reason: whyUnreadable(error) })
    }
    done.files += 1
    done.bytes = before + bytes
    progress?.(done)
  }
  return result
}

function complaint(sessions: number, lines: number, badLines: number, named: boolean): string | null {
  if (sessions > 0) return null
  if (lines > 0 && badLines === lines) return 'it is not a transcript: no line of it is JSON'
  // The client itself leaves files that hold nothing but a title.
  return named ? 'no session is in it that this version understands' : null
}

function sizeOf(files: readonly TranscriptFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
