/** The machines of this program and their charts. Not for the page: it would bundle the machines and XState. */
import { sessionMachine } from '../../machines/session/machine.ts'
import { supervisorMachine } from '../../machines/supervisor/machine.ts'
import { type Chart, machineChart } from './chart.ts'

export const MACHINES = { session: sessionMachine, supervisor: supervisorMachine } as const
export type MachineName = keyof typeof MACHINES

export const CHARTS: Readonly<Record<MachineName, Chart>> = {
  session: machineChart(sessionMachine),
  supervisor: machineChart(supervisorMachine),
}
