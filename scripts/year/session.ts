/** One transcript of a made-up session, as Claude Code 2.1 would have written it: turns of tool uses, some interrupted. */
import { TranscriptWriter } from '../quality/transcript-writer.ts'
import { functionOf, type Subject, sourceOf, subjectOf, testRun } from './code.ts'
import { CAUSES, type YearProject } from './projects.ts'

export interface YearSession {
  session: string
  text: string
  toolUses: number
}

export interface SessionPlan {
  name: string
  project: YearProject
  cwd: string
  /** Epoch ms. */
  at: number
  toolUses: number
}

/** Tool uses of one turn. */
const LEAST_IN_TURN = 4
const MOST_IN_TURN = 18

export function sessionOf(plan: SessionPlan): YearSession {
  const desk = new Desk(plan)
  while (desk.toolUses < plan.toolUses) desk.turn(plan.toolUses)
  return { session: desk.writer.session, text: desk.writer.text(), toolUses: desk.toolUses }
}

class Desk {
  readonly writer: TranscriptWriter
  readonly #plan: SessionPlan
  toolUses = 0

  constructor(plan: SessionPlan) {
    this.#plan = plan
    this.writer = new TranscriptWriter({ name: plan.name, client: '2.1.197', cwd: plan.cwd, branch: () => 'main' })
    const away = plan.at - this.writer.now
    this.writer.wait(away, away)
  }

  turn(most: number): void {
    const { writer } = this
    const { random } = writer
    const subject = subjectOf(this.#plan.project, random)
    const cause = random.pick(CAUSES)
    writer.prompt(`${subject.name} keeps ${subject.quality} ${subject.noun}s, please find out why and mend it`)
    const until = Math.min(most, this.toolUses + random.between(LEAST_IN_TURN, MOST_IN_TURN))
    this.#grep(subject)
    const source = this.#read(subject)
    while (this.toolUses < until - 2) this.#step(subject, source)
    if (this.toolUses < until) this.#test(subject, false)
    if (this.toolUses < until) this.#commit(subject)
    if (random.chance(0.06)) writer.user([{ type: 'text', text: '[Request interrupted by user]' }])
    else {
      const said = `${subject.name} kept ${subject.quality} ${subject.noun}s because ${cause}. It drops them now, and a test holds that.`
      writer.assistant({ type: 'text', text: said }, 'end_turn')
    }
  }

  #step(subject: Subject, source: string): void {
    const { random } = this.writer
    const dice = random.next()
    if (dice < 0.3) this.#edit(subject, source)
    else if (dice < 0.5) this.#read(subjectOf(this.#plan.project, random))
    else if (dice < 0.65) this.#test(subject, random.chance(0.5))
    else if (dice < 0.75) this.#bash('git status --short', ` M ${subject.file}\n`)
    else if (dice < 0.85)
      this.#bash('git diff --stat', ` ${subject.file} | ${random.between(2, 40)} ++--\n 1 file changed\n`)
    else if (dice < 0.95) this.#grep(subjectOf(this.#plan.project, random))
    else this.#write(subjectOf(this.#plan.project, random))
  }

  #read(subject: Subject): string {
    const content = sourceOf(this.#plan.project, subject, this.writer.random)
    const lines = content.split('\n')
    const numbered = lines.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n')
    const filePath = this.#path(subject)
    const file = { filePath, content, numLines: lines.length, startLine: 1, totalLines: lines.length }
    this.#done('Read', { file_path: filePath }, numbered, { type: 'text', file })
    return content
  }

  #edit(subject: Subject, source: string): void {
    const { random } = this.writer
    const filePath = this.#path(subject)
    const before = functionOf(this.#plan.project, subject, random.between(10, 900))
    const after = functionOf(
      this.#plan.project,
      { ...subject, quality: `Known${subject.quality}` },
      random.between(10, 900),
    )
    const input = { file_path: filePath, old_string: before, new_string: after, replace_all: false }
    if (random.chance(0.05)) {
      this.#failed(
        'Edit',
        input,
        `<tool_use_error>String to replace not found in file.\nString: ${before}</tool_use_error>`,
      )
      return
    }
    const lines = [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)]
    const hunk = {
      oldStart: 1,
      oldLines: before.split('\n').length,
      newStart: 1,
      newLines: after.split('\n').length,
      lines,
    }
    this.#done('Edit', input, `The file ${filePath} has been updated successfully.`, {
      filePath,
      oldString: before,
      newString: after,
      originalFile: source,
      structuredPatch: [hunk],
      userModified: false,
      replaceAll: false,
    })
  }

  #write(subject: Subject): void {
    const filePath = this.#path(subject)
    const content = sourceOf(this.#plan.project, subject, this.writer.random)
    this.#done('Write', { file_path: filePath, content }, `File created successfully at: ${filePath}`, {
      type: 'create',
      filePath,
      content,
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    })
  }

  #grep({ name, file }: Subject): void {
    this.#done('Grep', { pattern: name, output_mode: 'files_with_matches' }, `Found 1 file\n${file}`, {
      mode: 'files_with_matches',
      filenames: [file],
      numFiles: 1,
    })
  }

  #test(subject: Subject, failing: boolean): void {
    const { command, output } = testRun(this.#plan.project, subject, failing, this.writer.random)
    if (failing) this.#failed('Bash', { command, description: 'Run the tests' }, `Exit code 1\n${output}`)
    else this.#bash(command, output)
  }

  #commit({ name, quality, noun, file }: Subject): void {
    const message = `${name} drops ${quality} ${noun}s`
    const hash = this.writer.uuid().slice(0, 7)
    this.#bash(
      `git commit -am "${message}"`,
      `[main ${hash}] ${message}\n 1 file changed, 4 insertions(+), 2 deletions(-) ${file}\n`,
    )
  }

  #bash(command: string, stdout: string): void {
    this.#done('Bash', { command }, stdout, { stdout, stderr: '', interrupted: false, isImage: false })
  }

  #done(tool: string, input: Fields, said: string, result: Fields): void {
    const id = this.#call(tool, input)
    this.writer.wait(50, 9_000)
    this.writer.toolResult(id, said, result, false)
  }

  #failed(tool: string, input: Fields, said: string): void {
    const id = this.#call(tool, input)
    this.writer.wait(50, 9_000)
    this.writer.toolResult(id, said, `Error: ${said}`, true)
  }

  #call(tool: string, input: Fields): string {
    const id = this.writer.id('toolu')
    this.writer.assistant({ type: 'tool_use', id, name: tool, input }, 'tool_use')
    this.toolUses += 1
    return id
  }

  #path({ file }: Subject): string {
    return `${this.#plan.cwd}/${file}`
  }
}

type Fields = Parameters<TranscriptWriter['assistant']>[0]
