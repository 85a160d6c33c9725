/** Hooks as a client has them registered: all that it knows, once, of this version, and nothing that keeps them from running. */
import { counted } from '../memory/counts.ts'
import { VERSION } from '../version.ts'
import { advice, type Examination, type Finding, faultsOr, ok, problem } from './check.ts'
import { claudeSwitches, switchFaults } from './claude-settings.ts'
import type { Facts } from './facts.ts'
import { type Connection, type Entry, hookEntries, type InstalledFile } from './installed.ts'
import { programFile } from './program-file.ts'
import { isReported } from './sessions.ts'

const CLAUDE_CODE = 'claude-code'

type Registered = Entry & { file: InstalledFile }

export function hooks(facts: Facts, name: string, title: string): Examination {
  return {
    id: `hooks.${name}`,
    title: `${title} hooks`,
    look: async () => {
      const connections = await facts.connections()
      const connection = connections.find((one) => one.name === name)
      if (connection === undefined) return []
      const entries = hookEntries(connection.files)
      const switches = name === CLAUDE_CODE ? claudeSwitches(facts.around) : []
      const plugins = switches.filter(({ plugin }) => plugin).map(({ file }) => file)
      const unreadable = unreadableFaults(connection)
      if (entries.length === 0 && plugins.length === 0) {
        return unreadable.length > 0 ? unreadable : await unconnected(connection, connections, facts)
      }
      const faults = [
        ...unreadable,
        ...switchFaults(switches, facts.around),
        ...(entries.length === 0 ? [] : eventFaults(connection, entries)),
        ...twiceFaults(connection, entries, plugins),
        ...(await fileFaults(connection, entries, facts)),
        ...(facts.around.env.CLAUDE_MEM_HOOK_DISABLED === '1' ? [DISABLED] : []),
      ]
      return faultsOr(faults, wellText(entries, plugins))
    },
  }
}

const DISABLED = advice(
  'CLAUDE_MEM_HOOK_DISABLED=1 is in this environment: a client that is started from here is not reported',
  'unset CLAUDE_MEM_HOOK_DISABLED',
)

function wellText(entries: readonly Registered[], plugins: readonly string[]): string {
  if (entries.length === 0) return `through the plugin, which is enabled in ${plugins.join(' and ')}`
  const files = [...new Set(entries.map(({ file }) => file.path))]
  return `${counted(new Set(entries.map(({ event }) => event)).size, 'event')} in ${files.join(' and ')}`
}

function unreadableFaults({ files }: Connection): Finding[] {
  return files.flatMap(({ kind, path, unreadable }) =>
    kind === 'server' || unreadable === null
      ? []
      : [problem(unreadable, `repair ${path}, then claude-mem doctor again`)],
  )
}

/** A memory that hears of nothing is no memory; which client somebody uses is theirs to say. */
async function unconnected(connection: Connection, all: readonly Connection[], facts: Facts): Promise<Finding[]> {
  const { title, client, installCommand } = connection
  const isFirst = all[0] === connection
  const others = all.some(({ files }) => hookEntries(files).length > 0)
  if (isFirst && !others && connection.name === CLAUDE_CODE && (await isReported(facts))) {
    const text = 'none is registered, but the newest session was reported: it was started with --plugin-dir, it seems'
    return [advice(text, `for every session: ${installCommand('user')}`)]
  }
  if (isFirst && !others) {
    return [problem(`no hook is registered in ${title}: its sessions are not remembered`, installCommand('user'))]
  }
  return client === null ? [] : [ok(`not connected; to remember its sessions: ${installCommand('user')}`)]
}

function eventFaults(connection: Connection, entries: readonly Registered[]): Finding[] {
  const { title, events, unknown, tooOld, client, installCommand } = connection
  if (tooOld !== null) return [problem(tooOld, `update ${title}, then ${installCommand('user')}`)]
  const fix = installCommand(entries[0]?.file.scope ?? 'user')
  const there = new Set(entries.map(({ event }) => event))
  const missing = events.filter((event) => !there.has(event))
  const fatal = unknown.filter((event) => there.has(event))
  const surplus = [...there].filter((event) => !events.includes(event) && !unknown.includes(event))
  const faults: Finding[] = []
  if (missing.length > 0) {
    const text = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not registered`
    // Whoever writes hooks by hand chooses.
    faults.push(entries.some(({ byHand }) => byHand) ? advice(text, `if you want them: ${fix}`) : problem(text, fix))
  }
  if (fatal.length > 0) {
    const text = `${title} ${client?.version ?? ''} does not know ${fatal.join(', ')}, and may switch off every hook for it`
    faults.push(problem(text, fix))
  }
  if (surplus.length > 0) faults.push(advice(`${surplus.join(', ')} is registered for nothing`, fix))
  return faults
}

/** Each event would be reported as often: counted once where it has an id, and paid for each time. */
function twiceFaults(
  { uninstallCommand, installCommand }: Connection,
  entries: readonly Registered[],
  plugins: readonly string[],
): Finding[] {
  const [first] = entries
  if (first === undefined) return []
  const twice = [...new Set(entries.map(({ event }) => event))].filter(
    (event) => entries.filter((entry) => entry.event === event).length > 1,
  )
  const files = [...new Set(entries.filter(({ event }) => twice.includes(event)).map(({ file }) => file))]
  const faults: Finding[] = []
  if (twice.length > 0) {
    const text = `registered more than once: ${twice.join(', ')} in ${files.map(({ path }) => path).join(' and ')}`
    faults.push(problem(text, files.length > 1 ? uninstallCommand('project') : installCommand(first.file.scope)))
  }
  if (plugins.length > 0) {
    const text = `registered in ${first.file.path}, and the plugin is enabled too (${plugins.join(' and ')})`
    faults.push(problem(text, `${uninstallCommand(first.file.scope)}, or disable the plugin`))
  }
  return faults
}

async function fileFaults(connection: Connection, entries: readonly Registered[], facts: Facts): Promise<Finding[]> {
  const faults: Finding[] = []
  for (const { command, file, byHand } of firstOfEach(entries)) {
    const { missing, version, file: program } = await programFile(command, facts.around)
    const fix = connection.installCommand(file.scope)
    if (missing.length > 0) {
      const text = `${missing.join(' and ')} is not there, which hooks in ${file.path} run`
      faults.push(problem(text, byHand ? `put it on the PATH, or write its path into ${file.path}` : fix))
    } else if (version !== null && version !== VERSION) {
      faults.push(problem(`hooks run claude-mem ${version} (${program}), and this program is ${VERSION}`, fix))
    }
  }
  return faults
}

/** Every event has the same command, mostly. */
export function firstOfEach(entries: readonly Registered[]): Registered[] {
  return entries.filter(({ command }, index) => entries.findIndex((other) => other.command === command) === index)
}
