import { constant, type Language } from './language.ts'
import { route } from './signs.ts'

const MODIFIERS = String.raw`(?:(?:public|private|protected|static|final|abstract|readonly)\s+)`

export const php: Language = {
  name: 'php',
  nesting: 'braces',
  comment: /^(?:\/\/|\/\*|\*(?!\w)|#(?!\[))/,
  hint: /\b(?:function|class|interface|trait|enum|it|test)\b/,
  declarations: [
    { kind: 'function', pattern: new RegExp(`^${MODIFIERS}*function\\s+&?(?<name>\\w+)\\s*\\(`) },
    { kind: 'type', pattern: new RegExp(`^${MODIFIERS}*(?:class|interface|trait|enum)\\s+(?<name>\\w+)`) },
    { kind: 'test', pattern: /^(?:it|test)\(\s*['"](?<name>[^'"]+)['"]/ },
  ],
  leading: /^#\[/,
  test: /^(?:public\s+)?function\s+test\w*\(|^#\[Test\]/,
  imports: [
    /^use\s+(?:function\s+|const\s+)?([\w\\]+)/,
    /^(?:require|include)(?:_once)?[ (]+(?:__DIR__\s*\.\s*)?['"]([^'"]+)['"]/,
  ],
  constants: [
    constant(String.raw`${MODIFIERS}*const\s+(?:\w+\s+)?(?<name>\w+)`),
    constant(String.raw`${MODIFIERS}+(?:\??[\w|\\]+\s+)?\$(?<name>\w+)`),
    /^define\(\s*['"](?<name>\w+)['"]\s*,\s*(?<value>[^)]{1,80})\)/,
  ],
  signs: [
    route(/\bRoute::(get|post|put|patch|delete|any|resource|apiResource)\(\s*['"]([^'"]*)['"]/),
    route(/^#\[Route\(\s*['"]([^'"]*)['"]/, ''),
  ],
}
