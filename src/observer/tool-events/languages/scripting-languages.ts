/** TypeScript, JavaScript, Python, Ruby, PHP and shell. */
import {
  codeLanguage,
  constant,
  HASH_COMMENT,
  type Language,
  memberPart,
  notablePattern,
  part,
  routePattern,
} from './language.ts'

const TS_NAME = String.raw`(?<name>[\p{L}_$][\p{L}\p{N}_$]*)`
const HEAD = String.raw`^(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
const BIND = String.raw`${HEAD}(?:const|let|var)\s+${TS_NAME}(?:\s*:[^=]{1,200})?\s*=\s*`
const TS_MODIFIERS = String.raw`^(?:(?:public|private|protected|static|async|override|readonly|abstract|get|set|declare|accessor)\s+)*\*?\s*`
const MEMBER = String.raw`(?<name>#?[\p{L}_$][\p{L}\p{N}_$]*)`
const TS_NOT_CONTROL = String.raw`(?!(?:if|for|while|switch|catch|return|function|await|new|typeof|throw|super|with|else|do|expect)\b)`
const RECEIVER = String.raw`(?:app|router|route|server|fastify|api|r|hono|v\d|\w*[rR]outer|\w*Routes?|\w*App|\w*Api)`

export const typescript = codeLanguage('typescript', 'ts tsx mts cts', {
  hint: /^(?:export|default|declare|async|function|class|abstract|interface|type|enum|namespace|module|exports|it|test|specify|bench)\b|^[\w$]+\.(?:get|post|put|patch|delete|all|options|prototype)\b|^(?:const|let|var)\b.*(?:=>|[([{]$|\bfunction\b|\bclass\b|\bmemo\b|\bforwardRef\b|\buseCallback\b|\blazy\b)/,
  declarations: [
    part('function', `${HEAD}(?:async\\s+)?function\\s*\\*?\\s*${TS_NAME}`),
    part('type', `${HEAD}(?:abstract\\s+)?class\\s+${TS_NAME}`),
    part('type', `${HEAD}(?:const\\s+)?(?:interface|enum)\\s+${TS_NAME}`),
    part('type', `${HEAD}type\\s+${TS_NAME}(?:<[^=]*>)?\\s*=`),
    part('namespace', `${HEAD}(?:namespace|module)\\s+[\\w.'"]+\\s*\\{`),
    part(
      'function',
      `${BIND}(?:async\\s+)?(?:function\\b|\\([^=]*\\)\\s*(?::[^=]+)?=>|\\((?:\\{)?$|<[^>]+>\\s*\\(|[\\w$]+\\s*=>|\\(.*=>|(?:React\\.)?(?:memo|forwardRef|useCallback|lazy)\\b)`,
    ),
    part('object', `${BIND}(?:Object\\.freeze\\()?\\{$`),
    part('type', `${BIND}class\\b`),
    part('const', `^(?:export\\s+)(?:const|let|var)\\s+${TS_NAME}(?:\\s*:[^=]{1,200})?\\s*=`),
    part('const', `${BIND}.*[\\[({]$`),
    part('object', /^(?:export\s+default|module\.exports\s*=)(?:\s+defineComponent\()?\s*(?<name>)\{$/),
    part('function', `^(?:module\\.)?exports\\.${TS_NAME}\\s*=\\s*(?:async\\s+)?(?:function|\\()`),
    part('function', /^(?<owner>[\w$]+)\.prototype\.(?<name>[\w$]+)\s*=/),
    part('test', /^(?:it|test|specify|bench)(?:\.\w+)*(?:\(.{0,80}\))?\(\s*(['"`])(?<name>.+?)\1/),
    part('route', `^${RECEIVER}\\.(?<verb>get|post|put|patch|delete|all|options)\\(\\s*['"\`](?<name>\\/[^'"\`]*)`),
    memberPart(
      'function',
      `${TS_NOT_CONTROL}${TS_MODIFIERS}${TS_NOT_CONTROL}${MEMBER}\\??(?:<[^(]*>)?\\s*\\((?:.*[{,(]$|$|.*\\{.*\\}[;,]?$)`,
    ),
    memberPart(
      'function',
      `${TS_MODIFIERS}${MEMBER}(?:\\s*:[^=]{1,120})?\\s*[=:]\\s*(?:async\\s*)?(?:function\\b|\\([^=]*\\)\\s*(?::[^=]+)?=>|[\\w$]+\\s*=>)`,
    ),
    memberPart('object', /^(?:methods|computed|actions|getters|mutations|watch)\s*:\s*(?<name>)\{$/),
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
  notable: [
    routePattern(
      new RegExp(
        `(?:^|[\\s=(])${RECEIVER}\\.(get|post|put|patch|delete|all|options|head)\\(\\s*['"\`](\\/[^'"\`]*)['"\`]`,
      ),
    ),
    routePattern(/^\.(get|post|put|patch|delete|all)\(\s*['"`](\/[^'"`]*)['"`],/),
    routePattern(/^@(Get|Post|Put|Patch|Delete|All)\(\s*(?:['"`]([^'"`]*)['"`])?\s*\)/),
    routePattern(/^export\s+(?:async\s+)?function\s+(GET|POST|PUT|PATCH|DELETE)\b()/),
  ],
})

export const javascript: Language = { ...typescript, name: 'javascript', extensions: 'js jsx mjs cjs' }

const PYTHON_NAME = String.raw`(?<name>[\p{L}_][\p{L}\p{N}_]*)`

const python = codeLanguage('python', 'py pyi pyw', {
  nesting: 'indent',
  comment: HASH_COMMENT,
  hint: /^(?:async\s+def|def|class)\b|^[A-Za-z_]\w*.*[[({]$/,
  declarations: [
    part('function', `^(?:async\\s+)?def\\s+${PYTHON_NAME}`),
    part('type', `^class\\s+${PYTHON_NAME}\\s*[(:[]`),
    part('const', /^(?<name>[A-Z_][A-Z0-9_]*|urlpatterns)\s*(?::[^=]+)?=\s*.*[[({]$/),
  ],
  leading: /^@\w/,
  test: /^(?:async\s+)?def\s+test_/,
  strings: ['"""', "'''"],
  imports: [/^from\s+([\w.]+)\s+import\b/, /^import\s+([\w., ]+)$/],
  constants: [constant(String.raw`(?<name>[A-Za-z_]\w*)(?:\s*:\s*[^=]{1,80})?`)],
  notable: [
    notablePattern('route', /^@[\w.]+\.route\(\s*r?['"]([^'"]*)['"](?:.*methods\s*=\s*[[(]([^\])]*))?/, (m) => {
      const verbs = (m[2] ?? 'GET').replace(/['"\s]/g, '')
      return `${verbs.replaceAll(',', '/')} ${m[1]}`
    }),
    routePattern(/^@\w+\.(get|post|put|patch|delete|websocket)\(\s*['"]([^'"]*)['"]/),
    notablePattern(
      'route',
      /^(?:urlpatterns\s*\+?=\s*\[)?\s*(?:re_)?path\(\s*r?['"]([^'"]*)['"]/,
      (m) => `/${(m[1] ?? '').replace(/^\//, '')}`,
    ),
    notablePattern('route', /\brouter\.register\(\s*r?['"]([^'"]*)['"]/, '/$1'),
    notablePattern('flag', /^["'](--[a-z][\w-]*)["'],?$/),
  ],
})

const ruby = codeLanguage('ruby', 'rb rake ru gemspec', {
  fileNames: /^(?:Rakefile|Vagrantfile|Podfile)$/,
  nesting: 'indent',
  comment: HASH_COMMENT,
  hint: /^(?:def|class|module|it|test|specify|scenario|private|protected|task)\b/,
  declarations: [
    part(
      'function',
      /^(?:private\s+|protected\s+|private_class_method\s+)?def\s+(?:self\.)?(?<name>[A-Za-z_]\w*[?!=]?)/,
    ),
    part('type', /^class\s+(?:\w+::)*(?<name>[A-Z]\w*)/),
    part('namespace', /^class\s*<<\s*self(?<name>)/),
    part('type', /^module\s+(?:\w+::)*(?<name>[A-Z]\w*)/),
    part('test', /^(?:it|test|specify|scenario)[ (]+['"](?<name>[^'"]+)['"]/),
    part('function', /^task\s+:?(?<name>\w+)/),
  ],
  test: /^def\s+test_/,
  imports: [/^require(?:_relative)?[ (]+['"]([^'"]+)['"]/],
  constants: [constant('(?<name>[A-Z][A-Z0-9_]*)', String.raw`(?:\.freeze)?`)],
  notable: [
    routePattern(/^(get|post|put|patch|delete)\s*\(?\s*['"]([^'"]+)['"]/),
    notablePattern('route', /^(resources?)\s+:(\w+)/, '$1 :$2'),
    routePattern(/^root\s+(?:to:\s*)?['"]([^'"]+)['"]/, 'root'),
  ],
})

const PHP_MODIFIERS = String.raw`(?:(?:public|private|protected|static|final|abstract|readonly)\s+)`

const php = codeLanguage('php', 'php phtml', {
  comment: /^(?:\/\/|\/\*|\*(?!\w)|#(?!\[))/,
  hint: /\b(?:function|class|interface|trait|enum|it|test)\b/,
  declarations: [
    part('function', `^${PHP_MODIFIERS}*function\\s+&?(?<name>\\w+)\\s*\\(`),
    part('type', `^${PHP_MODIFIERS}*(?:class|interface|trait|enum)\\s+(?<name>\\w+)`),
    part('test', /^(?:it|test)\(\s*['"](?<name>[^'"]+)['"]/),
  ],
  leading: /^#\[/,
  test: /^(?:public\s+)?function\s+test\w*\(|^#\[Test\]/,
  imports: [
    /^use\s+(?:function\s+|const\s+)?([\w\\]+)/,
    /^(?:require|include)(?:_once)?[ (]+(?:__DIR__\s*\.\s*)?['"]([^'"]+)['"]/,
  ],
  constants: [
    constant(String.raw`${PHP_MODIFIERS}*const\s+(?:\w+\s+)?(?<name>\w+)`),
    constant(String.raw`${PHP_MODIFIERS}+(?:\??[\w|\\]+\s+)?\$(?<name>\w+)`),
    /^define\(\s*['"](?<name>\w+)['"]\s*,\s*(?<value>[^)]{1,80})\)/,
  ],
  notable: [
    routePattern(/\bRoute::(get|post|put|patch|delete|any|resource|apiResource)\(\s*['"]([^'"]*)['"]/),
    routePattern(/^#\[Route\(\s*['"]([^'"]*)['"]/, ''),
  ],
})

const shell = codeLanguage('shell', 'sh bash zsh ksh bats', {
  fileNames: /^\.(?:bashrc|zshrc|profile|bash_profile)$/,
  comment: HASH_COMMENT,
  hint: /^(?:function\s|[\w:-]+\s*\(\s*\))/,
  identifier: /^[A-Za-z_][\w:-]*$/,
  declarations: [part('function', /^function\s+(?<name>[\w:-]+)/), part('function', /^(?<name>[\w:-]+)\s*\(\s*\)/)],
  imports: [/^(?:source|\.)\s+"?([^\s"$]+)"?$/],
  constants: [/^(?:export\s+|readonly\s+|declare\s+(?:-\w+\s+)?)?(?<name>[A-Z_][A-Z0-9_]*)=(?<value>\S.{0,100})?$/],
  notable: [
    notablePattern('flag', /^(?:-\w\s*\|\s*)?(--[a-z][\w-]*)(?:=\*)?(?:\s*\|\s*-\w)?\)/),
    notablePattern('env', /\$\{([A-Z_][A-Z0-9_]+):[?]/),
  ],
})

export const SCRIPTING_LANGUAGES: Language[] = [typescript, javascript, python, ruby, php, shell]
