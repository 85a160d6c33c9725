/**
 * The one shape of each kind of tool use, as Claude Code reports it and src/reading reads it. Adapters of
 * other clients make their events with these functions.
 */
import { isAbsolute, join } from 'node:path'
import type { HookPayload } from './adapter.ts'

export function toolUse(tool: string, input: unknown, response: unknown): HookPayload {
  return { hook_event_name: 'PostToolUse', tool_name: tool, tool_input: input, tool_response: response }
}

export function toolFailure(tool: string, input: unknown, error: string, isInterrupt = false): HookPayload {
  return {
    hook_event_name: 'PostToolUseFailure',
    tool_name: tool,
    tool_input: input,
    error,
    ...(isInterrupt ? { is_interrupt: true } : {}),
  }
}

export interface ShellUse {
  command: string
  /** Everything that it printed, if the client does not separate the two. */
  stdout: string
  stderr?: string
  /** Null: the client does not say. */
  exitCode: number | null
  interrupted?: boolean
}

/** A command that ended with another code than 0 is a failure, as in Claude Code. */
export function shellUse({ command, stdout, stderr = '', exitCode, interrupted = false }: ShellUse): HookPayload {
  const input = { command }
  if (interrupted) return toolFailure('Bash', input, stdout || stderr || 'interrupted', true)
  if (exitCode === null || exitCode === 0) return toolUse('Bash', input, { stdout, stderr, exitCode })
  const output = [stdout, stderr].filter((text) => text !== '').join('\n')
  return toolFailure('Bash', input, `Exit code ${exitCode}\n${output}`)
}

export function readUse(filePath: string, content: string): HookPayload {
  return toolUse('Read', { file_path: filePath }, { type: 'text', file: { filePath, content } })
}

/** A part of a diff: lines that begin with a space, `-` or `+`. */
export interface PatchHunk {
  oldStart: number
  newStart: number
  lines: string[]
}

export interface FileEditUse {
  filePath: string
  /** Replaced texts, if the client says them; made from `hunks` otherwise. */
  edits?: readonly { old_string: string; new_string: string; replace_all?: boolean }[]
  hunks?: readonly PatchHunk[]
  /** The whole file before; absent or null if it is not known. */
  originalFile?: string | null
}

/** One replaced text is an `Edit`, several are a `MultiEdit`; both with the diff as `structuredPatch`. */
export function editUse({ filePath, edits, hunks = [], originalFile = null }: FileEditUse): HookPayload {
  const replaced = edits ?? hunks.map(hunkReplacement)
  const response = {
    filePath,
    ...(hunks.length === 0 ? {} : { structuredPatch: hunks }),
    ...(originalFile === null ? {} : { originalFile }),
  }
  const [only] = replaced
  return replaced.length === 1 && only !== undefined
    ? toolUse('Edit', { file_path: filePath, ...only }, response)
    : toolUse('MultiEdit', { file_path: filePath, edits: replaced }, response)
}

function hunkReplacement({ lines }: PatchHunk): { old_string: string; new_string: string } {
  const side = (sign: '-' | '+') =>
    lines
      .filter((line) => !line.startsWith(sign === '-' ? '+' : '-'))
      .map((line) => line.slice(1))
      .join('\n')
  return { old_string: side('-'), new_string: side('+') }
}

export interface FileWriteUse {
  filePath: string
  content: string
  /** Null: the file is new. Undefined: not known. */
  originalFile?: string | null
  hunks?: readonly PatchHunk[]
}

export function writeUse({ filePath, content, originalFile, hunks = [] }: FileWriteUse): HookPayload {
  return toolUse(
    'Write',
    { file_path: filePath, content },
    {
      type: originalFile === null ? 'create' : 'update',
      filePath,
      ...(originalFile === null ? {} : { structuredPatch: hunks }),
      ...(originalFile === undefined ? {} : { originalFile }),
    },
  )
}

