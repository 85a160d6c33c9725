import { constant, type Language, SLASH_COMMENT } from './language.ts'
import { route } from './signs.ts'

const MODIFIERS = String.raw`(?:(?:public|private|fileprivate|internal|open|static|class|final|override|mutating|nonisolated|convenience|required|indirect|@\w+)\s+)`

export const swift: Language = {
  name: 'swift',
  nesting: 'braces',
  comment: SLASH_COMMENT,
  hint: /\b(?:func|class|struct|enum|protocol|extension|actor|init)\b/,
  declarations: [
    { kind: 'function', pattern: new RegExp(`^${MODIFIERS}*func\\s+(?<name>\\w+)`) },
    { kind: 'function', pattern: new RegExp(`^${MODIFIERS}*(?<name>init)\\??\\(`) },
    {
      kind: 'type',
      pattern: new RegExp(`^${MODIFIERS}*(?:class|struct|enum|protocol|extension|actor)\\s+(?<name>\\w+)`),
    },
  ],
  leading: /^@\w+(?:\(.*\))?$/,
  test: /^(?:@Test\b|func\s+test\w*\()/,
  strings: ['"""'],
  exported: (line) => /^(?:public|open)\s/.test(line),
  imports: [/^(?:@testable\s+)?import\s+(\w+)/],
  constants: [constant(String.raw`${MODIFIERS}*(?:let|var)\s+(?<name>\w+)(?:\s*:\s*[^=]{1,60})?`)],
  signs: [route(/\b(?:app|routes|router)\.(get|post|put|patch|delete)\(\s*"([^"]*)"/)],
}
