/** Looks at everything that must hold for a memory to be made, and says what is wrong and how to mend it. Changes nothing. */
import { VERSION } from '../version.ts'
import { type Check, type Examination, examine, ok } from './check.ts'
import { client } from './client.ts'
import { daemon } from './daemon.ts'
import { dataDirectory, disk, permissions } from './data-directory.ts'
import { database } from './database.ts'
import { embedder } from './embedder.ts'
import { Facts, type Surroundings } from './facts.ts'
import { firing } from './firing.ts'
import { hooks } from './hooks.ts'
import { CLIENT_NAMES } from './installed.ts'
import { nativeModules } from './native-modules.ts'
import { nodeExamination } from './node.ts'
import { observer } from './observer.ts'
import { server } from './server.ts'
import { sessions } from './sessions.ts'
import { settingsExamination } from './settings.ts'
import { waiting } from './waiting.ts'

/** One after the other: a hook that is timed should not run beside anything else. `before`: what is looked at now. */
export async function* diagnose(
  around: Surroundings,
  before: (title: string) => void = () => undefined,
): AsyncGenerator<Check> {
  for (const examination of examinations(new Facts(around))) {
    before(examination.title)
    yield* await examine(examination)
  }
}

function examinations(facts: Facts): Examination[] {
  return [
    versions(facts),
    ...[nodeExamination, nativeModules, settingsExamination, dataDirectory, disk, permissions].map((of) => of(facts)),
    ...[database, daemon, waiting, observer, embedder].map((of) => of(facts)),
    ...CLIENT_NAMES.flatMap(({ name, title }) => {
      const of = [client, hooks, firing, ...(name === 'claude-code' ? [sessions] : []), server]
      return of.map((examination) => examination(facts, name, title))
    }),
  ]
}

function versions({ around }: Facts): Examination {
  const text = `${VERSION} in ${around.dist}, on ${process.platform} ${process.arch}`
  return { id: 'versions', title: 'claude-mem', look: async () => [ok(text)] }
}