/** A file that was deleted. Claude Code has no such tool. */
export function deleteUse(filePath: string): HookPayload {
  return toolUse('Delete', { file_path: filePath }, { filePath })
}

/** The use of a subagent by the main agent; `report` is the subagent's result, empty while it runs. */
export function subagentUse(type: string, prompt: string, report: string): HookPayload {
  const input = { description: prompt.split('\n', 1)[0]?.slice(0, 200) ?? '', prompt, subagent_type: type }
  return toolUse('Task', input, report)
}

/**
 * A tool that has no shape above: of a plugin, of the project, or of an MCP server where the client does not say so. The names
 * of Claude Code begin with a capital letter, and what they say is trusted more: nobody else's tool keeps such a name.
 */
export const otherToolName = (tool: string): string => (tool === '' || /^[a-z]/.test(tool) ? tool : `other:${tool}`)

export const mcpToolName = (server: string, tool: string): string => `mcp__${server}__${tool}`

/** Ours is named `claude-mem`; some clients replace what is not a letter, a digit or an underscore. */
export function withOwnServerName(tool: string): string {
  return tool.replace(/^mcp__claude[_-]mem__/, 'mcp__claude-mem__')
}

const HUNK_HEAD = /^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@/

/** The hunks of a unified diff of one file. */
export function unifiedDiffHunks(diff: string): PatchHunk[] {
  const hunks: PatchHunk[] = []
  for (const line of diff.split('\n')) {
    const head = HUNK_HEAD.exec(line)
    if (head !== null) hunks.push({ oldStart: Number(head[1]), newStart: Number(head[2]), lines: [] })
    else if (/^[ +-]/.test(line)) hunks.at(-1)?.lines.push(line)
  }
  return hunks.filter(({ lines }) => lines.length > 0)
}

const PATCH_FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/
const MOVED_TO = /^\*\*\* Move to: (.+)$/

/** PATH_MAX on Linux. */
const MAX_PATH_CHARS = 4_096

interface PatchedFile {
  action: string
  path: string
  hunks: PatchHunk[]
}

/**
 * The events of a patch in the `apply_patch` format (`*** Begin Patch`, `*** Update File: …`), one for each file. It has no
 * line numbers. Empty if it names no file.
 */
export function patchUses(patch: string, cwd: string): HookPayload[] {
  const files: PatchedFile[] = []
  for (const line of patch.split(/\r?\n/)) {
    const [, action, path] = PATCH_FILE.exec(line) ?? []
    const moved = MOVED_TO.exec(line)?.[1]
    const file = files.at(-1)
    if (action !== undefined && path !== undefined) files.push({ action, path: path.trim(), hunks: [] })
    else if (file === undefined || line.startsWith('*** End')) continue
    else if (moved !== undefined) file.path = moved.trim()
    else if (line.startsWith('@@')) file.hunks.push({ oldStart: 1, newStart: 1, lines: [] })
    else addPatchLine(file, line)
  }
  // Each path is joined with it: one that no system has would be copied as often as the patch names files.
  const base = cwd.length > MAX_PATH_CHARS ? '' : cwd
  return files.map((file) => patchedFileUse(file, base))
}

function addPatchLine(file: PatchedFile, line: string): void {
  if (!/^[ +-]/.test(line)) return
  const hunk = file.hunks.at(-1)
  if (hunk === undefined) file.hunks.push({ oldStart: 1, newStart: 1, lines: [line] })
  else hunk.lines.push(line)
}

function patchedFileUse({ action, path, hunks }: PatchedFile, cwd: string): HookPayload {
  const filePath = isAbsolute(path) ? path : join(cwd, path)
  if (action === 'Delete') return deleteUse(filePath)
  if (action === 'Update') return editUse({ filePath, hunks: hunks.filter(({ lines }) => lines.length > 0) })
  const added = hunks.flatMap(({ lines }) => lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1)))
  return writeUse({ filePath, content: added.map((line) => `${line}\n`).join(''), originalFile: null })
}
