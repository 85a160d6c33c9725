/** Which project of this memory a project of a file is. */
import { MemError } from '../errors.ts'
import type { Project } from '../memory/project.ts'
import type { Reader } from '../store/port.ts'

/** A project of the original claude-mem has a name and nothing else. */
const IMPORTED_KEY = 'import:'

export function importedKey(name: string): string {
  return `${IMPORTED_KEY}${name}`
}

export interface MappedProject {
  from: Project
  to: Project
}

export class ProjectMap {
  readonly #reader: Pick<Reader, 'projects'>
  readonly #wanted: ReadonlyMap<string, Project>
  readonly #used = new Set<string>()
  readonly #mapped = new Map<string, MappedProject>()

  /** `wanted`: by the key or the name that a project has in the file. */
  constructor(reader: Pick<Reader, 'projects'>, wanted: ReadonlyMap<string, Project>) {
    this.#reader = reader
    this.#wanted = wanted
  }

  /** Those that were met, in their order. */
  get projects(): MappedProject[] {
    return [...this.#mapped.values()]
  }

  async resolve(from: Project): Promise<Project> {
    const known = this.#mapped.get(from.key)
    if (known !== undefined) return known.to
    const to = this.#asked(from) ?? (from.key.startsWith(IMPORTED_KEY) ? await this.#namesake(from) : from)
    this.#mapped.set(from.key, { from, to })
    return to
  }

  /** A mapping for what is not in the file is a typing mistake, and would be found out when it is too late. */
  refuseUnused(): void {
    const unused = [...this.#wanted.keys()].filter((name) => !this.#used.has(name))
    if (unused.length === 0) return
    const there = this.projects.map(({ from }) => from.name).join(', ')
    throw new MemError(
      'bad_request',
      `--project-map names ${unused.join(', ')}, which is not in the file; its projects: ${there || 'none'}. Nothing was imported.`,
    )
  }

  #asked({ key, name }: Project): Project | undefined {
    for (const word of [key, name]) {
      const to = this.#wanted.get(word)
      if (to === undefined) continue
      this.#used.add(word)
      return to
    }
    return undefined
  }

  /** The one project here that has this name. One of an earlier import gives way to a repository. */
  async #namesake(from: Project): Promise<Project> {
    const all = await this.#reader.projects({ name: from.name })
    const real = all.filter(({ key }) => !key.startsWith(IMPORTED_KEY))
    const [only, ...others] = real
    return only === undefined || others.length > 0 ? from : { key: only.key, name: only.name }
  }
}
