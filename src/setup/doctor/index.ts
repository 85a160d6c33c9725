/** Checks everything that claude-mem needs to work. Reports what is wrong and how to fix it; changes nothing. */
import { VERSION } from '../../lib/version.ts'
import { type CheckResult, type DoctorCheck, type DoctorEnvironment, DoctorFacts, ok, runCheck } from './check.ts'
import { clientCheck, mcpServerCheck, sessionsCheck } from './clients.ts'
import { daemonCheck, embedderCheck, observerCheck } from './daemon.ts'
import { hookRunCheck, hooksCheck } from './hooks.ts'
import { CLIENT_NAMES } from './installed.ts'
import { nativeModulesCheck, nodeCheck, settingsCheck } from './program.ts'
import { databaseCheck, dataDirectoryCheck, diskCheck, permissionsCheck, queueCheck } from './storage.ts'

/** Runs the checks one after the other, so that the timed hook runs alone. `before` is called with each check's title. */
export async function* diagnose(
  environment: DoctorEnvironment,
  before: (title: string) => void = () => undefined,
): AsyncGenerator<CheckResult> {
  for (const check of allChecks(new DoctorFacts(environment))) {
    before(check.title)
    yield* await runCheck(check)
  }
}

function allChecks(facts: DoctorFacts): DoctorCheck[] {
  return [
    versionCheck(facts),
    ...[nodeCheck, nativeModulesCheck, settingsCheck, dataDirectoryCheck, diskCheck, permissionsCheck].map((of) =>
      of(facts),
    ),
    ...[databaseCheck, daemonCheck, queueCheck, observerCheck, embedderCheck].map((check) => check(facts)),
    ...CLIENT_NAMES.flatMap(({ name, title }) => {
      const checks = [
        clientCheck,
        hooksCheck,
        hookRunCheck,
        ...(name === 'claude-code' ? [sessionsCheck] : []),
        mcpServerCheck,
      ]
      return checks.map((check) => check(facts, name, title))
    }),
  ]
}

function versionCheck({ environment }: DoctorFacts): DoctorCheck {
  const text = `${VERSION} in ${environment.dist}, on ${process.platform} ${process.arch}`
  return { id: 'versions', title: 'claude-mem', run: async () => [ok(text)] }
}
