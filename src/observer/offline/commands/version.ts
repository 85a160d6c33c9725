/** `node --version`: what is installed here. */
import type { Output } from './output.ts'
import { type Reading, type Run, reading } from './reading.ts'

const ASKS = /^(?:--version|-version|-V|version)$/
const VERSION = /\bv?(\d+\.\d+(?:\.\d+)?(?:[-+.][\w.]+)?)\b/

export function readVersions(runs: Run[], out: Output): Reading | null {
  const asking = runs.filter((run) => run.args.length === 1 && (ASKS.test(run.args[0] ?? '') || run.args[0] === '-v'))
  if (asking.length === 0) return null
  const lines = out.lines.filter((line) => VERSION.test(line))
  const facts = asking.flatMap((run, i) => {
    const own = lines.find((line) => line.toLowerCase().includes(run.program.toLowerCase()))
    const line = own ?? (lines.length === asking.length ? lines[i] : asking.length === 1 ? lines[0] : undefined)
    const version = line === undefined ? undefined : VERSION.exec(line)?.[0]
    return version === undefined ? [] : [`${run.program} is version ${version}`]
  })
  return facts.length === 0 ? null : reading({ headline: facts.join(', '), facts })
}
