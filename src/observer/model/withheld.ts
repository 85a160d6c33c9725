/** What a person never wants to be sent to a model: uses of some tools, and whatever holds lines of some files. */
import type { MessageEvent } from '../../memory/event.ts'
import { globMatches, pathPatterns } from './withheld/patterns.ts'
import { namedFiles, quotedFiles } from './withheld/places.ts'
import { USUAL_PATHS } from './withheld/usual.ts'

export interface WithheldLists {
  /** Names, or patterns with `*`. */
  tools: readonly string[]
  /** Beside those that are never sent anyway; see `withheld/patterns.ts`. */
  paths: readonly string[]
}

export interface Withheld {
  /** Why an event is not sent, or null. */
  reasonFor(event: MessageEvent): string | null
  /** Whether one of these files is on the list. Relative paths are looked at from `from`. */
  mentions(files: readonly string[], from: string): boolean
}

export function makeWithheld({ tools, paths }: WithheldLists): Withheld {
  const toolPatterns = tools.map((tool) => tool.trim()).filter((tool) => tool !== '')
  const patterns = pathPatterns([...USUAL_PATHS, ...paths])
  const firstMatch = (files: readonly string[], from: string): string | null => {
    for (const file of new Set(files)) {
      const pattern = patterns.match(file, from)
      if (pattern !== null) return pattern
    }
    return null
  }
  return {
    reasonFor(event) {
      if (event.kind === 'subagent_end') return null
      const name = event.tool.toLowerCase()
      const tool = toolPatterns.find((pattern) => globMatches(pattern.toLowerCase(), name))
      if (tool !== undefined) return because(tool, 'CLAUDE_MEM_NEVER_SEND_TOOLS')
      const path = firstMatch(namedFiles(event), event.cwd) ?? firstMatch(quotedFiles(event), event.cwd)
      return path === null ? null : because(path, 'CLAUDE_MEM_NEVER_SEND_PATHS')
    },
    mentions: (files, from) => firstMatch(files, from) !== null,
  }
}

function because(entry: string, setting: string): string {
  return `not sent: ${entry} is on your list (${setting})`
}
