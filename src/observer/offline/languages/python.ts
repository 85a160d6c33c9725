import { constant, HASH_COMMENT, type Language } from './language.ts'
import { route, sign } from './signs.ts'

const ID = String.raw`(?<name>[\p{L}_][\p{L}\p{N}_]*)`

export const python: Language = {
  name: 'python',
  nesting: 'indent',
  comment: HASH_COMMENT,
  hint: /^(?:async\s+def|def|class)\b|^[A-Za-z_]\w*.*[[({]$/,
  declarations: [
    { kind: 'function', pattern: new RegExp(`^(?:async\\s+)?def\\s+${ID}`, 'u') },
    { kind: 'type', pattern: new RegExp(`^class\\s+${ID}\\s*[(:[]`, 'u') },
    { kind: 'const', pattern: /^(?<name>[A-Z_][A-Z0-9_]*|urlpatterns)\s*(?::[^=]+)?=\s*.*[[({]$/ },
  ],
  leading: /^@\w/,
  test: /^(?:async\s+)?def\s+test_/,
  strings: ['"""', "'''"],
  imports: [/^from\s+([\w.]+)\s+import\b/, /^import\s+([\w., ]+)$/],
  constants: [constant(String.raw`(?<name>[A-Za-z_]\w*)(?:\s*:\s*[^=]{1,80})?`)],
  signs: [
    sign('route', /^@[\w.]+\.route\(\s*r?['"]([^'"]*)['"](?:.*methods\s*=\s*[[(]([^\])]*))?/, (m) => {
      const verbs = (m[2] ?? 'GET').replace(/['"\s]/g, '')
      return `${verbs.replaceAll(',', '/')} ${m[1]}`
    }),
    route(/^@\w+\.(get|post|put|patch|delete|websocket)\(\s*['"]([^'"]*)['"]/),
    sign(
      'route',
      /^(?:urlpatterns\s*\+?=\s*\[)?\s*(?:re_)?path\(\s*r?['"]([^'"]*)['"]/,
      (m) => `/${(m[1] ?? '').replace(/^\//, '')}`,
    ),
    sign('route', /\brouter\.register\(\s*r?['"]([^'"]*)['"]/, (m) => `/${m[1]}`),
    sign('flag', /^["'](--[a-z][\w-]*)["'],?$/),
  ],
}
