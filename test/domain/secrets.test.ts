import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEnvFile, maskEnvFile } from '../../src/domain/credential-files.ts'
import { applicableRules, PREFIXED_TOKENS, SECRET_RULES } from '../../src/domain/secret-formats.ts'
import { maskSecrets, secretHints } from '../../src/domain/secrets.ts'
import { expectLinearTime } from '../support/linear-time.ts'

const r = (length: number): string => 'aB3dE5gH7jK9mN1pQ2sT4vW6xY8z'.repeat(10).slice(0, length)
const hex = (length: number): string => '0123456789abcdef'.repeat(10).slice(0, length)

/** A lower bound of what a pattern matches: its classes and literals, without what may be missing and what only looks around. */
function leastLength({ source }: RegExp): number {
  const items = source
    .replace(/\(\?<?[=!](?:[^()]|\([^()]*\))*\)/g, '')
    .replace(/\[(?:\\.|[^\]])+\]|\\./g, 'C')
    .replace(/\(\?:([^()]*)\)/g, (_, options: string) => 'C'.repeat(Math.min(...options.split('|').map(leastItems))))
  return leastItems(items)
}

function leastItems(items: string): number {
  const counts = [...items.matchAll(/[^{}?*+](?:\{(\d+)(?:,\d*)?\}|([?*]))?/g)]
  return counts.reduce((sum, [, least, optional]) => sum + (optional === undefined ? Number(least ?? 1) : 0), 0)
}

/** Put together here, so that no scanner takes this file for a leak. */
const SHAPES: Record<string, string[]> = {
  'anthropic-key': [`sk-${'ant'}-api03-${r(40)}`],
  'openai-key': [`sk-${r(48)}`, `sk-proj-${r(30)}_${r(20)}-x`, `sk-or-v1-${hex(64)}`],
  'aws-access-key-id': [`AKIA${'IOSFODNN7EXAMPL3'}`, `ASIA${'ABCDEFGH12345678'}`],
  'github-token': ['p', 'o', 'u', 's', 'r'].map((c) => `gh${c}_${r(36)}`).concat(`github_pat_${r(22)}_${r(59)}`),
  'gitlab-token': [`glpat-${r(20)}`],
  'google-key': [`AIza${r(35)}`],
  'slack-token': ['a', 'b', 'p', 'r', 's'].map((c) => `xox${c}-123456789012-${r(24)}`),
  'stripe-key': [`sk_live_${r(24)}`, `rk_live_${r(24)}`, `sk_test_${r(24)}`],
  'npm-token': [`npm_${r(36)}`],
  'pypi-token': [`pypi-AgEIcHlwaS5vcmc${r(60)}`],
  'huggingface-token': [`hf_${r(34)}`],
  'sendgrid-key': [`SG.${r(22)}.${r(43)}`],
  'twilio-key': [`SK${hex(32)}`],
  'discord-webhook': [],
  'teams-webhook': [],
  'telegram-token': [`123456789:AA${r(33)}`],
  'discord-token': [`MT${r(24)}.G${r(5)}.${r(38)}`],
  'mailchimp-key': [`${hex(32)}-us12`],
  'resend-key': [`re_${r(8)}_${r(24)}`],
  'mapbox-token': [`sk.eyJ${r(60)}.${r(22)}`],
  'airtable-token': [`pat${r(14)}.${hex(64)}`],
  'terraform-token': [`${r(14)}.atlasv1.${r(60)}`],
  'azure-secret': [`abc8Q~${r(34)}`],
  jwk: [],
  'asana-token': [`2/1200123456789012/1200987654321098:${hex(32)}`, `1/1200123456789012:${hex(32)}`],
  'harness-token': [`pat.${r(22)}.${hex(24)}.${r(20)}`],
  'azure-devops-token': [`${r(76)}${'AZDO'}${r(4)}`],
  'newrelic-key': [`${hex(36)}NRAL`],
  'crates-token': [`cio${r(32)}`],
  'mailgun-key': [`${hex(32)}-${hex(8)}-${hex(8)}`],
  'cloudflare-key': [`v1.0-${hex(24)}-${hex(146)}`],
  'adyen-key': [`AQE${r(60)}==-${r(43)}=-${r(10)}^T2{<`],
  'braintree-token': [`access_token$production$${r(16).toLowerCase()}$${hex(32)}`],
  'twitter-token': [`${'A'.repeat(22)}${r(30)}%2B${r(40)}%3D${r(20)}`],
  jwt: [`eyJ${r(20)}.eyJ${r(60)}.${r(43)}`],
  'private-key': [`-----BEGIN RSA PRIVATE KEY-----\n${r(64)}\n-----END RSA PRIVATE KEY-----`],
}

