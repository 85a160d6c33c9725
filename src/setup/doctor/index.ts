/** Checks everything that claude-mem needs to work. Reports what is wrong and how to fix it; changes nothing. */
import { VERSION } from '../../lib/version.ts'
import { INSTALL_ADAPTERS } from '../install/clients/index.ts'
import {
  type CheckResult,
  type CheckRun,
  type DoctorCheck,
  type DoctorEnvironment,
  DoctorFacts,
  runCheck,
} from './check.ts'
import { checkClient, checkMcpServer, checkSessions } from './clients.ts'
import { checkDaemon, checkEmbedder, checkObserver, checkTeam } from './daemon.ts'
import { checkHookRun, checkHooks } from './hooks.ts'
import type { ClientConnection } from './installed.ts'
import { checkCommand, checkNativeModules, checkNode, checkSettings } from './program.ts'
import { checkDatabase, checkDataDirectory, checkDisk, checkPermissions, checkQueue } from './storage.ts'

/** Runs the checks one after the other, so that the timed hook runs alone. `before` is called with each check's title. */
export async function* diagnose(
  environment: DoctorEnvironment,
  before: (title: string) => void = () => undefined,
): AsyncGenerator<CheckResult> {
  const facts = new DoctorFacts(environment)
  for (const check of [...CHECKS, ...INSTALL_ADAPTERS.flatMap(clientChecks)]) {
    before(check.title)
    yield* await runCheck(check, facts)
  }
}

const CHECKS: readonly DoctorCheck[] = [
  { id: 'versions', title: 'claude-mem', run: reportVersion },
  { id: 'node', title: 'Node', run: checkNode },
  { id: 'command', title: 'Command', run: checkCommand },
  { id: 'native-modules', title: 'Native modules', run: checkNativeModules },
  { id: 'settings', title: 'Settings', run: checkSettings },
  { id: 'data-directory', title: 'Data directory', run: checkDataDirectory },
  { id: 'disk', title: 'Disk', run: checkDisk },
  { id: 'permissions', title: 'Permissions', run: checkPermissions },
  { id: 'database', title: 'Database', run: checkDatabase },
  { id: 'daemon', title: 'Daemon', run: checkDaemon },
  { id: 'waiting', title: 'Queue', run: checkQueue },
  { id: 'observer', title: 'Observer', run: checkObserver },
  { id: 'embedder', title: 'Embedder', run: checkEmbedder },
  { id: 'team', title: 'Team', run: checkTeam },
]

interface ClientCheck {
  id: string
  /** Follows the client's name. */
  title: string
  run(connection: ClientConnection, facts: DoctorFacts): CheckRun
  /** Null: every client. */
  client: string | null
}

const CLIENT_CHECKS: readonly ClientCheck[] = [
  { id: 'client', title: '', run: checkClient, client: null },
  { id: 'hooks', title: ' hooks', run: checkHooks, client: null },
  { id: 'hook-run', title: ' hook run', run: checkHookRun, client: null },
  { id: 'sessions', title: ' sessions', run: checkSessions, client: 'claude-code' },
  { id: 'mcp', title: ' tools', run: checkMcpServer, client: null },
]

function clientChecks({ name, title }: { name: string; title: string }): DoctorCheck[] {
  return CLIENT_CHECKS.filter(({ client }) => client === null || client === name).map((check) => ({
    id: `${check.id}.${name}`,
    title: `${title}${check.title}`,
    run: async function* (facts) {
      const connection = (await facts.connections()).find((one) => one.name === name)
      return connection === undefined ? null : yield* check.run(connection, facts)
    },
  }))
}

async function* reportVersion({ environment }: DoctorFacts): CheckRun {
  const detail = `${VERSION} in ${environment.dist}, on ${process.platform} ${process.arch}`
  yield { state: 'ok', detail, fix: null }
  return null
}
