import { constant, type Language, SLASH_COMMENT } from './language.ts'
import { route } from './signs.ts'

const ID = String.raw`(?<name>[\p{L}_$][\p{L}\p{N}_$]*)`
const HEAD = String.raw`^(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
const BIND = String.raw`${HEAD}(?:const|let|var)\s+${ID}(?:\s*:[^=]{1,200})?\s*=\s*`
const u = (source: string): RegExp => new RegExp(source, 'u')
const MODIFIERS = String.raw`^(?:(?:public|private|protected|static|async|override|readonly|abstract|get|set|declare|accessor)\s+)*\*?\s*`
const MEMBER = String.raw`(?<name>#?[\p{L}_$][\p{L}\p{N}_$]*)`
const NOT_CONTROL = String.raw`(?!(?:if|for|while|switch|catch|return|function|await|new|typeof|throw|super|with|else|do|expect)\b)`
const RECEIVER = String.raw`(?:app|router|route|server|fastify|api|r|hono|v\d|\w*[rR]outer|\w*Routes?|\w*App|\w*Api)`

export const typescript: Language = {
  name: 'typescript',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /^(?:export|default|declare|async|function|class|abstract|interface|type|enum|namespace|module|exports|it|test|specify|bench)\b|^[\w$]+\.(?:get|post|put|patch|delete|all|options|prototype)\b|^(?:const|let|var)\b.*(?:=>|[([{]$|\bfunction\b|\bclass\b|\bmemo\b|\bforwardRef\b|\buseCallback\b|\blazy\b)/,
  declarations: [
    { kind: 'function', pattern: u(`${HEAD}(?:async\\s+)?function\\s*\\*?\\s*${ID}`) },
    { kind: 'type', pattern: u(`${HEAD}(?:abstract\\s+)?class\\s+${ID}`) },
    { kind: 'type', pattern: u(`${HEAD}(?:const\\s+)?(?:interface|enum)\\s+${ID}`) },
    { kind: 'type', pattern: u(`${HEAD}type\\s+${ID}(?:<[^=]*>)?\\s*=`) },
    { kind: 'namespace', pattern: u(`${HEAD}(?:namespace|module)\\s+[\\w.'"]+\\s*\\{`) },
    {
      kind: 'function',
      pattern: u(
        `${BIND}(?:async\\s+)?(?:function\\b|\\([^=]*\\)\\s*(?::[^=]+)?=>|\\((?:\\{)?$|<[^>]+>\\s*\\(|[\\w$]+\\s*=>|\\(.*=>|(?:React\\.)?(?:memo|forwardRef|useCallback|lazy)\\b)`,
      ),
    },
    { kind: 'object', pattern: u(`${BIND}(?:Object\\.freeze\\()?\\{$`) },
    { kind: 'type', pattern: u(`${BIND}class\\b`) },
    { kind: 'const', pattern: u(`^(?:export\\s+)(?:const|let|var)\\s+${ID}(?:\\s*:[^=]{1,200})?\\s*=`) },
    { kind: 'const', pattern: u(`${BIND}.*[\\[({]$`) },
    { kind: 'object', pattern: /^(?:export\s+default|module\.exports\s*=)(?:\s+defineComponent\()?\s*(?<name>)\{$/ },
    { kind: 'function', pattern: u(`^(?:module\\.)?exports\\.${ID}\\s*=\\s*(?:async\\s+)?(?:function|\\()`) },
    { kind: 'function', pattern: /^(?<owner>[\w$]+)\.prototype\.(?<name>[\w$]+)\s*=/ },
    { kind: 'test', pattern: /^(?:it|test|specify|bench)(?:\.\w+)*(?:\(.{0,80}\))?\(\s*(['"`])(?<name>.+?)\1/ },
    {
      kind: 'route',
      pattern: new RegExp(
        `^${RECEIVER}\\.(?<verb>get|post|put|patch|delete|all|options)\\(\\s*['"\`](?<name>\\/[^'"\`]*)`,
      ),
    },
    {
      kind: 'function',
      member: true,
      pattern: u(
        `${NOT_CONTROL}${MODIFIERS}${NOT_CONTROL}${MEMBER}\\??(?:<[^(]*>)?\\s*\\((?:.*[{,(]$|$|.*\\{.*\\}[;,]?$)`,
      ),
    },
    {
      kind: 'function',
      member: true,
      pattern: u(
        `${MODIFIERS}${MEMBER}(?:\\s*:[^=]{1,120})?\\s*[=:]\\s*(?:async\\s*)?(?:function\\b|\\([^=]*\\)\\s*(?::[^=]+)?=>|[\\w$]+\\s*=>)`,
      ),
    },
    {
      kind: 'object',
      member: true,
      pattern: /^(?:methods|computed|actions|getters|mutations|watch)\s*:\s*(?<name>)\{$/,
    },
  ],
  leading: /^@[\w$]/,
  strings: ['`'],
  exported: (line) => /^(?:export|module\.exports|exports)\b/.test(line),
  imports: [
    /^import\s+(?:type\s+)?[^'"]*?from\s+['"]([^'"]+)['"]/,
    /^import\s+['"]([^'"]+)['"]/,
    /^\}\s*from\s+['"]([^'"]+)['"]/,
    /^export\s+(?:type\s+)?[{*][^'"]*from\s+['"]([^'"]+)['"]/,
    /\brequire\(\s*['"]([^'"]+)['"]\s*\)/,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/,
  ],
  constants: [
    constant(
      String.raw`(?:export\s+)?(?:const|let|var)\s+(?<name>[\w$]+)(?:\s*:\s*[^=]{1,80})?`,
      String.raw`(?:as\s+const)?[;,]?`,
    ),
    constant(
      String.raw`(?:(?:public|private|protected|static|readonly|declare)\s+)+(?<name>#?[\w$]+)(?:\s*:\s*[^=]{1,80})?`,
    ),
    constant(String.raw`(?<name>#?[A-Za-z_$][\w$]*)(?:\s*:\s*[^=]{1,80})?`),
  ],
  signs: [
    route(
      new RegExp(
        `(?:^|[\\s=(])${RECEIVER}\\.(get|post|put|patch|delete|all|options|head)\\(\\s*['"\`](\\/[^'"\`]*)['"\`]`,
      ),
    ),
    route(/^\.(get|post|put|patch|delete|all)\(\s*['"`](\/[^'"`]*)['"`],/),
    route(/^@(Get|Post|Put|Patch|Delete|All)\(\s*(?:['"`]([^'"`]*)['"`])?\s*\)/),
    route(/^export\s+(?:async\s+)?function\s+(GET|POST|PUT|PATCH|DELETE)\b()/),
  ],
}

export const javascript: Language = { ...typescript, name: 'javascript' }
