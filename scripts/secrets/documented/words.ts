/** What people and agents write: closing messages, Markdown, names of secrets in other languages than English. */
import { type DocumentedFormat, documented } from './format.ts'

interface Language {
  name: string
  /** Names for a password, as in a configuration or a table. */
  names: readonly [string, ...string[]]
  /** `The password is …`. */
  says: (password: string) => string
  harmless: readonly string[]
}

/** As the user interfaces of systems say it. */
const LANGUAGES: readonly Language[] = [
  {
    name: 'German',
    names: ['Passwort', 'kennwort'],
    says: (p) => `Das Passwort lautet ${p}`,
    harmless: [
      'Passwort vergessen?',
      'Passwort: mindestens 8 Zeichen',
      'passwort_laenge: 12',
      'Das Passwort ist falsch.',
    ],
  },
  {
    name: 'French',
    names: ['mot_de_passe', 'mdp'],
    says: (p) => `Le mot de passe est ${p}`,
    harmless: [
      'Mot de passe oublié ?',
      'Mot de passe : obligatoire',
      'motDePasse: string',
      'Le mot de passe est incorrect.',
    ],
  },
  {
    name: 'Spanish',
    names: ['contraseña', 'contrasena'],
    says: (p) => `La contraseña es ${p}`,
    harmless: [
      '¿Olvidaste tu contraseña?',
      'Contraseña: mínimo 8 caracteres',
      'clave primaria: id_cliente',
      'La contraseña es incorrecta.',
    ],
  },
  {
    name: 'Portuguese',
    names: ['senha', 'palavra_passe'],
    says: (p) => `A senha é ${p}`,
    harmless: ['Esqueceu a senha?', 'Senha: campo obrigatório', 'desenha: true', 'A senha é inválida.'],
  },
  {
    name: 'Italian',
    names: ['parolaDOrdine', 'parola_d_ordine'],
    says: (p) => `La parola d'ordine è ${p}`,
    harmless: ['Password dimenticata?', 'parola: ciao', 'La password è obbligatoria.', 'chiave primaria: id_cliente'],
  },
  {
    name: 'Dutch',
    names: ['wachtwoord', 'WACHTWOORD'],
    says: (p) => `Het wachtwoord is ${p}`,
    harmless: [
      'Wachtwoord vergeten?',
      'Wachtwoord: minimaal 8 tekens',
      'wachtwoordLengte: 12',
      'Het wachtwoord is onjuist.',
    ],
  },
  {
    name: 'Polish',
    names: ['hasło', 'haslo'],
    says: (p) => `Hasło to ${p}`,
    harmless: ['Nie pamiętasz hasła?', 'Hasło: co najmniej 8 znaków', 'hasloDlugosc: 12', 'Hasło jest nieprawidłowe.'],
  },
  {
    name: 'Russian',
    names: ['пароль', 'Пароль'],
    says: (p) => `Пароль: ${p}`,
    harmless: ['Забыли пароль?', 'Пароль: не менее 8 символов', 'Неверный пароль.', 'Введите пароль'],
  },
  {
    name: 'Turkish',
    names: ['şifre', 'parola'],
    says: (p) => `Parola: ${p}`,
    harmless: ['Şifrenizi mi unuttunuz?', 'Parola: en az 8 karakter', 'deşifre: true', 'Parola yanlış.'],
  },
  {
    name: 'Swedish',
    names: ['lösenord', 'losenord'],
    says: (p) => `Lösenordet är ${p}`,
    harmless: ['Glömt lösenordet?', 'Lösenord: minst 8 tecken', 'losenordLangd: 12', 'Lösenordet är fel.'],
  },
  {
    name: 'Czech',
    names: ['heslo', 'HESLO'],
    says: (p) => `Heslo je ${p}`,
    harmless: ['Zapomněli jste heslo?', 'Heslo: alespoň 8 znaků', 'hesloDelka: 12', 'Heslo je špatné.'],
  },
  {
    name: 'Chinese',
    names: ['密码', '密碼'],
    says: (p) => `密码是 ${p}`,
    harmless: ['忘记密码?', '密码:至少 8 个字符', '请输入密码', '密码错误'],
  },
  {
    name: 'Japanese',
    names: ['パスワード', '暗証番号'],
    says: (p) => `パスワードは ${p} です`,
    harmless: ['パスワードをお忘れですか', 'パスワード:8文字以上', 'パスワードが違います', 'パスワードを入力'],
  },
  {
    name: 'Korean',
    names: ['비밀번호', '암호'],
    says: (p) => `비밀번호는 ${p} 입니다`,
    harmless: ['비밀번호를 잊으셨나요?', '비밀번호: 8자 이상', '비밀번호가 틀렸습니다', '비밀번호를 입력하세요'],
  },
]

const LANGUAGE_FORMATS: DocumentedFormat[] = LANGUAGES.map(({ name, names, says, harmless }) =>
  documented(
    name,
    'names of passwords',
    'https://learn.microsoft.com/en-us/globalization/reference/microsoft-terminology',
    [
      (v, s) => `${v.pick(names)}: ${s(v.password())}\n`,
      (v, s) => `"${v.pick(names)}": "${s(v.signs())}"`,
      (v, s) => `db.${v.pick(names)} = ${s(v.signs())}`,
      (v, s) => says(s(v.password())),
      (v, s) => `| ${v.pick(names)} | \`${s(v.signs())}\` |`,
    ],
    harmless.map((text) => () => text),
  ),
)

