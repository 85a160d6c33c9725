/** The machines of this program and their charts. Not for the page: it would bundle the machines and XState. */
import { sessionMachine } from '../../machines/session/machine.ts'
import { supervisorMachine } from '../../machines/supervisor/machine.ts'
import { type Chart, machineChart } from './chart.ts'

export const MACHINES = { session: sessionMachine, supervisor: supervisorMachine } as const
export type MachineName = keyof typeof MACHINES

/** `session` is its life, whose state a session's row and trace have; `turn` runs beside it. */
export const CHARTS = {
  session: machineChart(sessionMachine, 'life'),
  turn: machineChart(sessionMachine, 'turn'),
  supervisor: machineChart(supervisorMachine),
} as const satisfies Record<MachineName | 'turn', Chart>

/** The charts of a machine, one for each of its regions. */
export const MACHINE_CHARTS: Readonly<Record<MachineName, readonly Chart[]>> = {
  session: [CHARTS.session, CHARTS.turn],
  supervisor: [CHARTS.supervisor],
}
