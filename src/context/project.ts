/** The project that somebody meant by its name or key. */
import { MemError } from '../errors.ts'
import type { Project } from '../memory/project.ts'
import type { Reader } from '../store/port.ts'

/** Keys say what they are: of a project that nobody remembers, too. */
const KEY = /^(?:git|dir):/

export async function chosenProject(reader: Pick<Reader, 'projects'>, given: string): Promise<Project> {
  const [known] = await reader.projects({ key: given, limit: 1 })
  if (known !== undefined) return { key: known.key, name: known.name }
  if (KEY.test(given)) return { key: given, name: given.replace(KEY, '') }
  const [only, ...others] = await reader.projects({ name: given })
  if (only === undefined) {
    throw new MemError('not_found', `no project is called "${given}"; give a path (./${given}) or ask inside it`)
  }
  if (others.length > 0) {
    const keys = [only, ...others].map(({ key }) => key).join(', ')
    throw new MemError('bad_request', `${others.length + 1} projects are called "${given}"; say which: ${keys}`)
  }
  return { key: only.key, name: only.name }
}
