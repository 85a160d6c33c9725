import { HASH_COMMENT, type Language } from './language.ts'
import { sign } from './signs.ts'

export const shell: Language = {
  name: 'shell',
  nesting: 'braces',
  comment: HASH_COMMENT,
  hint: /^(?:function\s|[\w:-]+\s*\(\s*\))/,
  identifier: /^[A-Za-z_][\w:-]*$/,
  declarations: [
    { kind: 'function', pattern: /^function\s+(?<name>[\w:-]+)/ },
    { kind: 'function', pattern: /^(?<name>[\w:-]+)\s*\(\s*\)/ },
  ],
  imports: [/^(?:source|\.)\s+"?([^\s"$]+)"?$/],
  constants: [/^(?:export\s+|readonly\s+|declare\s+(?:-\w+\s+)?)?(?<name>[A-Z_][A-Z0-9_]*)=(?<value>\S.{0,100})?$/],
  signs: [
    sign('flag', /^(?:-\w\s*\|\s*)?(--[a-z][\w-]*)(?:=\*)?(?:\s*\|\s*-\w)?\)/),
    sign('env', /\$\{([A-Z_][A-Z0-9_]+):[?]/),
  ],
}
