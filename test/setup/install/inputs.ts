export const COMMAND = '"/usr/bin/node" "/opt/claude-mem/dist/hook.cjs"'
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
