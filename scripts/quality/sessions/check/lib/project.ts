import type { Recorder } from '../../../recorder.ts'

export interface Past {
  author: string
  commits: string[]
}

/** The project a session finds when it begins: files and a short git history, none of it recorded. */
export function startProject(r: Recorder, files: Record<string, string>, past: Past): void {
  r.files(files)
  const email = `${past.author.toLowerCase().replace(/[^a-z]+/g, '.')}@example.com`
  const identity = `git config user.name '${past.author}' && git config user.email '${email}'`
  r.shell(`git init -q -b main && ${identity} && git config commit.gpgsign false && git add -A`)
  for (const message of past.commits) r.shell(`git commit -q --allow-empty -m '${message}'`)
}
