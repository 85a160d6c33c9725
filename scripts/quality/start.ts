/** The start of the next session, and everything it was made of as a file: constants can be chosen without the memory. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuiltContext, buildContext } from '../../src/context/build.ts'
import { type ContextOptions, contextSettings } from '../../src/context/options.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Project } from '../../src/domain/project.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store/port.ts'
import type { ObservedMemory } from './observed.ts'

/** What `buildContext` read from the store, in the order of its calls. */
interface StartRead {
  method: string
  args: unknown[]
  result: unknown
}

export interface MadeStart extends BuiltContext {
  options: ContextOptions
  reads: StartRead[]
}

/** The start after the session that a memory is made of. */
export async function startOf({ store, events }: Pick<ObservedMemory, 'store' | 'events'>): Promise<MadeStart> {
  const session = events[0] === undefined ? null : await store.session(events[0].session)
  if (session === null) throw new Error('the transcript contains no session')
  return await startAfter(store, session.project, events)
}

/** What the next session of a project gets with the default settings, if it starts after the last of these events. */
export async function startAfter(store: Store, project: Project, events: readonly MemoryEvent[]): Promise<MadeStart> {
  const now = events.reduce((latest, { at }) => Math.max(latest, at), 0)
  const options = { ...contextSettings(loadSettings('', {}).values), now }
  const reads: StartRead[] = []
  const built = await buildContext(recorded(store, reads), project, options)
  return { ...built, options, reads }
}

/** The store, with every call and its result noted in `reads`. */
function recorded(store: Store, reads: StartRead[]): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        const result: unknown = await method.apply(target, args)
        reads.push({ method: String(name), args, result })
        return result
      }
    },
  })
}

/** `asked`: what the start is measured with, as further fields of the file. */
export function dumpStart(directory: string, name: string, start: MadeStart, asked: Record<string, unknown>): void {
  const { project, options, reads, context } = start
  mkdirSync(directory, { recursive: true })
  const dump = { name, project, now: options.now, options, reads, start: context, ...asked }
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(dump)}\n`)
}

/** `NAME-018`: the start after session 18 of a history. */
export const checkpointName = (history: string, after: number): string => `${history}-${String(after).padStart(3, '0')}`
