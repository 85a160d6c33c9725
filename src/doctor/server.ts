/** The MCP server as a client has it registered. */
import { VERSION } from '../version.ts'
import { advice, type Examination, type Finding, faultsOr, problem } from './check.ts'
import type { Facts } from './facts.ts'
import { hookEntries } from './installed.ts'
import { programFile } from './program-file.ts'

export function server(facts: Facts, name: string, title: string): Examination {
  return {
    id: `mcp.${name}`,
    title: `${title} tools`,
    look: async () => {
      const connection = (await facts.connections()).find((one) => one.name === name)
      if (connection === undefined) return []
      const { files, installCommand } = connection
      const registered = files.filter(({ kind, entries }) => kind === 'server' && entries.length > 0)
      const [hooked] = hookEntries(files)
      const faults: Finding[] = []
      for (const { kind, path, taken, unreadable } of files) {
        if (kind !== 'server') continue
        if (unreadable !== null) faults.push(problem(unreadable, `repair ${path}, then claude-mem doctor again`))
        if (taken) {
          faults.push(
            advice(
              `${path} has a server named claude-mem that is not this one`,
              `rename or remove it there, then ${installCommand('user')}`,
            ),
          )
        }
      }
      for (const { entries, path, scope } of registered) {
        for (const { command } of entries) {
          const { missing, version, file } = await programFile(command, facts.around)
          if (missing.length > 0) {
            faults.push(problem(`${missing.join(' and ')} is not there, which ${path} starts`, installCommand(scope)))
          } else if (version !== null && version !== VERSION) {
            faults.push(
              problem(
                `it starts claude-mem ${version} (${file}), and this program is ${VERSION}`,
                installCommand(scope),
              ),
            )
          }
        }
      }
      if (registered.length === 0 && faults.length === 0) {
        if (hooked === undefined) return []
        const text = 'the MCP server is not registered: agents get the memory at their start, and cannot ask for more'
        return [advice(text, installCommand(hooked.file.scope))]
      }
      return faultsOr(faults, `MCP server in ${registered.map(({ path }) => path).join(' and ')}`)
    },
  }
}
