import { constant, type Language, SLASH_COMMENT } from './language.ts'
import { route, sign } from './signs.ts'

export const go: Language = {
  name: 'go',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /^(?:func|type|var|const)\b/,
  declarations: [
    { kind: 'function', pattern: /^func\s+\(\s*(?:\w+\s+)?\*?(?<owner>\w+)(?:\[[^\]]*\])?\s*\)\s*(?<name>\w+)/ },
    { kind: 'function', pattern: /^func\s+(?<name>\w+)\s*[([]/ },
    { kind: 'type', pattern: /^type\s+(?<name>\w+)/ },
    { kind: 'const', pattern: /^var\s+(?<name>\w+)\b.*[{(]$/ },
    { kind: 'namespace', pattern: /^(?:const|var|type)\s*(?<name>)\($/ },
  ],
  test: /^func\s+(?:Test|Benchmark|Fuzz|Example)[A-Z_]\w*\(/,
  strings: ['`'],
  exported: (_, name) => /^[A-Z]/.test(name),
  imports: [/^import\s+(?:[\w.]+\s+)?"([^"]+)"/, /^(?:[\w.]+\s+)?"([\w./-]+)"$/],
  constants: [constant(String.raw`(?:(?:const|var)\s+)?(?<name>[A-Za-z_]\w*)(?:\s+[\w.[\]*]+)?`)],
  signs: [
    route(/\b\w+\.(GET|POST|PUT|PATCH|DELETE|Any|Get|Post|Put|Patch|Delete)\(\s*"(\/[^"]*)"\s*,/),
    sign(
      'route',
      /\.Handle(?:Func)?\(\s*"((?:[A-Z]+\s+)?\/[^"]*)"(?:.*\.Methods\(\s*"([A-Z]+))?/,
      (m) => `${m[2] ? `${m[2]} ` : ''}${m[1]}`,
    ),
  ],
}
