/** The memory behind the tools: the daemon's requests, in one place. */
import type { Memory as ChannelMemory } from '../channel/memory.ts'
import type { ContextView } from '../context/load.ts'
import type { Connection } from './connection.ts'

type Asked = 'search' | 'observations' | 'timeline' | 'summaries' | 'remember' | 'forget'

export interface Memory extends Pick<ChannelMemory, Asked> {
  /** What a session of this project gets at its start. */
  context(project: string): Promise<ContextView>
}

export function memoryOf(connection: Connection): Memory {
  return {
    search: async (request) => {
      const ask = { type: 'search', request } as const
      return (await connection.ask((client) => client.request('found', ask), 'read')).answer
    },
    observations: async (ids) => {
      const ask = { type: 'observations' as const, ids: [...ids] }
      const { observations, missing } = await connection.ask((client) => client.request('observations', ask), 'read')
      return { observations, missing }
    },
    timeline: async (request) => {
      const ask = { type: 'timeline', ...request } as const
      const { anchor, items } = await connection.ask((client) => client.request('timeline', ask), 'read')
      return { anchor, items }
    },
    summaries: async (filter) => {
      const ask = { type: 'summaries', ...filter } as const
      return (await connection.ask((client) => client.request('summaries', ask), 'read')).summaries
    },
    context: async (asked) => {
      const ask = { type: 'context', project: asked } as const
      const { project, tokens, context } = await connection.ask((client) => client.request('context', ask), 'read')
      return { project, tokens, context }
    },
    remember: async (request) => {
      const ask = { type: 'remember', ...request } as const
      const { observation } = await connection.ask((client) => client.request('remembered', ask), 'write')
      return { id: observation }
    },
    forget: async ({ ids, filters, confirm }) => {
      const ask = { type: 'forget' as const, ids: [...ids], confirm, ...(filters === null ? {} : { filters }) }
      const manner = confirm ? 'write' : 'read'
      return (await connection.ask((client) => client.request('forgotten', ask), manner)).report
    },
  }
}
