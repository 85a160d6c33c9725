/** Tool uses as Claude Code 2.1 reports them, on files that exist only here: an edit knows what was there before. */
export type Step = { tool: string; input: object; shown: string } & (
  | { response: object; error?: undefined }
  | { error: string; response?: undefined }
)

const CONTEXT_LINES = 3

export class Workspace {
  readonly #committed: Readonly<Record<string, string>>
  readonly #files: Map<string, string>

  constructor(
    readonly root: string,
    files: Readonly<Record<string, string>>,
  ) {
    this.#committed = files
    this.#files = new Map(Object.entries(files))
  }

  read(file: string): Step {
    const content = this.#text(file)
    const lines = content.split('\n').length
    const path = this.#path(file)
    return {
      tool: 'Read',
      input: { file_path: path },
      shown: file,
      response: { type: 'text', file: { filePath: path, content, numLines: lines, startLine: 1, totalLines: lines } },
    }
  }

  edit(file: string, from: string, to: string): Step {
    const before = this.#text(file)
    if (!before.includes(from)) throw new Error(`the story edits what ${file} does not hold: ${from}`)
    const after = before.replace(from, () => to)
    this.#files.set(file, after)
    const path = this.#path(file)
    return {
      tool: 'Edit',
      input: { file_path: path, old_string: from, new_string: to, replace_all: false },
      shown: file,
      response: {
        filePath: path,
        oldString: from,
        newString: to,
        originalFile: before,
        structuredPatch: [hunk(before.split('\n'), after.split('\n'))],
        userModified: false,
        replaceAll: false,
      },
    }
  }

  write(file: string, content: string): Step {
    this.#files.set(file, content)
    const path = this.#path(file)
    return {
      tool: 'Write',
      input: { file_path: path, content },
      shown: file,
      response: {
        type: 'create',
        filePath: path,
        content,
        structuredPatch: [],
        originalFile: null,
        userModified: false,
      },
    }
  }

  /** As it was committed. */
  checkout(file: string, description: string): Step {
    this.#files.set(file, this.#committed[file] ?? '')
    return bash(`git checkout ${file}`, description, 'Updated 1 path from the index')
  }

  #path(file: string): string {
    return `${this.root}/${file}`
  }

  #text(file: string): string {
    const text = this.#files.get(file)
    if (text === undefined) throw new Error(`the story reads ${file}, which is not there`)
    return text
  }
}

/** The one stretch of lines that differs, with what stands around it. */
function hunk(before: string[], after: string[]) {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const first = Math.max(0, start - CONTEXT_LINES)
  const last = Math.min(before.length, before.length - end + CONTEXT_LINES)
  const lines = [
    ...before.slice(first, start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - end).map((line) => `-${line}`),
    ...after.slice(start, after.length - end).map((line) => `+${line}`),
    ...before.slice(before.length - end, last).map((line) => ` ${line}`),
  ]
  return {
    oldStart: first + 1,
    oldLines: lines.filter((line) => !line.startsWith('+')).length,
    newStart: first + 1,
    newLines: lines.filter((line) => !line.startsWith('-')).length,
    lines,
  }
}

export function bash(command: string, description: string, stdout = ''): Step {
  const response = { stdout, stderr: '', interrupted: false, isImage: false, noOutputExpected: false }
  return { tool: 'Bash', input: { command, description }, shown: command, response }
}

export function failing(command: string, description: string, code: number, output: string): Step {
  return { tool: 'Bash', input: { command, description }, shown: command, error: `Exit code ${code}\n${output}` }
}

export function grep(pattern: string, path: string, lines: readonly string[]): Step {
  const filenames = [...new Set(lines.map((line) => line.split(':', 1)[0] ?? line))]
  return {
    tool: 'Grep',
    input: { pattern, path, output_mode: 'content', '-n': true },
    shown: pattern,
    response: {
      mode: 'content',
      numFiles: filenames.length,
      filenames,
      content: lines.join('\n'),
      numLines: lines.length,
    },
  }
}

export function glob(pattern: string, filenames: readonly string[]): Step {
  return {
    tool: 'Glob',
    input: { pattern },
    shown: pattern,
    response: { filenames, durationMs: 4, numFiles: filenames.length, truncated: false },
  }
}

export function fetched(url: string, prompt: string, result: string): Step {
  return {
    tool: 'WebFetch',
    input: { url, prompt },
    shown: url.replace(/^https:\/\//, ''),
    response: { bytes: 48_211, code: 200, codeText: 'OK', result, durationMs: 640, url },
  }
}

export function todos(...items: readonly (readonly [done: boolean, content: string])[]): Step {
  const newTodos = items.map(([done, content]) => ({
    content,
    status: done ? 'completed' : 'pending',
    activeForm: content,
  }))
  return { tool: 'TodoWrite', input: { todos: newTodos }, shown: 'todos', response: { oldTodos: [], newTodos } }
}
