/**
 * `node scripts/run.mjs quality/record dev|check|NAME…`: plays scenarios of scripts/quality/sessions and writes
 * test/quality/{dev,check}/NAME.jsonl and NAME.facts.json.
 */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { say } from '../lib/output.ts'
import { ROOT } from '../lib/root.ts'
import { Recorder } from './recorder.ts'
import { type Fact, type Scenario, SETS, type SetName } from './scenario.ts'

interface Source {
  set: SetName
  name: string
  file: string
}

const FACTS = 10

function sources(): Source[] {
  return SETS.flatMap((set) => {
    const directory = join(ROOT, 'scripts', 'quality', 'sessions', set)
    return readdirSync(directory)
      .filter((file) => file.endsWith('.ts'))
      .sort()
      .map((file) => ({ set, name: basename(file, '.ts'), file: join(directory, file) }))
  })
}

/** Each by itself: a scenario that does not compile yet stops nobody else. */
async function load(source: Source): Promise<Scenario> {
  const outfile = join(ROOT, 'node_modules', '.cache', 'claude-mem', 'sessions', `${source.name}-${process.pid}.mjs`)
  await build({
    entryPoints: [source.file],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  })
  try {
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile, { force: true })
  }
}

async function record(source: Source): Promise<void> {
  const scenario = await load(source)
  const recorder = new Recorder({
    name: source.name,
    ...(scenario.project === undefined ? {} : { cwd: scenario.project }),
    ...(scenario.client === undefined ? {} : { client: scenario.client }),
  })
  const directory = join(ROOT, 'test', 'quality', source.set)
  try {
    await scenario.default(recorder)
    const file = recorder.save(directory)
    writeFileSync(join(directory, `${source.name}.facts.json`), factsText(scenario.facts))
    const kilobytes = Math.round(statSync(file).size / 1024)
    say(`${source.set}/${source.name}: ${recorder.toolUses} tool uses, ${kilobytes} KB, ${scenario.facts.length} facts`)
    for (const failure of recorder.failures) say(`  failed: ${failure.replace(/\s+/g, ' ')}`)
    if (scenario.facts.length !== FACTS) say(`  ${scenario.facts.length} facts instead of ${FACTS}`)
  } finally {
    recorder.dispose()
  }
}

/** As the formatter wants it: a field a line, lists on one line. */
function factsText(facts: readonly Fact[]): string {
  const list = (parts: readonly string[]) => `[${parts.map((part) => JSON.stringify(part)).join(', ')}]`
  const entries = facts.map(
    ({ ask, expect }) => `  {\n    "ask": ${JSON.stringify(ask)},\n    "expect": ${list(expect)}\n  }`,
  )
  return `[\n${entries.join(',\n')}\n]\n`
}

const wanted = process.argv.slice(2)
const chosen = sources().filter(({ set, name }) => wanted.includes(set) || wanted.includes(name))
if (chosen.length === 0) {
  say(
    `say which: dev, check or one of ${sources()
      .map(({ name }) => name)
      .join(', ')}`,
  )
  process.exitCode = 2
}
for (const source of chosen) await record(source)
