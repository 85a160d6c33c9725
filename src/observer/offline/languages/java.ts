import { constant, type Language, SLASH_COMMENT } from './language.ts'
import { sign } from './signs.ts'

const MODIFIERS = String.raw`(?:(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed|default|synchronized|native|strictfp)\s+)`
const NOT_CONTROL = String.raw`(?!(?:if|for|while|switch|catch|return|new|throw|else|do|try|assert|super|this|case)\b)`

const spring = sign(
  'route',
  /^@(Get|Post|Put|Patch|Delete|Request)Mapping\(\s*(?:(?:value|path)\s*=\s*)?\{?\s*"([^"]*)"/,
  (m) => (m[1] === 'Request' ? (m[2] ?? null) : `${m[1]?.toUpperCase()} ${m[2] || '/'}`),
)

export const java: Language = {
  name: 'java',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /\b(?:class|interface|enum|record)\b/,
  declarations: [
    { kind: 'type', pattern: new RegExp(`^${MODIFIERS}*(?:class|interface|@interface|enum|record)\\s+(?<name>\\w+)`) },
    {
      kind: 'function',
      member: true,
      pattern: new RegExp(
        `^${NOT_CONTROL}${MODIFIERS}*(?:<[^(]{1,80}>\\s+)?(?:@\\w+\\s+)*${NOT_CONTROL}[\\w.]+(?:<[^()=]*>)?(?:\\[\\])*\\s+(?<name>\\w+)\\s*\\((?!.*=\\s*[^=].*;$)`,
      ),
    },
    {
      kind: 'function',
      member: true,
      pattern: new RegExp(`^${MODIFIERS}*(?<name>[A-Z]\\w*)\\s*\\([^;]*(?:\\{|,|\\()$`),
    },
  ],
  leading: /^@(?!interface\b)\w/,
  test: /^@(?:Test|ParameterizedTest|RepeatedTest)\b/,
  strings: ['"""'],
  imports: [/^import\s+(?:static\s+)?([\w.]+(?:\.\*)?);/],
  constants: [constant(String.raw`${MODIFIERS}+[\w<>[\].,]+\s+(?<name>\w+)`)],
  signs: [spring],
}

export const kotlin: Language = {
  ...java,
  name: 'kotlin',
  hint: /\b(?:class|interface|object|fun|enum|typealias)\b/,
  declarations: [
    {
      kind: 'type',
      pattern:
        /^(?:(?:public|private|internal|protected|data|sealed|open|abstract|inner|enum|annotation|value|companion|inline|actual|expect)\s+)*(?:class|interface|object|typealias)\s+(?<name>\w+)/,
    },
    { kind: 'test', pattern: /^fun\s+`(?<name>[^`]+)`/ },
    { kind: 'namespace', pattern: /^companion\s+object(?<name>)\s*\{/ },
    {
      kind: 'function',
      pattern:
        /^(?:(?:public|private|internal|protected|open|override|abstract|final|suspend|inline|operator|infix|tailrec|actual|expect)\s+)*fun\s+(?:<[^>]+>\s+)?(?:(?<owner>[A-Z]\w*)(?:<[^>]*>)?\??\.)?(?<name>\w+)\s*\(/,
    },
  ],
  imports: [/^import\s+([\w.]+(?:\.\*)?)/],
  constants: [
    constant(
      String.raw`(?:(?:private|internal|public|const|override|lateinit)\s+)*va[lr]\s+(?<name>\w+)(?:\s*:\s*[^=]{1,60})?`,
    ),
  ],
}