describe('secrets with known formats', () => {
  const shapes = Object.entries(SHAPES).flatMap(([kind, secrets]) => secrets.map((secret) => [kind, secret] as const))

  it.each(shapes)('%s: %s', (kind, secret) => {
    expect(maskSecrets(secret)).toBe(`[secret:${kind}]`)
    expect(maskSecrets(`see "${secret}", then`)).toBe(`see "[secret:${kind}]", then`)
    expect(maskSecrets(`{"text":"line\\n${secret}\\n"}`)).toBe(`{"text":"line\\n[secret:${kind}]\\n"}`)
    expect(maskSecrets(`(${secret})\n${secret}`)).toBe(`([secret:${kind}])\n[secret:${kind}]`)
  })

  it.each(PREFIXED_TOKENS)('%s: %s', (kind, prefixes, characters, least) => {
    const body = (characters.includes('A-Z') && !characters.includes('a-z') ? 'A2' : 'a2').repeat(least)
    for (const prefix of prefixes.split(' ')) {
      // A launch key is a UUID.
      const token = `${prefix}${kind === 'launchdarkly-key' ? `${hex(8)}-${hex(4)}-${hex(27)}` : body.slice(0, least + 8)}`
      expect(maskSecrets(`with ${token} in it`)).not.toContain(token.slice(prefix.length))
    }
  })

  it('finds a token of the least length that a rule allows', () => {
    for (const { kind, dense, pattern } of SECRET_RULES) {
      if (dense !== undefined) expect([kind, dense]).toEqual([kind, Math.min(dense, leastLength(pattern))])
    }
  })

  it('has a case for each rule', () => {
    const elsewhere = [
      'aws-secret-key',
      'slack-webhook',
      'authorization',
      'url-password',
      'cookie',
      'signature',
      'key',
      'password',
      'password-hash',
      'credentials',
      'url-token',
      'saml',
    ]
    const known = [...Object.keys(SHAPES), ...PREFIXED_TOKENS.map(([kind]) => kind), ...elsewhere]
    for (const { kind } of SECRET_RULES) expect(known).toContain(kind)
  })
})

