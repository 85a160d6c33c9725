/** What a script or target is for, judged by its name: `npm run test:unit`, `make lint`, `scripts/migrate.sh`. */
import type { CommandKind } from '../../types.ts'

const NAMES: [RegExp, CommandKind][] = [
  [/\b(?:type-?checks?|types|tsc|mypy|pyright|check[-:_]types?|check-ts)\b/i, 'typecheck'],
  [/\b(?:lint|eslint|format|fmt|prettier|stylelint|ruff|clippy|rubocop|vet|biome|style)\b/i, 'lint'],
  [
    /\b(?:tests?|spec|specs|e2e|jest|vitest|pytest|coverage|unit|integration|smoke|cypress|playwright|verify)\b|^(?:check|ci|cov)$/i,
    'test',
  ],
  [/\b(?:migrate|migrations?|rollback|db[:_-](?:push|deploy|up|down|reset|setup|migrate|seed))\b/i, 'migration'],
  [/\b(?:build|compile|bundle|dist|package|webpack|generate|codegen|release|prod)\b|^all$/i, 'build'],
  [/\b(?:dev|start|serve|server|watch|preview|storybook|up)\b|runserver/i, 'server'],
  [/\b(?:install|bootstrap|deps|setup|vendor)\b/i, 'install'],
]

export function kindByName(name: string): CommandKind | null {
  const words = name.replace(/[_./]/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')
  for (const [rule, kind] of NAMES) if (rule.test(words) || rule.test(name)) return kind
  return null
}

/** A script file: its directory says nothing about what it does (`tests/seed.py` is not a test run), its name does. */
export function kindByFile(path: string): CommandKind | null {
  const name = (path.split('/').at(-1) ?? '').replace(/\.\w+$/, '')
  return name === '' ? null : kindByName(name.replace(/-/g, ' '))
}
