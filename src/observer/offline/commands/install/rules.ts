/** How package managers say what came, what changed its version, and what went. */

export type Change = 'added' | 'updated' | 'removed'

/** Groups: name, version, and the version before it where the line says so. */
export interface Rule {
  change: Change
  line: RegExp
  /** For `1.0 -> 2.0` the old version stands first. */
  oldFirst?: boolean
  dev?: boolean
}

const NAME = '(@?[\\w.-]+(?:\\/[\\w.-]+)*)'

export const RULES: Rule[] = [
  // bun, old npm, yarn
  { change: 'added', line: new RegExp(`^(?:\\+|installed|├─|└─) ${NAME}@(?:npm:)?(\\d[\\w.+-]*)`) },
  { change: 'added', line: new RegExp(`YN0085: │ \\+ ${NAME}@npm:(\\d[\\w.+-]*)`) },
  { change: 'removed', line: new RegExp(`YN0085: │ - ${NAME}@npm:(\\d[\\w.+-]*)`) },
  // pnpm
  { change: 'added', line: new RegExp(`^\\+ ${NAME} (\\d[\\w.+-]*)`) },
  { change: 'removed', line: new RegExp(`^- ${NAME} (\\d[\\w.+-]*)`) },
  // uv
  { change: 'added', line: new RegExp(`^ \\+ ${NAME}==(\\S+)`) },
  { change: 'removed', line: new RegExp(`^ - ${NAME}==(\\S+)`) },
  // poetry, composer
  { change: 'added', line: new RegExp(`^\\s+[-•] Installing ${NAME} \\((v?\\d[^\\s)]*)`) },
  {
    change: 'updated',
    line: new RegExp(`^\\s+[-•] (?:Updating|Upgrading|Downgrading) ${NAME} \\((v?\\d\\S*) [-=]> (v?\\d[^\\s)]*)`),
    oldFirst: true,
  },
  { change: 'removed', line: new RegExp(`^\\s+[-•] Removing ${NAME} \\((v?\\d[^\\s)]*)`) },
  // cargo
  { change: 'added', line: /^\s+Adding (\S+) v(\S+) to dependencies/ },
  { change: 'added', line: /^\s+Adding (\S+) v(\S+) to (?:dev|build)-dependencies/, dev: true },
  { change: 'updated', line: /^\s+(?:Updating|Downgrading) (\S+) v(\S+) -> v(\S+)/, oldFirst: true },
  { change: 'removed', line: /^\s+Removing (\S+) (?:v(\S+)|from (?:dev-|build-)?dependencies)/ },
  { change: 'added', line: /^\s+Installed package `(\S+) v([^\s`]+)/ },
  // go
  { change: 'added', line: /^go: added (\S+) (v\S+)/ },
  { change: 'updated', line: /^go: (?:upgraded|downgraded) (\S+) (v\S+) => (v\S+)/, oldFirst: true },
  { change: 'removed', line: /^go: removed (\S+) (v\S+)/ },
  // gem, bundle
  { change: 'updated', line: /^Installing ([\w-]+) (\d\S*) \(was (\d[^\s)]*)\)/ },
  { change: 'added', line: /^Installing ([\w-]+) (\d\S*)(?: with native extensions)?$/ },
  { change: 'added', line: /^Successfully installed ([a-z][\w-]*?)-(\d[\w.]*)$/ },
  // apt, brew, dotnet
  { change: 'added', line: /^Setting up ([\w.+-]+)(?::\w+)? \(([^\s)]+)\)/ },
  { change: 'removed', line: /^Removing ([\w.+-]+)(?::\w+)? \(([^\s)]+)\)/ },
  { change: 'added', line: /^🍺\s+\S+\/Cellar\/([^\s/]+)\/([^\s:/]+):/u },
  { change: 'added', line: /PackageReference for package '([^']+)' version '([^']+)' added/ },
]