const aws = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const MASKED: [text: string, masked: string][] = [
  [`aws_secret_access_key = ${aws}`, 'aws_secret_access_key = [secret:aws-secret-key]'],
  [`"SecretAccessKey": "${aws}"`, '"SecretAccessKey": "[secret:aws-secret-key]"'],
  [`https://hooks.slack.com/services/T0/B0/${r(24)}`, 'https://hooks.slack.com/services/[secret:slack-webhook]'],
  ['Authorization: Bearer abc123.def', 'Authorization: Bearer [secret:authorization]'],
  ['curl -H "authorization: Basic dXNlcjpwYXNz"', 'curl -H "authorization: Basic [secret:authorization]"'],
  ['{"Authorization":"token 0123456789"}', '{"Authorization":"token [secret:authorization]"}'],
  [`send Bearer ${r(30)} along`, 'send Bearer [secret:authorization] along'],
  ['postgres://app:hunter2@db:5432/x', 'postgres://app:[secret:url-password]@db:5432/x'],
  ['redis://:p@ss@host/0', 'redis://:[secret:url-password]@host/0'],
  ['DB_PASSWORD=hunter2', 'DB_PASSWORD=[secret:password]'],
  ['export API_TOKEN=abc', 'export API_TOKEN=[secret:token]'],
  ["STRIPE_KEY='abc def'", "STRIPE_KEY='[secret:key]'"],
  ['MY_SECRET_VALUE="a\\"b"', 'MY_SECRET_VALUE="[secret:secret]"'],
  ['PASSWD=changeme', 'PASSWD=[secret:password]'],
  ['POSTGRES_PASSWORD: postgres', 'POSTGRES_PASSWORD: [secret:password]'],
  ['"api_key": "abc"', '"api_key": "[secret:key]"'],
  ['{\\"apiKey\\": \\"abc\\", \\"b\\": 1}', '{\\"apiKey\\": \\"[secret:key]\\", \\"b\\": 1}'],
  ['db:\n  password: hunter2\n  user: x', 'db:\n  password: [secret:password]\n  user: x'],
  ["const token = 'abc'", "const token = '[secret:token]'"],
  ['const password: string = "abc"', 'const password: string = "[secret:password]"'],
  ['Server=x;Password=abc;Database=y', 'Server=x;Password=[secret:password];Database=y'],
  ['https://x.org/?access_token=abc1&b=2', 'https://x.org/?access_token=[secret:token]&b=2'],
  ['mysql --password hunter2 -u root', 'mysql --password [secret:password] -u root'],
  ['{"text":"a\\nSTRIPE_KEY=\\"abc\\""}', '{"text":"a\\nSTRIPE_KEY=\\"[secret:key]\\""}'],
  ['    client-key-data: LS0tLS1CRUdJTiBSU0E=', '    client-key-data: [secret:key]'],
  ['x-api-key: abc123def', 'x-api-key: [secret:key]'],
  ['PASSWORD="never closed\nnext', 'PASSWORD="[secret:password]\nnext'],
  [
    `https://discord.com/api/webhooks/123456789012/${r(68)}`,
    'https://discord.com/api/webhooks/123456789012/[secret:discord-webhook]',
  ],
  [`https://x.webhook.office.com/webhookb2/${r(40)}`, 'https://x.webhook.office.com/[secret:teams-webhook]'],
  [`{"kty":"EC","x":"${r(43)}","d":"${r(43)}"}`, `{"kty":"EC","x":"${r(43)}","d":"[secret:jwk]"}`],
  [
    `https://x.blob.core.windows.net/c?sp=r&sig=${r(40)}`,
    'https://x.blob.core.windows.net/c?sp=r&sig=[secret:signature]',
  ],
  [`my api key is ${r(20)}`, 'my api key is [secret:key]'],
  [`Cookie: sid=${r(20)}; theme=dark`, 'Cookie: [secret:cookie]'],
  [`set-cookie: sid=${r(20)}; Path=/; HttpOnly`, 'set-cookie: sid=[secret:cookie]; Path=/; HttpOnly'],
  ['curl -u me:hunter2 https://x.org', 'curl -u me:[secret:password] https://x.org'],
  ['curl -b sid=abc123 x.org', 'curl -b sid=[secret:cookie] x.org'],
  ['mysql -u root -phunter app', 'mysql -u root -p[secret:password] app'],
  ["sshpass -p 'a b' ssh x", "sshpass -p '[secret:password]' ssh x"],
  ['docker login -u a -p hunter2 ghcr.io', 'docker login -u a -p [secret:password] ghcr.io'],
  ['echo hunter | docker login --password-stdin', 'echo [secret:password] | docker login --password-stdin'],
  ['redis-cli -a hunter ping', 'redis-cli -a [secret:password] ping'],
  ['machine x login me password hunter', 'machine x login me password [secret:password]'],
  ['<password>hunter</password>', '<password>[secret:password]</password>'],
  ['<add key="ApiKey" value="abcdef"/>', '<add key="ApiKey" value="[secret:key]"/>'],
  ["define('DB_PASSWORD', 'hunter');", "define('DB_PASSWORD', '[secret:password]');"],
  ['- name: DB_PASSWORD\n  value: hunter', '- name: DB_PASSWORD\n  value: [secret:password]'],
  ['{"tokens": ["a1b2c3d4e5f6g7h8"], "n": 2}', '{"tokens": ["[secret:token]"], "n": 2}'],
  [
    'passwords:\n  - hunter\n  - swordfish\nport: 1',
    'passwords:\n  - [secret:password]\n  - [secret:password]\nport: 1',
  ],
  ['password: |\n  hunter\nport: 1', 'password: |\n  [secret:password]\nport: 1'],
  ['{"password": 123456}', '{"password": [secret:password]}'],
  ['pass = hunter2', 'pass = [secret:password]'],
  [
    'proxy_set_header Authorization "Basic YTpodW50ZXIy";',
    'proxy_set_header Authorization "Basic [secret:authorization]";',
  ],
  // In a block.
  [
    'variable "db_password" {\n  type = string\n  default = "hunter2"\n}',
    'variable "db_password" {\n  type = string\n  default = "[secret:password]"\n}',
  ],
  ['<key>APIToken</key>\n<string>a1b2c3d4</string>', '<key>APIToken</key>\n<string>[secret:token]</string>'],
  ['<set value="hunter2" name="password"/>', '<set value="[secret:password]" name="password"/>'],
  ['TOKEN=a1b2c3\\\nd4e5f6 run', 'TOKEN=[secret:token] run'],
  // What a terminal showed.
  ['$ cat ~/.pgpass\ndb:5432:app:jo:hunter2\n$ ls\na.ts', '$ cat ~/.pgpass\n[secret:credentials-file]\n$ ls\na.ts'],
  ['jo@host:~$ pass show mail\nhunter2\n\nthen', 'jo@host:~$ pass show mail\n[secret:credentials-file]\n\nthen'],
  [
    '❯ vault kv get -field=password secret/db\nhunter2',
    '❯ vault kv get -field=password secret/db\n[secret:credentials-file]',
  ],
  ['Das Kennwort lautet jetzt „Zug4Pfad9See“.', 'Das Kennwort lautet jetzt „[secret:password]“.'],
  [
    'Das Kennwort für die Datenbank ist nun „Zug4Pfad9See“.',
    'Das Kennwort für die Datenbank ist nun „[secret:password]“.',
  ],
  ['Das Kennwort lautet jetzt Zug4Pfad9See.', 'Das Kennwort lautet jetzt [secret:password].'],
  ['Le mot de passe est désormais « train4Lac9 ».', 'Le mot de passe est désormais « [secret:password] ».'],
  ['mot de passe : « train4Lac9 »', 'mot de passe : « [secret:password] »'],
  ['"clave_secreta": "TrenLagoMonte",', '"clave_secreta": "[secret:password]",'],
  ['chave_secreta = "TremLagoMonte"', 'chave_secreta = "[secret:password]"'],
  ['client.login("bob", "train4Lac9")', 'client.login("bob", "[secret:password]")'],
  ['signIn(\\"bob\\", \\"train4Lac9\\")', 'signIn(\\"bob\\", \\"[secret:password]\\")'],
  // Columns.
  ...[
    ['Benutzer', 'Kennwort'],
    ['用户', '密码'],
    ['utilisateur', 'mot de passe'],
    ['usuario', 'contraseña'],
  ].flatMap(([user = '', name = '']): [string, string][] => [
    [
      `| ${user} | ${name} |\n|---|---|\n| bob | TrainLac |`,
      `| ${user} | ${name} |\n|---|---|\n| bob | [secret:password] |`,
    ],
    [`${user}\t${name}\nbob\tTrainLac\n`, `${user}\t${name}\nbob\t[secret:password]\n`],
  ]),
  [
    '| user | password |\n|---|---|\n| jo | swordfish |\n| bo | correct horse battery |\n| al | *** |\n| ed | |\n| di | - |\n| ti | 4711 |',
    '| user | password |\n|---|---|\n| jo | [secret:password] |\n| bo | [secret:password] |\n| al | *** |\n| ed | |\n| di | - |\n| ti | [secret:password] |',
  ],
  [
    '| user | password |\n|---|---|\n| jo | hunter2! |\n',
    '| user | password |\n|---|---|\n| jo | [secret:password] |\n',
  ],
  [
    `| Name | API key |\n|:--|--:|\n| prod | \`${r(20)}\` |`,
    '| Name | API key |\n|:--|--:|\n| prod | `[secret:key]` |',
  ],
  [
    ` id | api_token\n----+------\n  1 | ${r(20)}\n(1 row)`,
    ' id | api_token\n----+------\n  1 | [secret:token]\n(1 row)',
  ],
  [
    `+----+--------+\n| id | passwd |\n+----+--------+\n|  1 | hunter22 |\n+----+--------+`,
    '+----+--------+\n| id | passwd |\n+----+--------+\n|  1 | [secret:password] |\n+----+--------+',
  ],
  ['user,password,role\njo,hunter22,admin', 'user,password,role\njo,[secret:password],admin'],
  ['"user";"password"\n"jo";"hunter22"', '"user";"password"\n"jo";"[secret:password]"'],
  [
    "INSERT INTO users (name, password) VALUES\n  ('jo', 'hunter22'),\n  ('a, b', 'swordfish7');",
    "INSERT INTO users (name, password) VALUES\n  ('jo', '[secret:password]'),\n  ('a, b', '[secret:password]');",
  ],
  ["SET PASSWORD FOR 'a'@'%' = PASSWORD('hunter2');", "SET PASSWORD FOR 'a'@'%' = PASSWORD('[secret:password]');"],
  // In base64.
  [`echo ${btoa('DB_PASSWORD=hunter2 ')} | base64 -d`, 'echo [secret:encoded] | base64 -d'],
  [`config: ${btoa('{"user":"a","password":"hunter2"}')}`, 'config: [secret:encoded]'],
  [
    `tls.crt: ${btoa(`-----BEGIN PRIVATE KEY-----\n${r(64)}\n${r(64)}\n-----END PRIVATE KEY-----\n`)}`,
    'tls.crt: [secret:encoded]',
  ],
  // Between a name and its value.
  ['\u001b[32mpassword\u001b[0m: \u001b[1mhunter2', '\u001b[32mpassword\u001b[0m: \u001b[1m[secret:password]'],
  ['app \\\n  --password \\\n  hunter2 \\\n  --env x', 'app \\\n  --password \\\n  [secret:password] \\\n  --env x'],
  ['user%3Djo%26password%3Dhunter2', 'user%3Djo%26password%3D[secret:password]'],
  ['password <- "hunter2"', 'password <- "[secret:password]"'],
  ['const TOKEN: &str = "a1b2c3";', 'const TOKEN: &str = "[secret:token]";'],
  ['const password = "hunter2" +\n  "swordfish"', 'const password = "[secret:password]" +\n  "[secret:password]"'],
  ['password = ("hunter2"\n    "swordfish")', 'password = ("[secret:password]"\n    "[secret:password]")'],
  // What somebody says.
  ['Das Passwort für den Server lautet hunter2!.', 'Das Passwort für den Server lautet [secret:password].'],
  ['Hasło do serwera to hunter2!', 'Hasło do serwera to [secret:password]'],
  ['пароль до бази: hunter2!', 'пароль до бази: [secret:password]'],
  ['mật khẩu: hunter2!', 'mật khẩu: [secret:password]'],
  ['كلمة المرور: hunter2!', 'كلمة المرور: [secret:password]'],
  ['the passphrase for the key is "blue horse 42"', 'the passphrase for the key is "[secret:password]"'],
  [
    'I changed the root password from hunter2! to swordfish7!',
    'I changed the root password from [secret:password] to [secret:password]',
  ],
  ['The new password:\n\nhunter2!x\n\nKeep it.', 'The new password:\n\n[secret:password]\n\nKeep it.'],
  [`The API token:\n\n\`\`\`\n${r(30)}\n\`\`\`\n`, 'The API token:\n\n```\n[secret:token]\n```\n'],
  ['credentials: admin:hunter2!', 'credentials: admin:[secret:password]'],
  ['Test login: jo@acme.com / hunter2!', 'Test login: jo@acme.com / [secret:password]'],
  // Other places.
  [
    'security unlock-keychain -p "hunter2" login.keychain',
    'security unlock-keychain -p "[secret:password]" login.keychain',
  ],
  ['form-data; name="password"\r\n\r\nhunter2\r\n--b', 'form-data; name="password"\r\n\r\n[secret:password]\r\n--b'],
  ['jdbc:oracle:thin:scott/tiger2@//db/XE', 'jdbc:oracle:thin:scott/[secret:password]@//db/XE'],
  [`Authorization: Token token="${hex(40)}"`, 'Authorization: Token token="[secret:authorization]"'],
  [`{"kty":"RSA","e":"AQAB","p":"${r(43)}"}`, '{"kty":"RSA","e":"AQAB","p":"[secret:jwk]"}'],
  [`SAMLResponse=${r(80)}&RelayState=x`, 'SAMLResponse=[secret:saml]&RelayState=x'],
  ['DB_PW=hunter', 'DB_PW=[secret:password]'],
  ['db:\n  password: Butterfly\n', 'db:\n  password: [secret:password]\n'],
  ['the password is hunter2', 'the password is [secret:password]'],
  ['requirepass hunter', 'requirepass [secret:password]'],
  ['password    hunter\nuser    me', 'password    [secret:password]\nuser    me'],
  [
    'diff --git a/.env b/.env\n+++ b/.env\n@@ -1 +1 @@\n+A=hunter',
    'diff --git a/.env b/.env\n+++ b/.env\n@@ -1 +1 @@\n+A=[secret:env]',
  ],
  ['app/.env:3:A=hunter\nsrc/a.ts:3:A', 'app/.env:3:A=[secret:env]\nsrc/a.ts:3:A'],
  ['==> /root/.netrc <==\nmachine x', '==> /root/.netrc <==\n[secret:credentials-file]'],
  ['kind: Secret\ndata:\n  a: aHVudGVy\ntype: Opaque', 'kind: Secret\ndata:\n  a: [secret:kubernetes]\ntype: Opaque'],
  ['a\n-----BEGIN PRIVATE KEY-----\nabc', 'a\n[secret:private-key]'],
  ['abc\n-----END OPENSSH PRIVATE KEY-----\nb', '[secret:private-key]\nb'],
  [
    `const a = 1\n-----BEGIN PRIVATE KEY-----\n${r(64)}\n${r(64)}\nconst open = /x/\n-----END PRIVATE KEY-----\nb`,
    'const a = 1\n[secret:private-key]\nconst open = /x/\n-----END PRIVATE KEY-----\nb',
  ],
  [
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,7F\n\n${r(64)}\nab==\n-----END RSA PRIVATE KEY-----\nb`,
    '[secret:private-key]\nb',
  ],
  [`-----BEGIN PRIVATE KEY----- ${r(64)} ${r(20)} -----END PRIVATE KEY----- b`, '[secret:private-key] b'],
  [
    `a.pem:1:-----BEGIN PRIVATE KEY-----\na.pem-2-${r(64)}\nb.ts:3:const b = 2`,
    'a.pem:1:[secret:private-key]\nb.ts:3:const b = 2',
  ],
  ["ALTER USER app IDENTIFIED BY 'word'", "ALTER USER app IDENTIFIED BY '[secret:password]'"],
  ["SET PASSWORD FOR app = PASSWORD('word');", "SET PASSWORD FOR app = PASSWORD('[secret:password]');"],
  ['The admin password is now **hunter2**.', 'The admin password is now **[secret:password]**.'],
  ['the new token is now `k9PihQsuRq7UZiqTHxmi`', 'the new token is now `[secret:token]`'],
  ["CREATE ROLE app PASSWORD 'word'", "CREATE ROLE app PASSWORD '[secret:password]'"],
  ['a\tFALSE\t/\tTRUE\t0\tsid\tab12cd34', 'a\tFALSE\t/\tTRUE\t0\tsid\t[secret:cookie]'],
  ['{"sensitive": true, "value": "word"}', '{"sensitive": true, "value": "[secret:secret]"}'],
  ['{"data":{"a":"YWI="},"kind":"Secret"}', '{"data":{"a":"[secret:kubernetes]"},"kind":"Secret"}'],
  ['password `hunter2`', 'password `[secret:password]`'],
  ['DB_PASSWORD=k9(Zp]x.Q2', 'DB_PASSWORD=[secret:password]'],
  ['Passwort: hunter2', 'Passwort: [secret:password]'],
  [`X-Vault-Token: s.${r(24)}`, 'X-Vault-Token: [secret:token]'],
  [`https://${r(32)}@x.org`, 'https://[secret:url-token]@x.org'],
  ['http -a me:hunter2 x.org', 'http -a me:[secret:password] x.org'],
  [`Private-Lines: 2\n${r(64)}\n${r(64)}\nPrivate-MAC: ${hex(40)}\nb`, '[secret:private-key]\nb'],
]

const LEFT_ALONE = [
  "input.set('a', 1); const field = password('Password')",
  'password = getPassword()',
  'const token = await readToken(file)',
  'TOKEN=$TOKEN',
  `TOKEN=$\{TOKEN}`,
  'TOKEN=$(cat file)',
  'API_KEY=<your-key>',
  'API_KEY=your-api-key',
  'API_KEY=xxxxxxxx',
  'apiKey: process.env.API_KEY,',
  'API_KEY = os.environ["API_KEY"]',
  `api_key = $\{{ secrets.API_KEY }}`,
  'PASSWORD=',
  'password: ""',
  'password: string',
  'password: z.string().min(8)',
  'check(port: number, token: string): void {',
  'export const SECRET_RULES: readonly Rule[] = [',
  'const PASSWORD_WORD = /passw(?:or)?d/',
  'this.password = password',
  'connect(user=user, password=password)',
  'if (token === null) return',
  'max_tokens: 4096, input_tokens: 12345678',
  'monkey = banana12; hotkey: ctrl1234',
  'primary_key: id12345',
  '{"key": "value123456"}',
  'PASSWORD_MIN_LENGTH=12',
  'SECRET_FILE=/run/secrets/db',
  'Authorization: Basic authentication is off',
  'Bearer token in the header',
  '9fceb02d0ae598e95dc970b74767f19372d61af8',
  'e19a5068-3e5e-4b39-bcb9-27039fbe91af',
  'sk-folding-cube-and-other-spinners',
  `postgres://app:$\{PASSWORD}@db/x`,
  'http://localhost:8080/a@b',
  'the secret: nobody knows; a token: see above',
  '-----BEGIN PUBLIC KEY-----',
  "if (text.startsWith('-----BEGIN PRIVATE KEY-----')) return\nconst a = 1",
  'const KEY = /-----BEGIN PRIVATE KEY-----/\nconst a = 1\nexport function b() {\n  return a\n}',
  'const KEY = /-----BEGIN RSA PRIVATE KEY-----[\\s\\S]+?-----END RSA PRIVATE KEY-----/g\nconst a = 1',
  '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
  'password: cursor,\n  page: 2,',
  'pass: 12, fail: 0',
  '"pass": "The element has a title"',
  "const READ_KEY = 'app:read-notices'",
  "const REFRESH = { token: 'refresh_token' }",
  'PWD=/home/me/app',
  '"pbkdf2-password": "1.2.1"',
  "getpass.getpass('Password: ')",
  'print("token=" + repr(raw))',
  '<a accesskey="h" href="/">',
  'token: Uint8Array, salt: Uint8Array',
  'docker run -u 1000:1000 -p 80:80 nginx',
  'curl -u "$USER:$PASSWORD" https://x.org',
  'mkdir -p build && ssh -p 22 host',
  'cookie: { maxAge: 3600 }',
  'the login page password reset and the login form token refresh',
  'Cookie: theme=dark',
  'function login(user: string, password: string): Promise<Token> {',
  'secret: process.env.SECRET!',
  'mutation login($password: String!) { login(password: $password) }',
  'let token: String? = nil',
  'read -s -p "Password: " NAME',
  'secret_arn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db',
  '| field | type |\n|---|---|\n| password | string |',
  '| user | password |\n|---|---|\n| jo | hashed |',
  '| run | password |\n|---|---|\n| 1 | 12 |\n| 2 | 0.98 |\n| 3 | 98% |',
  'a user, password\nand a name, too\n',
  'login("bob", "secret page")',
  'Das Kennwort ist jetzt „leer“.',
  '| token | count |\n|---|---|\n| 12,345 | 678 |',
  'name,token,count\nfoo,bar,12',
  'INSERT INTO users (name, password) VALUES (?, ?)',
  `data:image/png;base64,iVBORw0KGgo${r(100)}`,
  `see ${btoa('a text without anything that must be hidden')}`,
  'The password for the account is required.',
  'das Passwort für den Server ist falsch',
  'password:\n  type: string\n  minLength: 8',
  'Login: jo@acme.com / GitHub',
  'The password is "too short".',
  'variable "db_password" {\n  type = string\n  default = ""\n}',
  '<key>password</key>\n<string></string>',
  '<label value="Password" name="password"/>',
  '$ cat README.md\nA text.\n$ pass --help\nusage: pass',
]

describe('secrets by their name', () => {
  it.each(MASKED)('%s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked)
    expect(maskSecrets(masked)).toBe(masked)
  })
  it.each(LEFT_ALONE)('leaves %s', (text) => expect(maskSecrets(text)).toBe(text))
})

