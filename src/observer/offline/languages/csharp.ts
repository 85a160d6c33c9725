import { constant, type Language, SLASH_COMMENT } from './language.ts'
import { route } from './signs.ts'

const MODIFIERS = String.raw`(?:(?:public|private|protected|internal|static|sealed|abstract|virtual|override|async|partial|readonly|extern|new|unsafe|file|required)\s+)`
const NOT_CONTROL = String.raw`(?!(?:if|for|foreach|while|switch|catch|return|throw|else|do|try|using|lock|await|new|base|this|case|var)\b)`

export const csharp: Language = {
  name: 'csharp',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /\b(?:class|interface|enum|record|struct|namespace)\b/,
  declarations: [
    { kind: 'namespace', pattern: /^namespace\s+[\w.]+(?<name>)\s*\{?$/ },
    {
      kind: 'type',
      pattern: new RegExp(
        `^${MODIFIERS}*(?:class|interface|enum|record(?:\\s+(?:struct|class))?|struct)\\s+(?<name>\\w+)`,
      ),
    },
    {
      kind: 'function',
      member: true,
      pattern: new RegExp(
        `^${NOT_CONTROL}${MODIFIERS}*${NOT_CONTROL}[\\w.]+(?:<[^()=]*>)?(?:\\[\\])?\\??\\s+(?<name>\\w+)(?:<[^()]*>)?\\s*\\(`,
      ),
    },
    { kind: 'function', member: true, pattern: new RegExp(`^${MODIFIERS}+(?<name>[A-Z]\\w*)\\s*\\(`) },
    {
      kind: 'const',
      member: true,
      pattern: new RegExp(`^${MODIFIERS}+[\\w.<>?,[\\] ]+?\\s(?<name>[A-Z]\\w*)\\s*(?:\\{(?!\\s*get;)|$)`),
    },
  ],
  leading: /^\[\w/,
  test: /^\[(?:Fact|Theory|Test|TestCase|TestMethod)\b/,
  strings: ['"""'],
  imports: [/^(?:global\s+)?using\s+(?:static\s+)?([\w.]+);/],
  constants: [
    constant(String.raw`${MODIFIERS}*(?:const\s+)?[\w<>?[\].,]+\s+(?<name>[A-Z_]\w*)(?:\s*\{[^}]*\})?`),
    constant(String.raw`${MODIFIERS}+(?:const\s+)?[\w<>?[\].,]+\s+(?<name>\w+)`),
  ],
  signs: [
    route(/\b\w+\.Map(Get|Post|Put|Patch|Delete)\(\s*"([^"]*)"/),
    route(/^\[Http(Get|Post|Put|Patch|Delete)(?:\(\s*"([^"]*)")?/),
    route(/^\[Route\(\s*"([^"]*)"/, ''),
  ],
}
