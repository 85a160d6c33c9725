export const COMMAND = '"/usr/bin/node" "/opt/claude-mem/dist/hook.cjs" --data-dir "/home/me/.claude-mem"'
const others = {
  model: 'opus',
  hooks: {
    PostToolUse: [{ matcher: 'Edit', hooks: [{ type: 'command', command: 'prettier --write' }] }],
    Notification: [{ hooks: [{ type: 'command', command: 'notify-send hi' }] }],
  },
}

/** As people and programs leave their settings. */
export const INPUTS: Record<string, string | Buffer> = {
  'an empty file': '',
  'white space': ' \n\n',
  'an empty object': '{}',
  'an empty object with space': '{ }\n',
  'an empty object over two lines': '{\n}\n',
  'two spaces': `${JSON.stringify(others, null, 2)}\n`,
  'four spaces': `${JSON.stringify(others, null, 4)}\n`,
  tabs: JSON.stringify(others, null, '\t'),
  'no final newline': JSON.stringify(others, null, 2),
  'Windows line ends': `${JSON.stringify(others, null, 2)}\n`.replaceAll('\n', '\r\n'),
  'a byte order mark': `\uFEFF${JSON.stringify(others, null, 2)}\n`,
  'one line': JSON.stringify(others),
  'one line with spaces': '{ "model": "opus", "hooks": { "Stop": [] } }',
  'empty hooks': '{\n  "hooks": {}\n}\n',
  'an empty event': '{\n  "hooks": {\n    "Stop": [],\n    "PostToolUse": []\n  }\n}\n',
  'a mixed layout': '{"a":[1,2],\n    "hooks":{ "Stop":[{"hooks":[]}]} ,\n\n  "b" : {\n}\n}\n\n',
  'a key that is there twice': '{\n  "hooks": {"Stop": []},\n  "x": 1,\n  "hooks": {}\n}\n',
  'numbers that a double cannot hold': '{\n  "n": 12345678901234567890.10,\n  "e": 1E400\n}\n',
  'escapes and other scripts': '{\n  "a\\"b": "\\u00e9 {[ // é 記憶 \\\\",\n  "hooks": {}\n}\n',
}

/** What Gemini CLI and Qwen Code read: JSON with comments, without trailing commas. */
export const COMMENTED: Record<string, string> = {
  'above the file': '// mine\n{}\n',
  'in an empty object': '{\n  // nothing yet\n}\n',
  'behind the last value': '{\n  "a": 1, // one\n  "b": 2 // two\n}\n',
  'behind the last value, in a block': '{\n\t"a": 1 /* one,\n\ttwo */ /* three */\n}',
  'a value that is off, at the end': '{\n  "a": 1\n  // "b": 2,\n}\n// the end',
  'Windows line ends': '// mine\r\n{\r\n  "a": 1 // one\r\n  /* two */\r\n}\r\n',
  'one line': '{"a":1/* { */,/* ] */"b":/*,*/2/* } */}',
  'one line, and a comment to its end': '{ "a": 1 // one\n}',
  'quotes and brackets': '{\n  // "hooks": { it\'s "off\n  "a": "// no /* comment", /* " */\n  "b": ["/*", "*/"]\n}\n',
  'in front of the last value': '{\n  // first\n  /* a */ "a": 1,\n  /* b */ "b": 2\n}\n',
  'hooks of others': [
    '{',
    '  // our hooks',
    '  "hooks": {',
    '    /* before */ "BeforeAgent": [',
    '      { "hooks": [{ "type": "command", "command": "audit" } /* the audit */] } // behind it',
    '      // and below',
    '    ], // behind the list',
    '    "Notification": [] // none yet',
    '  },',
    '  "mcpServers": {',
    '    "docs": { "command": "npx" } // docs',
    '    // "old": { "command": "old" }',
    '  } // servers',
    '}',
  ].join('\n'),
  'empty hooks and servers': '{\n  "hooks": {\n    // later\n  },\n  "mcpServers": { /* later */ }\n}\n',
}

const STRING_OR_COMMENT = /"(?:[^"\\]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g

export function parseCommented(text: string) {
  return JSON.parse(text.replace(STRING_OR_COMMENT, (found) => (found.startsWith('"') ? found : ' ')))
}

export function commentsOf(text: string): string[] {
  return [...text.matchAll(STRING_OR_COMMENT)].map(([found]) => found).filter((found) => found.startsWith('/'))
}