export const WORD_FORMATS = [
  ...LANGUAGE_FORMATS,
  documented(
    'CommonMark',
    'code spans and emphasis',
    'https://spec.commonmark.org/0.31.2/#code-spans',
    [
      (v, s) => `The admin account is ready: user \`admin\`, password \`${s(v.password())}\`.`,
      (v, s) => `You can sign in with the token **${s(v.alphanumeric(32))}** now.`,
      (v, s) => `**Password:** ${s(v.password())}`,
      (v, s) => `- **Password**: \`${s(v.signs())}\``,
      (v, s) => `The password is **${s(v.password())}**, change it after the first login.`,
      (v, s) => `I set the database password to \`${s(v.signs())}\` and restarted it.`,
      (v, s) => `API key: \`${s(v.alphanumeric(28))}\``,
      (v, s) => `The API key **${s(v.hex(32))}** works.`,
      (v, s) => `\`DB_PASSWORD\` → \`${s(v.signs())}\``,
      (v, s) => `Use the secret "${s(v.alphanumeric(24))}" for the webhook.`,
    ],
    [
      () => 'The password field is `required` now.',
      () => 'Set `DB_PASSWORD` in `.env` and restart.',
      () => 'I renamed the token **before** it is stored.',
      () => 'The `password` is hashed with `bcrypt`, the `token` with `sha256`.',
      () => 'The password `input` has the label **Password**.',
      () => 'Replaced `password` by `passphrase` in `src/auth2/login.ts`.',
      () => '**Password:** at least 8 characters',
      () => 'The token `Uint8Array` is copied; the key `id` is not.',
      () => 'The secret `db-credentials` was created in the namespace `prod`.',
      (v) => `The token was added in \`${v.hex(7)}\` and the password check in \`${v.hex(7)}\`.`,
      () => 'Test `rejects a wrong password` passes; `token refresh` fails.',
    ],
  ),
  documented(
    'GitHub',
    'Markdown tables',
    'https://github.github.com/gfm/#tables-extension-',
    [
      (v, s) => `| User | Password |\n|---|---|\n| db password | ${s(v.password())} |`,
      (v, s) => `| DB_PASSWORD | \`${s(v.signs())}\` |`,
      (v, s) => `| API token | ${s(v.alphanumeric(32))} |`,
      (v, s) => `| **Password** | **${s(v.signs())}** |`,
    ],
    [
      () => '| password | string | the password of the user |',
      () => '| `token` | `string` | required |',
      () => '| DB_PASSWORD | the password of the database | none |',
      () => '| token | v2.1.0 | 2026-01-01 |',
      (v) => `| tokens | ${v.digits(5)} | ${v.digits(3)} ms |`,
      () => '| Password | ******** |',
    ],
  ),
  documented(
    'chat',
    'closing messages',
    'https://code.claude.com/docs/en/hooks#stop',
    [
      (v, s) => `Done. Login: admin, password: ${s(v.password())}`,
      (v, s) => `Created the user "ci" (password: ${s(v.signs())}).`,
      (v, s) => `The new password is ${s(v.password())}.`,
      (v, s) => `Your access token is: ${s(v.alphanumeric(40))}`,
      (v, s) => `The server runs at http://localhost:3000 (token=${s(v.alphanumeric(24))})`,
      (v, s) => `Username: admin\nPassword: ${s(v.signs())}\nURL: http://localhost:8080`,
      (v, s) => `Generated password for root: ${s(v.signs())}`,
      (v, s) => `A temporary password is generated for root@localhost: ${s(v.signs())}`,
    ],
    [
      () => 'Done. The password check now rejects short passwords.',
      () => 'All 42 tests pass: password reset, token refresh, secret rotation.',
      () => 'The password is stored as a hash; the token expires after an hour.',
      () => 'I fixed the token refresh: it used the wrong key.',
      () => 'Password: see the vault. Token: ask ops.',
      () => 'The password for root: not set.',
      () => 'Your password is too short. Your token is invalid.',
      (v) => `Fixed in commit ${v.hex(40)}: the key is compared in constant time.`,
    ],
  ),
  documented(
    'TypeScript',
    'code about passwords',
    'https://www.typescriptlang.org/docs/handbook/',
    [
      (v, s) => `const password = '${s(v.signs())}'`,
      (v, s) => `login({ user: 'ada', password: '${s(v.signs())}' })`,
      (v, s) => `process.env.DB_PASSWORD = "${s(v.signs())}"`,
      (v, s) => `expect(await login('ada', { password: "${s(v.password())}" })).toBe(true)`,
    ],
    [
      () => 'const password = form.get("password") as string',
      () => 'const { password, ...rest } = await users[0].find(id)',
      () => 'password: hashed(input.password),\n  token: tokens[0]?.value,\n',
      () => 'if (password.length < 8) return fail("password is too short")',
      () => 'type Login = { password: string; remember?: boolean }',
      () => 'password = await prompt("Password: ")',
      () => 'DB_PASSWORD: z.string().min(1),\n  API_TOKEN: z.string().optional(),',
      () => 'const token = tokens.find((t) => t.kind === Kind.Access) ?? tokens[0]',
      () => 'secret: config.auth.secret,\n',
      () => 'it("does not log the password", () => {})',
    ],
  ),
]
