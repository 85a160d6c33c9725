/** Containers and infrastructure: images, containers, resources. */

import { unique } from '../text.ts'
import { allLines, type Output } from './output.ts'
import { type Reader, reading } from './reading.ts'

const RULES: [RegExp, (found: string[]) => string][] = [
  [/naming to (?:docker\.io\/(?:library\/)?)?([\w./-]+:[\w.-]+)/, ([, tag]) => `Built image ${tag}`],
  [/^Successfully tagged (\S+)/, ([, tag]) => `Built image ${tag}`],
  [
    /^\s*(?:[✔⠿] )?Container (\S+)\s+(Started|Healthy|Running|Stopped|Removed|Exited)/,
    ([, name, state]) => `Container ${name} is ${state?.toLowerCase()}`,
  ],
  [/^([\w.-]+): digest: (sha256:[0-9a-f]{12})/, ([, tag, digest]) => `Pushed image tag ${tag} (${digest})`],
  [/^Status: Downloaded newer image for (\S+)/, ([, tag]) => `Pulled image ${tag}`],
  [
    /^((?:[\w.]+\/)[\w.-]+) (created|configured|deleted|scaled|restarted|patched)\b/,
    ([, name, did]) => `${name} ${did}`,
  ],
  [/^(Apply complete! Resources: .+?)\.?$/, ([, said]) => `Terraform: ${said}`],
  [/^(Destroy complete! Resources: .+?)\.?$/, ([, said]) => `Terraform: ${said}`],
  [/^(Plan: \d+ to add.+?)\.?$/, ([, said]) => `Terraform: ${said}`],
  [/^(No changes\. Your infrastructure matches)/, () => 'Terraform: no changes'],
  [/^Release "(.+?)" has been (upgraded|installed|rolled back)/, ([, name, did]) => `Helm release ${name} ${did}`],
]

export const readContainers: Reader = (run, out) => {
  if (!/^(?:docker|podman|kubectl|helm|terraform|tofu)$/.test(run.program) || run.kind === 'look') return null
  const facts = said(out)
  return facts.length === 0 ? null : reading({ headline: facts.slice(0, 3).join('; '), facts })
}

function said(out: Output): string[] {
  return unique(RULES.flatMap(([rule, say]) => allLines(out, rule).map(say))).slice(0, 10)
}
