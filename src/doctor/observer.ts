/** Who observes, and what it lacks. No call is made. */
import { isProgram } from '../find-program.ts'
import { chooseProvider, offersOf, surroundingsOf } from '../observer/choose.ts'
import { advice, type Examination, type Finding, faultsOr, problem } from './check.ts'
import type { Facts } from './facts.ts'

const TEST = 'claude-mem providers test makes one tiny call'

export function observer(facts: Facts): Examination {
  return {
    id: 'observer',
    title: 'Observer',
    look: async () => {
      const { settings, around } = facts
      const surroundings = await surroundingsOf(around.env)
      const { provider, why, setUp } = chooseProvider(settings, surroundings)
      const faults: Finding[] = [
        ...(setUp?.problems ?? []).map((text) => problem(`${provider}: ${text}`, 'then claude-mem restart')),
        ...(setUp?.notes ?? []).map((text) => advice(`${provider}: ${text}`, 'then claude-mem restart')),
      ]
      if (setUp?.provider === 'claude-code' && setUp.program !== null && !(await isProgram(setUp.program))) {
        const fix = 'claude-mem config set claude-code-path FILE, or unset it to use the one on the PATH'
        faults.push(problem(`claude-code: there is no program ${setUp.program}`, fix))
      }
      const daemon = await facts.daemon()
      if (daemon.type === 'running' && daemon.status.provider !== provider) {
        const text = `the daemon observes with ${daemon.status.provider}; the settings say ${provider}`
        faults.push(advice(text, 'claude-mem restart'))
      }
      const offers = setUp === null && provider === 'offline' ? offersOf(settings, surroundings) : []
      const more = offers.length === 0 ? '' : '; claude-mem providers shows which model could'
      const model = setUp === null ? '' : ` with ${setUp.model}; ${TEST}`
      return faultsOr(faults, `${provider}${model} (${why})${more}`)
    },
  }
}
