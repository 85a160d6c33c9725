/** The charts of all machines, for the build and for those who show them. */
import { sessionMachine } from '../../machines/session/machine.ts'
import { supervisorMachine } from '../../machines/supervisor/machine.ts'
import { type Chart, chartOf } from './chart.ts'

export const MACHINES = { session: sessionMachine, supervisor: supervisorMachine } as const
export type MachineName = keyof typeof MACHINES

export const CHARTS: Readonly<Record<MachineName, Chart>> = {
  session: chartOf(sessionMachine),
  supervisor: chartOf(supervisorMachine),
}
