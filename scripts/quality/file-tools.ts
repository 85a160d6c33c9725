/** Tools that read and write files, done for real: patches, errors and results are what the client would have given. */
import { type Hunk, structuredPatch } from './patch.ts'
import { RecordedSession } from './recorded-session.ts'
import type { Fields, Json } from './transcript-writer.ts'

export interface Replacement {
  old_string: string
  new_string: string
  replace_all?: boolean
}

export interface NotebookChange {
  cellId: string
  newSource: string
  cellType?: 'code' | 'markdown'
  editMode?: 'replace' | 'insert' | 'delete'
}

export class FileTools extends RecordedSession {
  async write(path: string, content: string): Promise<void> {
    const filePath = this.place.shown(path)
    const before = this.place.read(path)
    this.place.write(path, content)
    const patch = before === null ? [] : structuredPatch(before, content)
    const type = before === null ? 'create' : 'update'
    this.done(
      'Write',
      { file_path: filePath, content },
      before === null
        ? `File created successfully at: ${filePath}`
        : `The file ${filePath} has been updated successfully.`,
      { type, filePath, content, structuredPatch: json(patch), originalFile: before, userModified: false },
    )
  }

  /** False where the old text is not in the file, or more than once: the client's error is recorded. */
  async edit(path: string, old: string, fresh: string, replaceAll = false): Promise<boolean> {
    const filePath = this.place.shown(path)
    const input = { file_path: filePath, old_string: old, new_string: fresh, replace_all: replaceAll }
    const before = this.place.read(path)
    const wrong = before === null ? 'File does not exist.' : unusable(before, old, replaceAll)
    if (before === null || wrong !== null) return this.refused('Edit', input, wrong ?? '')
    const after = replaced(before, old, fresh, replaceAll)
    this.place.write(path, after)
    this.done('Edit', input, `The file ${filePath} has been updated successfully.`, {
      filePath,
      oldString: old,
      newString: fresh,
      originalFile: before,
      structuredPatch: json(structuredPatch(before, after)),
      userModified: false,
      replaceAll,
    })
    return true
  }

  async multiEdit(path: string, edits: readonly Replacement[]): Promise<boolean> {
    const filePath = this.place.shown(path)
    const input = { file_path: filePath, edits: json(edits) }
    const before = this.place.read(path)
    if (before === null) return this.refused('MultiEdit', input, 'File does not exist.')
    let after = before
    for (const { old_string: old, new_string: fresh, replace_all: all = false } of edits) {
      const wrong = unusable(after, old, all)
      if (wrong !== null) return this.refused('MultiEdit', input, wrong)
      after = replaced(after, old, fresh, all)
    }
    this.place.write(path, after)
    this.done('MultiEdit', input, `Applied ${edits.length} edits to ${filePath}`, {
      filePath,
      edits: json(edits),
      originalFileContents: before,
      structuredPatch: json(structuredPatch(before, after)),
      userModified: false,
    })
    return true
  }

  async read(path: string, range: { offset?: number; limit?: number } = {}): Promise<boolean> {
    const filePath = this.place.shown(path)
    const input: Fields = { file_path: filePath, ...range }
    const content = this.place.read(path)
    if (content === null) return this.refused('Read', input, 'File does not exist.')
    const all = content.split('\n')
    const start = range.offset ?? 1
    const shown = all.slice(start - 1, start - 1 + (range.limit ?? 2_000))
    const numbered = shown.map((line, index) => `${String(start + index).padStart(6)}→${line}`).join('\n')
    this.done('Read', input, numbered, {
      type: 'text',
      file: {
        filePath,
        content: shown.join('\n'),
        numLines: shown.length,
        startLine: start,
        totalLines: all.length,
      },
    })
    return true
  }

  async notebookEdit(path: string, change: NotebookChange): Promise<boolean> {
    const notebook = this.place.shown(path)
    const { cellId, newSource, cellType = 'code', editMode = 'replace' } = change
    const input = {
      notebook_path: notebook,
      cell_id: cellId,
      new_source: newSource,
      cell_type: cellType,
      edit_mode: editMode,
    }
    const before = this.place.read(path)
    if (before === null) return this.refused('NotebookEdit', input, 'Notebook file does not exist.')
    const parsed: { cells: { id?: string; cell_type: string; source: string | string[] }[] } = JSON.parse(before)
    const at = parsed.cells.findIndex((cell) => cell.id === cellId)
    if (at < 0) return this.refused('NotebookEdit', input, `Cell with ID "${cellId}" not found in notebook.`)
    const cell = {
      id: editMode === 'insert' ? this.writer.id('cell').slice(-8) : cellId,
      cell_type: cellType,
      metadata: {},
      source: newSource,
    }
    if (editMode === 'insert') parsed.cells.splice(at + 1, 0, cell)
    else parsed.cells.splice(at, 1, ...(editMode === 'delete' ? [] : [cell]))
    const after = `${JSON.stringify(parsed, null, 1)}\n`
    this.place.write(path, after)
    this.done('NotebookEdit', input, `Updated cell ${cellId} with ${newSource}`, {
      new_source: newSource,
      cell_type: cellType,
      language: 'python',
      edit_mode: editMode,
      cell_id: cellId,
      error: '',
      notebook_path: notebook,
      original_file: before,
      updated_file: after,
    })
    return true
  }
}

function unusable(content: string, old: string, replaceAll: boolean): string | null {
  const times = content.split(old).length - 1
  if (old === '' || times === 0) return `String to replace not found in file.\nString: ${old}`
  if (times === 1 || replaceAll) return null
  return `Found ${times} matches of the string to replace, but replace_all is false.\nString: ${old}`
}

/** By function, so that `$&` in the new text stays what it is. */
function replaced(content: string, old: string, fresh: string, all: boolean): string {
  return all ? content.replaceAll(old, () => fresh) : content.replace(old, () => fresh)
}

/** Plain data of known types, as the JSON it becomes. */
function json(value: readonly Hunk[] | readonly Replacement[]): Json {
  return value.map((item) => ({ ...item }))
}
