/** Files of settings: names and values, no parts. */

import { blockEntries, jsonEntries, lineEntries, sectionEntries, yamlEntries } from './keys.ts'
import { HASH_COMMENT, type Language, NEVER } from './language.ts'

const bare = {
  nesting: 'flat',
  comment: HASH_COMMENT,
  hint: NEVER,
  declarations: [],
} as const satisfies Partial<Language>
const settings = (name: string, entries: Language['entries']): Language => ({
  ...bare,
  name,
  declarations: [],
  ...(entries && { entries }),
})

export const yaml = settings('yaml', yamlEntries)
export const json: Language = { ...settings('json', jsonEntries), comment: /^\/\// }
export const toml = settings('toml', sectionEntries)
export const ini: Language = { ...settings('ini', sectionEntries), comment: /^[#;]/ }
export const properties: Language = { ...settings('properties', sectionEntries), comment: /^[#!]/ }
export const dotenv: Language = {
  ...settings('dotenv', lineEntries(/^(?:export\s+)?(?<name>[A-Za-z_]\w*)\s*=(?<value>.*)$/)),
  secret: true,
}

/** Lists of packages that have no format of their own to speak of. */
export const requirements = settings(
  'requirements',
  lineEntries(/^(?<name>[A-Za-z][\w.-]*(?:\[[\w,-]+\])?)\s*(?<value>(?:[=<>~!]=?=?)[^;#]*)?(?:[;#].*)?$/),
)
export const gomod = settings(
  'gomod',
  lineEntries(
    /^(?<name>go|toolchain)\s+(?<value>[\w.]+)$/,
    /^(?:require\s+)?(?<name>[\w-]+\.[\w./-]+)\s+(?<value>v[\w.+-]+)/,
  ),
)
export const gemfile: Language = {
  ...settings(
    'ruby',
    lineEntries(/^gem\s+['"](?<name>[\w-]+)['"](?:,\s*(?<value>.*))?$/, /^(?<name>ruby)\s+(?<value>.+)$/),
  ),
}
export const gradle: Language = {
  ...settings(
    'gradle',
    lineEntries(
      /^(?:\w*[iI]mplementation|api|compileOnly|runtimeOnly|classpath|kapt|ksp|annotationProcessor)[ (]+['"](?<name>[\w.-]+:[\w.-]+)(?::(?<value>[\w.+-]+))?['"]/,
      /^id[ (]+['"](?<name>[\w.-]+)['"]\)?\s+version\s+['"](?<value>[^'"]+)['"]/,
      /^(?<name>[a-z]\w*)\s*=\s*(?<value>.{1,80})$/,
    ),
  ),
  comment: /^\/\//,
}
export const xml: Language = {
  ...settings(
    'xml',
    lineEntries(
      /^<PackageReference\s+Include="(?<name>[\w.-]+)"\s+Version="(?<value>[^"]+)"/,
      /^<(?<name>[\w.-]+)>(?<value>[^<]{1,80})<\/[\w.-]+>$/,
    ),
  ),
  comment: /^<!--/,
}

export const dockerfile: Language = {
  ...bare,
  name: 'dockerfile',
  hint: /^FROM\b/i,
  declarations: [{ kind: 'type', pattern: /^FROM\s+\S+\s+AS\s+(?<name>[\w.-]+)/i }],
  identifier: /^[\w.-]+$/,
  entries: lineEntries(
    /^(?<name>(?:ENV|ARG)\s+\w+)(?:[= ](?<value>.*))?$/i,
    /^(?<name>FROM|EXPOSE|WORKDIR|USER|CMD|ENTRYPOINT|HEALTHCHECK)\s+(?<value>.+)$/i,
    /^(?<name>RUN)\s+(?<value>.{1,80})$/i,
  ),
}

export const makefile: Language = {
  ...bare,
  name: 'makefile',
  nesting: 'indent',
  hint: /^[\w./%-]+[\w./% -]*:(?!=)/,
  declarations: [{ kind: 'function', pattern: /^(?<name>[\w./%-]+)(?:\s+[\w./% -]+)?\s*::?(?![=:])/ }],
  identifier: /^[\w./%-]+$/,
  constants: [/^(?:export\s+)?(?<name>[A-Za-z_]\w*)\s*[:?+]?=\s*(?<value>.{0,100})$/],
}

export const hcl: Language = {
  ...bare,
  name: 'hcl',
  nesting: 'braces',
  comment: /^(?:#|\/\/)/,
  hint: /^(?:resource|data|module|variable|output|provider|locals)\b/,
  declarations: [
    { kind: 'type', pattern: /^(?:resource|data)\s+"(?<owner>[\w-]+)"\s+"(?<name>[\w-]+)"/ },
    { kind: 'type', pattern: /^(?<owner>module|variable|output|provider)\s+"(?<name>[\w-]+)"/ },
  ],
  identifier: /^[\w-]+$/,
  entries: blockEntries,
}

export const css: Language = {
  ...bare,
  name: 'css',
  nesting: 'braces',
  comment: /^(?:\/\*|\*|\/\/)/,
  hint: /^@(?:keyframes|mixin|function|layer)\b/,
  declarations: [{ kind: 'function', pattern: /^@(?:keyframes|mixin|function|layer)\s+(?<name>[\w-]+)/ }],
  identifier: /^[\w-]+$/,
  imports: [/^@(?:import|use|forward)\s+(?:url\()?['"]([^'"]+)['"]/],
  entries: lineEntries(
    /^(?<name>--[\w-]+)\s*:\s*(?<value>[^;]{1,80});?/,
    /^(?<name>[$@][\w-]+)\s*:\s*(?<value>[^;]{1,80});?/,
  ),
}

export const markdown: Language = {
  ...bare,
  name: 'markdown',
  comment: /^<!--/,
  hint: /^#{1,6}\s/,
  declarations: [{ kind: 'section', pattern: /^#{1,6}\s+(?<name>.{1,200}?)\s*#*$/ }],
  strings: ['```'],
}

export const prisma: Language = {
  ...bare,
  name: 'prisma',
  nesting: 'braces',
  comment: /^\/\//,
  hint: /^(?:model|enum|type)\b/,
  declarations: [{ kind: 'type', pattern: /^(?:model|enum|type)\s+(?<name>\w+)/ }],
}

export const proto: Language = {
  ...bare,
  name: 'protobuf',
  nesting: 'braces',
  comment: /^(?:\/\/|\/\*|\*)/,
  hint: /^(?:message|service|enum|rpc)\b/,
  declarations: [
    { kind: 'type', pattern: /^(?:message|service|enum)\s+(?<name>\w+)/ },
    { kind: 'function', pattern: /^rpc\s+(?<name>\w+)/ },
  ],
  imports: [/^import\s+(?:public\s+)?"([^"]+)"/],
}

export const graphql: Language = {
  ...bare,
  name: 'graphql',
  nesting: 'braces',
  hint: /^(?:extend\s+)?(?:type|input|interface|enum|union|scalar|query|mutation|fragment)\b/,
  declarations: [
    {
      kind: 'type',
      pattern: /^(?:extend\s+)?(?:type|input|interface|enum|union|scalar|query|mutation|fragment)\s+(?<name>\w+)/,
    },
  ],
}