describe('masking', () => {
  const piece = fc.constantFrom(
    ...Object.values(SHAPES).flat(),
    ...MASKED.flat(),
    ...LEFT_ALONE,
    ...' \n"\'`=:;,&()[]{}\\$'.split(''),
    'PASSWORD',
    'token',
    '[secret:token]',
  )

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const masked = maskSecrets(pieces.join(''))
        expect(maskSecrets(masked)).toBe(masked)
      }),
      { numRuns: 3_000 },
    )
  })

  it('is idempotent where masking a token makes a private key of what was none', () => {
    const key = 'aB3dE5gH7jK9mN1pQ2sT4vW6'
    const text = `if (text.startsWith('-----BEGIN PRIVATE KEY-----')) return\nconst a = 1xoxr-123456789012-${key}{"kty":"EC","x":"${key}xY8zaB3dE5gH7jK9mN1","d":"${key}xY8zaB3dE5gH7jK9mN1"}`
    const masked = maskSecrets(text)
    expect(maskSecrets(masked)).toBe(masked)
  })

  it('takes linear time', () => {
    const traps = ['eyJ', '-eyJ', 'eyJaaaaaaaa.', 'sk-', 'key', '_key', 'secret', 'token=', 'password: "', '://', '://a:', 'Bearer ', '-----BEGIN ', '-----BEGIN PRIVATE KEY-----\n', 'abcd\n-----END PRIVATE KEY-----', 'xox', 'SG.', 'github_pat_', 'a', '\\', '=', ' ', 'Authorization:', 'PASSWORD=('] // biome-ignore format: a list
    for (const trap of traps) {
      expectLinearTime((size) => maskSecrets(trap.repeat(Math.ceil(size / trap.length))), 62_500, trap)
    }
  })

  it.each([
    'sk-',
    'httpOnly',
    '{"httpOnly":1,"value":"',
    '"kind":"Secret","data":{',
    '"kind":"Secret","data":{"a":"b"},',
    'cookie',
    'cookie("a","',
    '\tTRUE\t/',
    'identified by ',
    'user a on >',
    '.auth("a",',
    'passwort: ',
    'password **',
    'echo a:b |',
    'http -a a:',
    'x?token=d&',
    'key=a;b=c;',
    '| token | password |\n|---|---|\n',
    'a,password\n',
    '密码\ta\n',
    'mot de passe est désormais « ',
    'insert into a (password) values (',
    "insert into a (token) values ('a'),",
    'password for a b c d ',
    'password\u001b[1m',
    'password: "abc" +\n',
    'the new password:\n\n',
    'cGFzc3dvcmQ9aHVudGVyMg== ',
    'cGFzc3dvcmQ9aHVudGVyMg',
    'credentials: a@b:',
    'form-data; name="password"\n',
    'AQEa-',
    'set password =',
    'variable "token" {',
    'value="a" name="token" ',
    '<key>token</key>',
    'TOKEN=a\\\n',
    '$ cat .env\n',
    '$ cat .env\na=b\n',
    '@@ -1 +1 @@\n+',
    '@@ a\n+token: b\n\n',
    '{\\"a\\":\\n',
  ])(
    // biome-ignore format: a list
    'reads %j in linear time',
    (trap) => expectLinearTime((size) => maskSecrets(trap.repeat(Math.ceil(size / trap.length))), 62_500, trap),
  )

  it('leaves plain text alone, in linear time', () => {
    const text = 'The session handler returns an array of stored items when the key matches.\n'
    expect(maskSecrets(text.repeat(27_000))).toBe(text.repeat(27_000))
    expectLinearTime((lines) => maskSecrets(text.repeat(lines)), 3_000)
  })
})

