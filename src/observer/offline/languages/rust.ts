import { constant, type Language, SLASH_COMMENT } from './language.ts'
import { route, sign } from './signs.ts'

const PUB = String.raw`^(?:pub(?:\([^)]*\))?\s+)?`

export const rust: Language = {
  name: 'rust',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /^(?:pub|fn|async|unsafe|const|extern|struct|enum|trait|union|impl|mod|type|macro_rules|static)\b/,
  declarations: [
    {
      kind: 'function',
      pattern: new RegExp(
        `${PUB}(?:default\\s+)?(?:const\\s+)?(?:async\\s+)?(?:unsafe\\s+)?(?:extern\\s+"[^"]*"\\s+)?fn\\s+(?<name>\\w+)`,
      ),
    },
    { kind: 'type', pattern: new RegExp(`${PUB}(?:unsafe\\s+)?(?:struct|enum|trait|union)\\s+(?<name>\\w+)`) },
    {
      kind: 'type',
      pattern:
        /^(?:unsafe\s+)?impl(?:<[^{]*?>)?\s+(?:[^{]*?\s+for\s+)?(?:&?(?:'\w+\s+)?(?:mut\s+)?)(?:\w+::)*(?<name>[A-Z]\w*)/,
    },
    { kind: 'namespace', pattern: new RegExp(`${PUB}mod\\s+(?<name>\\w+)\\s*\\{`) },
    { kind: 'type', pattern: new RegExp(`${PUB}type\\s+(?<name>\\w+)`) },
    { kind: 'function', pattern: /^macro_rules!\s*(?<name>\w+)/ },
  ],
  leading: /^#!?\[/,
  test: /^#\[(?:\w+::)?(?:test|rstest)\b/,
  exported: (line) => /^pub\s/.test(line),
  imports: [/^(?:pub(?:\([^)]*\))?\s+)?use\s+([\w:]+(?:::\*)?)/, /^extern\s+crate\s+(\w+)/],
  constants: [
    constant(String.raw`(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?(?<name>\w+)\s*:\s*[^=]{1,80}`),
  ],
  signs: [
    sign(
      'route',
      /\.route\(\s*"(\/[^"]*)"\s*,\s*(?:web::|axum::routing::)?(get|post|put|patch|delete)\b/,
      (m) => `${m[2]?.toUpperCase()} ${m[1]}`,
    ),
    route(/^#\[(get|post|put|patch|delete)\(\s*"([^"]*)"/),
    sign('flag', /^#\[(?:arg|clap)\(.*\blong\s*=\s*"([a-z][\w-]*)"/, (m) => `--${m[1]}`),
  ],
}
