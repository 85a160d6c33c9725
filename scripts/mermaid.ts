/** The page about the machines. Their diagrams are generated, never drawn by hand. */
import type { Chart } from '../src/chart/chart.ts'
import { CHARTS } from '../src/chart/charts.ts'
import { mermaid } from '../src/chart/mermaid.ts'

export function renderMachines(): string {
  return `# The machines

Generated from \`machines/\` by \`npm run docs\`; a test fails when this page is not current.

## session

One for each content session. The rules are at the top of \`machines/session/machine.ts\`. Events on the outermost box
are taken in every state: hooks report whatever the session is doing.

${fenced(CHARTS.session)}
## supervisor

One for each daemon. The rules are at the top of \`machines/supervisor/machine.ts\`.

${fenced(CHARTS.supervisor)}`
}

function fenced(chart: Chart): string {
  return `\`\`\`mermaid\n${mermaid(chart)}\n\`\`\`\n`
}
