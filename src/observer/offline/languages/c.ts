import { constant, type Language, SLASH_COMMENT } from './language.ts'

const NOT_CONTROL = String.raw`(?!(?:if|for|while|switch|catch|return|else|do|sizeof|delete|new|throw|case|goto|typedef|using|co_await|co_return)\b)`
const TYPE = String.raw`(?:[\w:]+(?:<[^;=()]{0,80}>)?[\s*&]+){1,5}`

export const cpp: Language = {
  name: 'cpp',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /\(|\b(?:class|struct|enum|union|namespace)\b|^#\s*define/,
  declarations: [
    { kind: 'namespace', pattern: /^(?:inline\s+)?namespace\b(?<name>)[^;=]*\{?$/ },
    { kind: 'namespace', pattern: /^extern\s+"C"(?<name>)\s*\{/ },
    {
      kind: 'type',
      pattern:
        /^(?:typedef\s+)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:[A-Z_]+_(?:API|EXPORT)\s+)?(?:\[\[[^\]]*\]\]\s*)?(?<name>\w+)(?:\s+final)?\s*(?::[^:;].*|\{.*)?$/,
    },
    { kind: 'test', pattern: /^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(?<name>\w+\s*,\s*\w+)\s*\)/ },
    { kind: 'test', pattern: /^(?:TEST_CASE|SCENARIO)\(\s*"(?<name>[^"]+)"/ },
    { kind: 'function', pattern: /^#\s*define\s+(?<name>\w+)\(/ },
    {
      kind: 'function',
      pattern: new RegExp(
        `^${NOT_CONTROL}(?:${TYPE})?(?<owner>[A-Za-z_]\\w*)(?:<[^>()]*>)?::(?<name>~?\\w+)\\s*\\([^;]*$`,
      ),
    },
    {
      kind: 'function',
      pattern: new RegExp(
        `^${NOT_CONTROL}${TYPE}(?<name>[A-Za-z_]\\w*)\\s*\\((?![^)]*\\)\\s*;)[^;=]*(?:\\{.*|,|\\(|\\)|\\bconst|noexcept|override)$`,
      ),
    },
    {
      kind: 'function',
      member: true,
      pattern: new RegExp(
        `^${NOT_CONTROL}(?:${TYPE})?(?<name>~?[A-Za-z_]\\w*)\\s*\\([^;]*\\)\\s*(?:const)?\\s*(?:noexcept)?\\s*(?:override)?\\s*(?:final)?\\s*(?:=\\s*\\w+)?[;{].*$`,
      ),
    },
  ],
  identifier: /^~?[A-Za-z_]\w*$/,
  leading: /^(?:template\s*<|\[\[|__attribute__)/,
  imports: [/^#\s*include\s+[<"]([^>"]+)[>"]/],
  constants: [
    constant(String.raw`(?:static\s+|inline\s+|constexpr\s+|const\s+)+[\w:<>*& ]+?[\s*&](?<name>\w+)(?:\[\w*\])?`),
    /^#\s*define\s+(?<name>[A-Z_]\w*)\s+(?<value>\S.{0,80})$/,
    constant('(?<name>[A-Z_][A-Z0-9_]+)'),
  ],
  signs: [],
}

export const c: Language = { ...cpp, name: 'c' }