describe('.env files', () => {
  it.each([
    ['.env', true],
    ['/a/.env.production', true],
    ['C:\\a\\.env.local', true],
    ['staging.env', true],
    ['.env.example', false],
    ['.env.local.sample', false],
    ['.env.template', false],
    ['.envrc', false],
    ['env', false],
    ['a.environment', false],
  ])('%s: %s', (path, is) => expect(isEnvFile(path)).toBe(is))

  it('keeps names and comments only', () => {
    const text = '# note\nA=1\n  B = two words # note\nexport C="x\ny=z\n"\n#D=4\nE=\n\nloose\n     7→F=g\r\n'
    const m = '[secret:env]'
    expect(maskEnvFile(text)).toBe(
      `# note\nA=${m}\n  B =${m}\nexport C=${m}\n${m}\n${m}\n#D=${m}\nE=\n\n${m}\n     7→F=${m}\n`,
    )
    expect(maskEnvFile(maskEnvFile(text))).toBe(maskEnvFile(text))
  })
})

it('masks a key that a terminal colours', () => {
  const key = `ghp_${'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2'}`
  for (const colour of ['\u001b[31m', '\\u001b[1;31m', '[0m']) {
    expect(maskSecrets(`token${colour}${key}\u001b[0m`)).not.toContain(key)
  }
})

