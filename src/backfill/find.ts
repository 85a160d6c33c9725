/** Where Claude Code keeps the transcripts of past sessions: `<config>/projects/<directory>/<session>.jsonl`. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemCode } from '../errors.ts'

export interface TranscriptFile {
  file: string
  bytes: number
  /** Epoch ms. */
  changedAt: number
}

/** A transcript that could not be read, and what that means. */
export interface Problem {
  file: string
  reason: string
}

export interface Found {
  files: TranscriptFile[]
  problems: Problem[]
}

/** Files of subagents are parts of the sessions that started them. */
const AGENT_FILE = /^agent-/

export function findTranscripts(configDir: string): Found {
  const found: Found = { files: [], problems: [] }
  const projects = join(configDir, 'projects')
  for (const name of namesIn(projects, found)) {
    const directory = join(projects, name)
    if (!isDirectory(directory)) continue
    for (const file of namesIn(directory, found)) {
      if (file.endsWith('.jsonl') && !AGENT_FILE.test(file)) look(join(directory, file), found)
    }
  }
  return found
}

/** Files that somebody named. */
export function namedTranscripts(files: readonly string[]): Found {
  const found: Found = { files: [], problems: [] }
  for (const file of new Set(files)) look(file, found)
  return found
}

function look(file: string, found: Found): void {
  try {
    const stat = statSync(file)
    if (stat.isFile()) found.files.push({ file, bytes: stat.size, changedAt: stat.mtimeMs })
    else if (stat.isDirectory()) found.problems.push({ file, reason: 'it is a directory; name the .jsonl files in it' })
    else found.problems.push({ file, reason: 'it is not a file' })
  } catch (error) {
    found.problems.push({ file, reason: whyUnreadable(error) })
  }
}

/** A folder that is not there has no transcripts; one that may not be read is worth a word. */
function namesIn(directory: string, found: Found): string[] {
  try {
    return readdirSync(directory).sort()
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') found.problems.push({ file: directory, reason: whyUnreadable(error) })
    return []
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

export function whyUnreadable(error: unknown): string {
  switch (systemCode(error)) {
    case 'ENOENT':
      return 'there is no such file'
    case 'EACCES':
    case 'EPERM':
      return 'it may not be read; see its permissions'
    case 'EISDIR':
      return 'it is a directory; name the .jsonl files in it'
    default:
      return `it cannot be read: ${messageOf(error)}`
  }
}
