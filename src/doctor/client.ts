/** The client itself. */
import { advice, type Examination, ok } from './check.ts'
import type { Facts } from './facts.ts'
import { hookEntries } from './installed.ts'

export function client(facts: Facts, name: string, title: string): Examination {
  return {
    id: `client.${name}`,
    title,
    look: async () => {
      const connections = await facts.connections()
      const connection = connections.find((one) => one.name === name)
      if (connection === undefined) return []
      const { client: found, files, installCommand } = connection
      if (found !== null) return [ok(found.version === null ? found.path : `${found.version} (${found.path})`)]
      const isRegistered = hookEntries(files).length > 0
      if (!isRegistered && connection !== connections[0]) return []
      const text = `no ${title} was found here${isRegistered ? '; what is registered waits for it' : ''}`
      return [advice(text, `once it is on your PATH: ${installCommand('user')}, which registers all that it knows`)]
    },
  }
}