describe('rules that apply to a text', () => {
  it('are all whose pattern is in it, whatever is around the secret', () => {
    const prefixes = PREFIXED_TOKENS.flatMap(([, all]) => all.split(' '))
    const piece = fc.oneof(
      fc.constantFrom(
        ...prefixes,
        'sk-',
        'AKIA',
        'AIza',
        'eyJ',
        '.eyJ',
        'SG.',
        ':AA',
        '-us1',
        'Q~',
        '.atlasv1.',
        'xoxb-',
      ),
      fc.constantFrom(
        ' ',
        '\\n',
        '\n',
        '=',
        '"',
        '/',
        '-',
        '.',
        '\u001b[38;5;120m',
        '\u001b[1;2;3;4;5;6m',
        'é',
        ':',
        '+',
      ),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 6, maxLength: 64 }),
      fc.string({ unit: fc.constantFrom(...'aZ9_-.'), minLength: 1, maxLength: 40 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('')
        const applicable = new Set(applicableRules(text, secretHints(text)))
        const missing = SECRET_RULES.filter((rule) => text.search(rule.pattern) !== -1 && !applicable.has(rule))
        expect(missing.map(({ kind }) => kind)).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })

  it('mask secrets that follow each other without a separator', () => {
    const hex = (length: number) => 'a1b2c3d4e5f60718'.repeat(8).slice(0, length)
    // In the order of the rules: each begins a word only when the one before is masked.
    const chain = [
      ...[`dop_v1_${hex(64)}`, `sbp_${hex(40)}`, `shpat_${hex(32)}`, `rubygems_${hex(48)}`, `pul-${hex(40)}`],
      ...[`squ_${hex(40)}`, `shippo_live_${hex(40)}`, `sk_${hex(48)}`, `key-${hex(32)}`, `SK${hex(32)}`],
    ].join('')
    const masked = maskSecrets(chain)
    expect(masked).not.toMatch(/[0-9a-f]{30}/)
    expect(maskSecrets(masked)).toBe(masked)
  })
})
