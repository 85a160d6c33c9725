/** Files with several languages: each is read as if the others were blank, so that line numbers stay. */
import { css } from './config.ts'
import type { Language, Side } from './language.ts'
import { javascript, typescript } from './typescript.ts'

type Region = 'script' | 'style' | 'markup'

const OPEN = /^\s*<(script|style)\b([^>]*)>\s*$/i
const CLOSE = /<\/(?:script|style)>/i
const FENCE = /^---\s*$/

export interface RegionSides {
  language: Language
  old: Side
  new: Side
}

export function regionsOf(old: Side, now: Side, file: string): RegionSides[] {
  const astro = file.endsWith('.astro')
  const typed = astro || [...old.lines, ...now.lines].some((line) => OPEN.test(line) && /lang=["']tsx?["']/.test(line))
  const before = regions(old, astro)
  const after = regions(now, astro)
  const script = typed ? typescript : javascript
  return [
    { language: script, old: only(old, before, 'script'), new: only(now, after, 'script') },
    { language: css, old: only(old, before, 'style'), new: only(now, after, 'style') },
  ]
}

function regions(side: Side, astro: boolean): Region[] {
  let region: Region = 'markup'
  // A fragment without tags around it shows no region; code is the better guess than markup.
  const whole = side.lines.some((line) => OPEN.test(line) || /^\s*<\w/.test(line))
  let fenced = false
  return side.lines.map((line) => {
    if (!whole) return 'script'
    if (astro && FENCE.test(line)) {
      fenced = !fenced
      return 'markup'
    }
    if (fenced) return 'script'
    const open = OPEN.exec(line)
    if (open) {
      region = open[1]?.toLowerCase() === 'style' ? 'style' : 'script'
      return 'markup'
    }
    if (CLOSE.test(line)) region = 'markup'
    return region
  })
}

function only(side: Side, regionOf: Region[], region: Region): Side {
  const change = side.change.slice()
  const lines = side.lines.map((line, i) => {
    if (regionOf[i] === region) return line
    change[i] = 0
    return ''
  })
  return { lines, change, starts: side.starts }
}
