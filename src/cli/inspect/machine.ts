/** A machine's definition, drawn or for other programs. Needs neither a daemon nor a data directory. */
import type { Chart } from '../../chart/chart.ts'
import { CHARTS, MACHINES, type MachineName } from '../../chart/charts.ts'
import { sourceOf } from '../../chart/definition.ts'
import { mermaid } from '../../chart/mermaid.ts'
import { arrowLines } from '../render/arrows.ts'
import { canDraw, chartLines } from '../render/chart.ts'
import { indented } from '../render/section.ts'
import type { Look } from '../style.ts'

export type Format = 'mermaid' | 'json' | 'xstate'

export function chartJson(name: MachineName): Chart {
  return CHARTS[name]
}

export function machineText(name: MachineName, format: Format): string {
  switch (format) {
    case 'mermaid':
      return mermaid(CHARTS[name])
    case 'json':
      return JSON.stringify(CHARTS[name], null, 2)
    case 'xstate':
      return sourceOf(MACHINES[name]).trimEnd()
  }
}

export function machineLines(name: MachineName, look: Look): string[] {
  const chart = CHARTS[name]
  const hint = `For the Stately editor: claude-mem inspect --machine ${name} --format xstate`
  return [
    `${look.style.bold('Machine')} ${name}`,
    '',
    ...(canDraw(look) ? [...chartLines(chart, null, look), ''] : []),
    ...indented((narrow) => arrowLines(chart, narrow), look),
    '',
    look.style.dim(hint),
  ]
}
