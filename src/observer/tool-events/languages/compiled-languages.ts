/** C, C++, C#, Go, Java, Kotlin, Rust and Swift. */
import { codeLanguage, constant, type Language, memberPart, notablePattern, part, routePattern } from './language.ts'

const C_NOT_CONTROL = String.raw`(?!(?:if|for|while|switch|catch|return|else|do|sizeof|delete|new|throw|case|goto|typedef|using|co_await|co_return)\b)`
const C_TYPE = String.raw`(?:[\w:]+(?:<[^;=()]{0,80}>)?[\s*&]+){1,5}`

const cpp = codeLanguage('cpp', 'h hh hpp hxx cc cpp cxx ino m mm cu', {
  hint: /\(|\b(?:class|struct|enum|union|namespace)\b|^#\s*define/,
  declarations: [
    part('namespace', /^(?:inline\s+)?namespace\b(?<name>)[^;=]*\{?$/),
    part('namespace', /^extern\s+"C"(?<name>)\s*\{/),
    part(
      'type',
      /^(?:typedef\s+)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:[A-Z_]+_(?:API|EXPORT)\s+)?(?:\[\[[^\]]*\]\]\s*)?(?<name>\w+)(?:\s+final)?\s*(?::[^:;].*|\{.*)?$/,
    ),
    part('test', /^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(?<name>\w+\s*,\s*\w+)\s*\)/),
    part('test', /^(?:TEST_CASE|SCENARIO)\(\s*"(?<name>[^"]+)"/),
    part('function', /^#\s*define\s+(?<name>\w+)\(/),
    part(
      'function',
      `^${C_NOT_CONTROL}(?:${C_TYPE})?(?<owner>[A-Za-z_]\\w*)(?:<[^>()]*>)?::(?<name>~?\\w+)\\s*\\([^;]*$`,
    ),
    part(
      'function',
      `^${C_NOT_CONTROL}${C_TYPE}(?<name>[A-Za-z_]\\w*)\\s*\\((?![^)]*\\)\\s*;)[^;=]*(?:\\{.*|,|\\(|\\)|\\bconst|noexcept|override)$`,
    ),
    memberPart(
      'function',
      `^${C_NOT_CONTROL}(?:${C_TYPE})?(?<name>~?[A-Za-z_]\\w*)\\s*\\([^;]*\\)\\s*(?:const)?\\s*(?:noexcept)?\\s*(?:override)?\\s*(?:final)?\\s*(?:=\\s*\\w+)?[;{].*$`,
    ),
  ],
  identifier: /^~?[A-Za-z_]\w*$/,
  leading: /^(?:template\s*<|\[\[|__attribute__)/,
  imports: [/^#\s*include\s+[<"]([^>"]+)[>"]/],
  constants: [
    constant(String.raw`(?:static\s+|inline\s+|constexpr\s+|const\s+)+[\w:<>*& ]+?[\s*&](?<name>\w+)(?:\[\w*\])?`),
    /^#\s*define\s+(?<name>[A-Z_]\w*)\s+(?<value>\S.{0,80})$/,
    constant('(?<name>[A-Z_][A-Z0-9_]+)'),
  ],
})

const c: Language = { ...cpp, name: 'c', extensions: 'c' }

const CSHARP_MODIFIERS = String.raw`(?:(?:public|private|protected|internal|static|sealed|abstract|virtual|override|async|partial|readonly|extern|new|unsafe|file|required)\s+)`
const CSHARP_NOT_CONTROL = String.raw`(?!(?:if|for|foreach|while|switch|catch|return|throw|else|do|try|using|lock|await|new|base|this|case|var)\b)`

const csharp = codeLanguage('csharp', 'cs', {
  hint: /\b(?:class|interface|enum|record|struct|namespace)\b/,
  declarations: [
    part('namespace', /^namespace\s+[\w.]+(?<name>)\s*\{?$/),
    part(
      'type',
      `^${CSHARP_MODIFIERS}*(?:class|interface|enum|record(?:\\s+(?:struct|class))?|struct)\\s+(?<name>\\w+)`,
    ),
    memberPart(
      'function',
      `^${CSHARP_NOT_CONTROL}${CSHARP_MODIFIERS}*${CSHARP_NOT_CONTROL}[\\w.]+(?:<[^()=]*>)?(?:\\[\\])?\\??\\s+(?<name>\\w+)(?:<[^()]*>)?\\s*\\(`,
    ),
    memberPart('function', `^${CSHARP_MODIFIERS}+(?<name>[A-Z]\\w*)\\s*\\(`),
    memberPart('const', `^${CSHARP_MODIFIERS}+[\\w.<>?,[\\] ]+?\\s(?<name>[A-Z]\\w*)\\s*(?:\\{(?!\\s*get;)|$)`),
  ],
  leading: /^\[\w/,
  test: /^\[(?:Fact|Theory|Test|TestCase|TestMethod)\b/,
  strings: ['"""'],
  imports: [/^(?:global\s+)?using\s+(?:static\s+)?([\w.]+);/],
  constants: [
    constant(String.raw`${CSHARP_MODIFIERS}*(?:const\s+)?[\w<>?[\].,]+\s+(?<name>[A-Z_]\w*)(?:\s*\{[^}]*\})?`),
    constant(String.raw`${CSHARP_MODIFIERS}+(?:const\s+)?[\w<>?[\].,]+\s+(?<name>\w+)`),
  ],
  notable: [
    routePattern(/\b\w+\.Map(Get|Post|Put|Patch|Delete)\(\s*"([^"]*)"/),
    routePattern(/^\[Http(Get|Post|Put|Patch|Delete)(?:\(\s*"([^"]*)")?/),
    routePattern(/^\[Route\(\s*"([^"]*)"/, ''),
  ],
})

const golang = codeLanguage('go', 'go', {
  hint: /^(?:func|type|var|const)\b/,
  declarations: [
    part('function', /^func\s+\(\s*(?:\w+\s+)?\*?(?<owner>\w+)(?:\[[^\]]*\])?\s*\)\s*(?<name>\w+)/),
    part('function', /^func\s+(?<name>\w+)\s*[([]/),
    part('type', /^type\s+(?<name>\w+)/),
    part('const', /^var\s+(?<name>\w+)\b.*[{(]$/),
    part('namespace', /^(?:const|var|type)\s*(?<name>)\($/),
  ],
  test: /^func\s+(?:Test|Benchmark|Fuzz|Example)[A-Z_]\w*\(/,
  strings: ['`'],
  exported: (_, name) => /^[A-Z]/.test(name),
  imports: [/^import\s+(?:[\w.]+\s+)?"([^"]+)"/, /^(?:[\w.]+\s+)?"([\w./-]+)"$/],
  constants: [constant(String.raw`(?:(?:const|var)\s+)?(?<name>[A-Za-z_]\w*)(?:\s+[\w.[\]*]+)?`)],
  notable: [
    routePattern(/\b\w+\.(GET|POST|PUT|PATCH|DELETE|Any|Get|Post|Put|Patch|Delete)\(\s*"(\/[^"]*)"\s*,/),
    notablePattern(
      'route',
      /\.Handle(?:Func)?\(\s*"((?:[A-Z]+\s+)?\/[^"]*)"(?:.*\.Methods\(\s*"([A-Z]+))?/,
      (m) => `${m[2] ? `${m[2]} ` : ''}${m[1]}`,
    ),
  ],
})

const JAVA_MODIFIERS = String.raw`(?:(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed|default|synchronized|native|strictfp)\s+)`
const JAVA_NOT_CONTROL = String.raw`(?!(?:if|for|while|switch|catch|return|new|throw|else|do|try|assert|super|this|case)\b)`

const spring = notablePattern(
  'route',
  /^@(Get|Post|Put|Patch|Delete|Request)Mapping\(\s*(?:(?:value|path)\s*=\s*)?\{?\s*"([^"]*)"/,
  (m) => (m[1] === 'Request' ? (m[2] ?? null) : `${m[1]?.toUpperCase()} ${m[2] || '/'}`),
)

const java = codeLanguage('java', 'java', {
  hint: /\b(?:class|interface|enum|record)\b/,
  declarations: [
    part('type', `^${JAVA_MODIFIERS}*(?:class|interface|@interface|enum|record)\\s+(?<name>\\w+)`),
    memberPart(
      'function',
      `^${JAVA_NOT_CONTROL}${JAVA_MODIFIERS}*(?:<[^(]{1,80}>\\s+)?(?:@\\w+\\s+)*${JAVA_NOT_CONTROL}[\\w.]+(?:<[^()=]*>)?(?:\\[\\])*\\s+(?<name>\\w+)\\s*\\((?!.*=\\s*[^=].*;$)`,
    ),
    memberPart('function', `^${JAVA_MODIFIERS}*(?<name>[A-Z]\\w*)\\s*\\([^;]*(?:\\{|,|\\()$`),
  ],
  leading: /^@(?!interface\b)\w/,
  test: /^@(?:Test|ParameterizedTest|RepeatedTest)\b/,
  strings: ['"""'],
  imports: [/^import\s+(?:static\s+)?([\w.]+(?:\.\*)?);/],
  constants: [constant(String.raw`${JAVA_MODIFIERS}+[\w<>[\].,]+\s+(?<name>\w+)`)],
  notable: [spring],
})

const kotlin: Language = {
  ...java,
  name: 'kotlin',
  extensions: 'kt kts',
  hint: /\b(?:class|interface|object|fun|enum|typealias)\b/,
  declarations: [
    part(
      'type',
      /^(?:(?:public|private|internal|protected|data|sealed|open|abstract|inner|enum|annotation|value|companion|inline|actual|expect)\s+)*(?:class|interface|object|typealias)\s+(?<name>\w+)/,
    ),
    part('test', /^fun\s+`(?<name>[^`]+)`/),
    part('namespace', /^companion\s+object(?<name>)\s*\{/),
    part(
      'function',
      /^(?:(?:public|private|internal|protected|open|override|abstract|final|suspend|inline|operator|infix|tailrec|actual|expect)\s+)*fun\s+(?:<[^>]+>\s+)?(?:(?<owner>[A-Z]\w*)(?:<[^>]*>)?\??\.)?(?<name>\w+)\s*\(/,
    ),
  ],
  imports: [/^import\s+([\w.]+(?:\.\*)?)/],
  constants: [
    constant(
      String.raw`(?:(?:private|internal|public|const|override|lateinit)\s+)*va[lr]\s+(?<name>\w+)(?:\s*:\s*[^=]{1,60})?`,
    ),
  ],
}

const PUB = String.raw`^(?:pub(?:\([^)]*\))?\s+)?`

const rust = codeLanguage('rust', 'rs', {
  hint: /^(?:pub|fn|async|unsafe|const|extern|struct|enum|trait|union|impl|mod|type|macro_rules|static)\b/,
  declarations: [
    part(
      'function',
      `${PUB}(?:default\\s+)?(?:const\\s+)?(?:async\\s+)?(?:unsafe\\s+)?(?:extern\\s+"[^"]*"\\s+)?fn\\s+(?<name>\\w+)`,
    ),
    part('type', `${PUB}(?:unsafe\\s+)?(?:struct|enum|trait|union)\\s+(?<name>\\w+)`),
    part(
      'type',
      /^(?:unsafe\s+)?impl(?:<[^{]{0,200}?>)?\s{1,8}(?:[^{]{0,200}?\s{1,8}for\s{1,8})?(?:&?(?:'\w+\s{1,8})?(?:mut\s{1,8})?)(?:\w{1,64}::){0,8}(?<name>[A-Z]\w*)/,
    ),
    part('namespace', `${PUB}mod\\s+(?<name>\\w+)\\s*\\{`),
    part('type', `${PUB}type\\s+(?<name>\\w+)`),
    part('function', /^macro_rules!\s*(?<name>\w+)/),
  ],
  leading: /^#!?\[/,
  test: /^#\[(?:\w+::)?(?:test|rstest)\b/,
  exported: (line) => /^pub\s/.test(line),
  imports: [/^(?:pub(?:\([^)]*\))?\s+)?use\s+([\w:]+(?:::\*)?)/, /^extern\s+crate\s+(\w+)/],
  constants: [
    constant(String.raw`(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?(?<name>\w+)\s*:\s*[^=]{1,80}`),
  ],
  notable: [
    notablePattern(
      'route',
      /\.route\(\s*"(\/[^"]*)"\s*,\s*(?:web::|axum::routing::)?(get|post|put|patch|delete)\b/,
      (m) => `${m[2]?.toUpperCase()} ${m[1]}`,
    ),
    routePattern(/^#\[(get|post|put|patch|delete)\(\s*"([^"]*)"/),
    notablePattern('flag', /^#\[(?:arg|clap)\(.*\blong\s*=\s*"([a-z][\w-]*)"/, '--$1'),
  ],
})

const SWIFT_MODIFIERS = String.raw`(?:(?:public|private|fileprivate|internal|open|static|class|final|override|mutating|nonisolated|convenience|required|indirect|@\w+)\s+)`

const swift = codeLanguage('swift', 'swift', {
  hint: /\b(?:func|class|struct|enum|protocol|extension|actor|init)\b/,
  declarations: [
    part('function', `^${SWIFT_MODIFIERS}*func\\s+(?<name>\\w+)`),
    part('function', `^${SWIFT_MODIFIERS}*(?<name>init)\\??\\(`),
    part('type', `^${SWIFT_MODIFIERS}*(?:class|struct|enum|protocol|extension|actor)\\s+(?<name>\\w+)`),
  ],
  leading: /^@\w+(?:\(.*\))?$/,
  test: /^(?:@Test\b|func\s+test\w*\()/,
  strings: ['"""'],
  exported: (line) => /^(?:public|open)\s/.test(line),
  imports: [/^(?:@testable\s+)?import\s+(\w+)/],
  constants: [constant(String.raw`${SWIFT_MODIFIERS}*(?:let|var)\s+(?<name>\w+)(?:\s*:\s*[^=]{1,60})?`)],
  notable: [routePattern(/\b(?:app|routes|router)\.(get|post|put|patch|delete)\(\s*"([^"]*)"/)],
})

export const COMPILED_LANGUAGES: Language[] = [golang, rust, java, kotlin, c, cpp, csharp, swift]
