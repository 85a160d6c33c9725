import { columnEntries } from './keys.ts'
import type { Language } from './language.ts'

const NAME = String.raw`[\x60"[]?(?:\w+[\x60"\]]?\.[\x60"[]?)?(?<name>[A-Za-z_]\w*)`

export const sql: Language = {
  name: 'sql',
  nesting: 'flat',
  comment: /^(?:--|\/\*|\*)/,
  hint: /^(?:CREATE|ALTER)\b/i,
  declarations: [
    {
      kind: 'type',
      pattern: new RegExp(`^CREATE\\s+(?:\\w+\\s+)?TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?${NAME}`, 'i'),
      until: /;$/,
    },
    {
      kind: 'const',
      pattern: new RegExp(
        `^CREATE\\s+(?:UNIQUE\\s+)?INDEX\\s+(?:CONCURRENTLY\\s+)?(?:IF\\s+NOT\\s+EXISTS\\s+)?${NAME}`,
        'i',
      ),
      until: /;$/,
    },
    {
      kind: 'type',
      pattern: new RegExp(
        `^CREATE\\s+(?:OR\\s+REPLACE\\s+)?(?:MATERIALIZED\\s+)?(?:VIEW|TYPE|SEQUENCE)\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?${NAME}`,
        'i',
      ),
      until: /;$/,
    },
    {
      kind: 'function',
      pattern: new RegExp(`^CREATE\\s+(?:OR\\s+REPLACE\\s+)?(?:FUNCTION|PROCEDURE|TRIGGER)\\s+${NAME}`, 'i'),
    },
  ],
  entries: columnEntries,
  signs: [],
}
