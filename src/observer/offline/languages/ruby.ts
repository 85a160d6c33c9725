import { constant, HASH_COMMENT, type Language } from './language.ts'
import { route, sign } from './signs.ts'

export const ruby: Language = {
  name: 'ruby',
  nesting: 'indent',
  comment: HASH_COMMENT,
  hint: /^(?:def|class|module|it|test|specify|scenario|private|protected|task)\b/,
  declarations: [
    {
      kind: 'function',
      pattern: /^(?:private\s+|protected\s+|private_class_method\s+)?def\s+(?:self\.)?(?<name>[A-Za-z_]\w*[?!=]?)/,
    },
    { kind: 'type', pattern: /^class\s+(?:\w+::)*(?<name>[A-Z]\w*)/ },
    { kind: 'namespace', pattern: /^class\s*<<\s*self(?<name>)/ },
    { kind: 'type', pattern: /^module\s+(?:\w+::)*(?<name>[A-Z]\w*)/ },
    { kind: 'test', pattern: /^(?:it|test|specify|scenario)[ (]+['"](?<name>[^'"]+)['"]/ },
    { kind: 'function', pattern: /^task\s+:?(?<name>\w+)/ },
  ],
  test: /^def\s+test_/,
  imports: [/^require(?:_relative)?[ (]+['"]([^'"]+)['"]/],
  constants: [constant('(?<name>[A-Z][A-Z0-9_]*)', String.raw`(?:\.freeze)?`)],
  signs: [
    route(/^(get|post|put|patch|delete)\s*\(?\s*['"]([^'"]+)['"]/),
    sign('route', /^(resources?)\s+:(\w+)/, (m) => `${m[1]} :${m[2]}`),
    route(/^root\s+(?:to:\s*)?['"]([^'"]+)['"]/, 'root'),
  ],
}
