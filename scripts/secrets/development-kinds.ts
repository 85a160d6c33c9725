/** The half of the corpus that the rules were written against. */
import {
  bash,
  edit,
  grep,
  mcp,
  prompt,
  read,
  type SecretKind,
  type SecretValues,
  sample,
  unnamed,
  write,
} from './samples.ts'

const pem = (v: SecretValues, type: string, lines = 8): string =>
  `-----BEGIN ${type}-----\n${Array.from({ length: lines }, () => v.base64(64)).join('\n')}\n-----END ${type}-----`
/** The body of a key, line by line: each must be gone. */
const bodyLines = (key: string): string[] => key.split('\n').filter((line) => line.length === 64)

export const DEVELOPMENT_KINDS: Record<string, SecretKind> = {
  'anthropic key': (v) => unnamed(v, () => `sk-ant-api03-${v.urlSafe(93)}AA`),
  'openai key': (v) => [
    ...unnamed(v, () => `sk-${v.alphanumeric(48)}`, 2),
    ...unnamed(v, () => `sk-proj-${v.urlSafe(120)}`, 2),
  ],
  'aws access key id': (v) =>
    unnamed(v, () => `${v.pick(['AKIA', 'ASIA'])}${v.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`),
  'aws secret key': (v) => {
    const key = () => v.base64(40)
    const [a, b, c, d] = [key(), key(), key(), key()] as const
    return [
      sample(
        bash(
          'aws iam create-access-key',
          `{"AccessKey": {"UserName": "ci", "SecretAccessKey": "${a}", "Status": "Active"}}`,
        ),
        a,
      ),
      sample(bash(`AWS_SECRET_ACCESS_KEY=${b} aws s3 ls`, ''), b),
      sample(edit('main.tf', 'x', `provider "aws" {\n  secret_key = "${c}"\n}`), c),
      sample(prompt(`my aws secret access key: ${d}`), d),
    ]
  },
  'github token': (v) => [
    ...unnamed(v, () => `gh${v.pick(['p', 'o', 'u', 's', 'r'])}_${v.alphanumeric(36)}`),
    ...unnamed(v, () => `github_pat_${v.alphanumeric(22)}_${v.alphanumeric(59)}`, 2),
  ],
  'gitlab token': (v) => unnamed(v, () => `glpat-${v.urlSafe(20)}`),
  'google api key': (v) => unnamed(v, () => `AIza${v.urlSafe(35)}`),
  'google access token': (v) => unnamed(v, () => `ya29.a0A${v.urlSafe(120)}`),
  'slack token': (v) => [
    ...unnamed(v, () => `xoxb-${v.digits(12)}-${v.digits(12)}-${v.alphanumeric(24)}`),
    ...unnamed(v, () => `xapp-1-A${v.upper(10)}-${v.digits(13)}-${v.hex(64)}`, 3),
  ],
  'stripe key': (v) => [
    ...unnamed(v, () => `${v.pick(['sk', 'rk'])}_${v.pick(['live', 'test'])}_${v.alphanumeric(24)}`),
    ...unnamed(v, () => `whsec_${v.alphanumeric(32)}`, 3),
  ],
  'npm token': (v) => unnamed(v, () => `npm_${v.alphanumeric(36)}`, 3),
  'pypi token': (v) => unnamed(v, () => `pypi-AgEIcHlwaS5vcmc${v.urlSafe(150)}`, 3),
  'digitalocean token': (v) => unnamed(v, () => `dop_v1_${v.hex(64)}`, 3),
  'vault token': (v) => unnamed(v, () => `hvs.${v.urlSafe(90)}`, 3),
  'groq key': (v) => unnamed(v, () => `gsk_${v.alphanumeric(52)}`, 3),
  'perplexity key': (v) => unnamed(v, () => `pplx-${v.alphanumeric(48)}`, 3),
  'linear key': (v) => unnamed(v, () => `lin_api_${v.alphanumeric(40)}`, 3),
  'notion token': (v) => unnamed(v, () => `ntn_${v.alphanumeric(46)}`, 3),
  'supabase token': (v) => unnamed(v, () => `sbp_${v.hex(40)}`, 3),
  'telegram bot token': (v) => unnamed(v, () => `${v.digits(10)}:AA${v.urlSafe(33)}`, 4),
  'discord bot token': (v) => unnamed(v, () => `MT${v.alphanumeric(24)}.G${v.alphanumeric(5)}.${v.urlSafe(38)}`, 4),
  'age key': (v) => unnamed(v, () => `AGE-SECRET-KEY-1${v.from('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`, 3),
  jwt: (v) => unnamed(v, () => `eyJhbGciOiJIUzI1NiJ9.eyJ${v.urlSafe(80)}.${v.urlSafe(43)}`, 5),
  'pem key': (v) => {
    const [a, b, c, d] = [
      pem(v, 'RSA PRIVATE KEY'),
      pem(v, 'PRIVATE KEY'),
      pem(v, 'EC PRIVATE KEY'),
      pem(v, 'RSA PRIVATE KEY'),
    ] as const
    return [
      sample(bash('cat certs/server.key', a), ...bodyLines(a)),
      sample(bash('cat sa.json', JSON.stringify({ type: 'x', material: b })), ...bodyLines(b)),
      sample(write('deploy/key.txt', c), ...bodyLines(c)),
      sample(read('values.yaml', `tls:\n  key: |\n${d.replace(/^/gm, '    ')}\n  port: 1\n`), ...bodyLines(d)),
    ]
  },
  'putty key': (v) => {
    const body = Array.from({ length: 4 }, () => v.base64(64))
    const ppk = `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me@host\nPublic-Lines: 1\n${v.base64(64)}\nPrivate-Lines: 4\n${body.join('\n')}\nPrivate-MAC: ${v.hex(64)}\n`
    return [
      sample(bash('cat ~/keys/web.ppk', ppk), ...body),
      sample(read('/home/a/web.ppk', ppk), ...body),
      sample(mcp({ file: ppk }), ...body),
    ]
  },
  'authorization header': (v) => {
    const [a, b, c, d] = [v.alphanumeric(32), v.base64(24), v.hex(40), v.alphanumeric(26)] as const
    return [
      sample(bash(`curl -H "Authorization: Bearer ${a}" https://api.example.com`), a),
      sample(bash('curl -v https://x', '', `> GET / HTTP/1.1\n> Authorization: Basic ${b}\n> Accept: */*`), b),
      sample(read('client.py', `headers = {"Authorization": "token ${c}", "Accept": "x"}`), c),
      sample(bash('http :8000', `{"headers": {"authorization": "ApiKey ${d}"}}`), d),
    ]
  },
  'cookie header': (v) => {
    const [a, b, c, d] = [v.hex(32), v.alphanumeric(40), v.urlSafe(30), v.lower(26)] as const
    return [
      sample(bash(`curl -H 'Cookie: sessionid=${a}; theme=dark' https://x.org`), a),
      sample(
        bash(
          'curl -sv https://x.org',
          '',
          `< HTTP/1.1 200 OK\n< Set-Cookie: sid=${b}; Path=/; HttpOnly\n< Content-Type: text/html`,
        ),
        b,
      ),
      sample(mcp({ headers: { cookie: `connect.sid=s%3A${c}; lang=en` } }), c),
      sample(bash(`curl -b "PHPSESSID=${d}" https://x.org/admin`), d),
    ]
  },
  'password in a url': (v) => {
    const [a, b, c, d] = [v.password().replace(/[#]/g, ''), v.word(), v.alphanumeric(20), v.hex(16)] as const
    return [
      sample(bash(`psql postgres://app:${a}@db.internal:5432/app -c 'select 1'`), a),
      sample(
        read(
          'docker-compose.yml',
          `services:\n  web:\n    environment:\n      REDIS_URL: redis://:${b}@cache:6379/0\n`,
        ),
        b,
      ),
      sample(bash('git remote -v', `origin\thttps://ci-bot:${c}@git.example.com/team/app.git (fetch)`), c),
      sample(
        bash('node app.js', '', `Error: connect ECONNREFUSED amqp://guest:${d}@mq:5672/%2f\n    at Connection`),
        d,
      ),
    ]
  },
  'connection string': (v) => {
    const [a, b, c, d] = [v.password(), v.word(), v.alphanumeric(12), v.password()] as const
    return [
      sample(
        read(
          'appsettings.json',
          `{"ConnectionStrings": {"Default": "Server=db;Database=app;User Id=sa;Password=${a};TrustServerCertificate=True"}}`,
        ),
        a,
      ),
      sample(
        bash('grep -r Server= .', `./web.config:    <add name="db" connectionString="Server=.;Uid=root;Pwd=${b};" />`),
        b,
      ),
      sample(edit('db.py', 'x', `conn = pyodbc.connect("DRIVER={x};SERVER=db;UID=sa;PWD=${c}")`), c),
      sample(read('db.go', `dsn := "host=localhost user=app password=${d} dbname=app port=5432"`), d),
    ]
  },
  '.env read': (v) => {
    const [a, b, c, d] = [v.word(), v.digits(9), v.alphanumeric(20), v.lower(12)] as const
    return [
      sample(read('/srv/app/.env', `HOST=example.org\nSMTP_LOGIN=${a}\nACCOUNT=${b}\n`), a, b),
      sample(edit('.env.production', 'A=1', `UPSTREAM=${c}\nB=2`), c),
      sample(write('/srv/.env.local', `# local\nUPSTREAM='${d}'\n`), d),
    ]
  },
  '.env through a shell': (v) => {
    const [a, b, c, d, e, f] = [
      v.word(),
      v.digits(9),
      v.alphanumeric(20),
      v.lower(12),
      v.word(),
      v.alphanumeric(18),
    ] as const
    return [
      sample(bash('cat .env', `UPSTREAM=${a}\nexport ACCOUNT=${b}\n`), a, b),
      sample(bash('grep -n STREAM .env', `3:UPSTREAM=${c}\n`), c),
      sample(
        bash('grep -rn UPSTREAM . --include=".env*"', `./.env:3:UPSTREAM=${d}\n./.env.local:9:UPSTREAM=${e}`),
        d,
        e,
      ),
      sample(grep('UPSTREAM', `.env:3:UPSTREAM=${f}\nsrc/a.ts:9:UPSTREAM`), f),
    ]
  },
  '.env in a diff': (v) => {
    const [a, b, c] = [v.word(), v.alphanumeric(20), v.lower(12)] as const
    return [
      sample(
        bash(
          'git diff',
          `diff --git a/.env b/.env\nindex 1..2 100644\n--- a/.env\n+++ b/.env\n@@ -1,2 +1,2 @@\n HOST=x\n-UPSTREAM=${a}\n+UPSTREAM=${b}\n`,
        ),
        a,
        b,
      ),
      sample(
        bash(
          'git show HEAD~1',
          `commit 12\n\ndiff --git a/src/.env.production b/src/.env.production\nnew file mode 100644\n--- /dev/null\n+++ b/src/.env.production\n@@ -0,0 +1 @@\n+UPSTREAM=${c}\n`,
        ),
        c,
      ),
    ]
  },
  netrc: (v) => {
    const [a, b, c, d] = [v.password(), v.alphanumeric(24), v.word(), v.alphanumeric(16)] as const
    return [
      sample(bash('cat ~/.netrc', `machine api.example.com\n  login ci\n  password ${a}\n`), a),
      sample(read('/home/dev/.netrc', `machine git.example.com login ci password ${b}\n`), b),
      sample(write('/root/.netrc', `default login me password ${c}`), c),
      sample(bash(`echo "machine x.org login me password ${d}" >> ~/.netrc`), d),
    ]
  },
  pgpass: (v) => {
    const [a, b, c] = [v.password(), v.word(), v.alphanumeric(14)] as const
    return [
      sample(bash('cat ~/.pgpass', `db.internal:5432:app:admin:${a}\n`), a),
      sample(read('/home/dev/.pgpass', `*:*:*:postgres:${b}`), b),
      sample(bash(`echo "localhost:5432:app:me:${c}" > ~/.pgpass && chmod 600 ~/.pgpass`), c),
    ]
  },
  'docker config': (v) => {
    const [a, b, c] = [v.base64(28), v.base64(32), v.base64(24)] as const
    return [
      sample(bash('cat ~/.docker/config.json', `{"auths": {"https://index.docker.io/v1/": {"auth": "${a}"}}}`), a),
      sample(
        read('/root/.docker/config.json', `{\n  "auths": {\n    "ghcr.io": {\n      "auth": "${b}"\n    }\n  }\n}`),
        b,
      ),
      sample(
        bash(
          'kubectl get secret regcred -o json | jq .data',
          `{"auths":{"registry.example.com":{"username":"ci","auth":"${c}"}}}`,
        ),
        c,
      ),
    ]
  },
  kubeconfig: (v) => {
    const [a, b, c, d] = [v.base64(600), v.alphanumeric(64), v.password(), v.base64(500)] as const
    return [
      sample(
        bash(
          'kubectl config view --raw',
          `users:\n- name: admin\n  user:\n    client-certificate-data: ${d}\n    client-key-data: ${a}\n`,
        ),
        a,
      ),
      sample(read('/home/dev/.kube/config', `users:\n- name: ci\n  user:\n    token: ${b}\n`), b),
      sample(bash('cat kubeconfig.yaml', `users:\n- name: x\n  user:\n    username: admin\n    password: ${c}\n`), c),
    ]
  },
  'xml element': (v) => {
    const [a, b, c, d] = [v.password().replace(/[<&]/g, ''), v.word(), v.alphanumeric(16), v.word()] as const
    return [
      sample(read('config.xml', `<db>\n  <user>sa</user>\n  <password>${a}</password>\n</db>`), a),
      sample(bash('cat web.xml', `<param><api-key>${b}</api-key></param>`), b),
      sample(read('App.config', `<appSettings>\n  <add key="ApiKey" value="${c}" />\n</appSettings>`), c),
      sample(read('beans.xml', `<property name="password" value="${d}"/>`), d),
    ]
  },
  'php define': (v) => {
    const [a, b, c] = [
      v.password().replace("'", ''),
      v.from('abcdefgh!@#%^&*()_+-={}|:<>?,./0123456789', 60),
      v.word(),
    ] as const
    return [
      sample(
        read(
          'wp-config.php',
          `define( 'DB_NAME', 'wp' );\ndefine( 'DB_PASSWORD', '${a}' );\ndefine('AUTH_KEY', '${b}');`,
        ),
        a,
        b,
      ),
      sample(edit('config.php', 'x', `define("SMTP_PASS", "${c}");`), c),
      sample(read('database.php', `return ['host' => 'db', 'password' => '${c}'];`), c),
    ]
  },
  'json number': (v) => {
    const [a, b, c, d] = [v.digits(8), v.digits(6), v.digits(10), v.digits(6)] as const
    return [
      sample(mcp({ user: 'me', password: Number(a) }), a),
      sample({ type: 'tool', input: { login: 'me', password: Number(b) }, response: 'ok' }, b),
      sample(read('a.json', `{"auth": {"user": "a", "secret": ${c}}}`), c),
      sample({ type: 'tool', input: { settings: { passcode: Number(d), retries: 3 } }, response: {} }, d),
    ]
  },
  'plural names': (v) => {
    const [a, b, c, d, e] = [v.alphanumeric(20), v.alphanumeric(20), v.hex(32), v.word(), v.alphanumeric(30)] as const
    return [
      sample(read('config.json', `{"tokens": ["${a}", "${b}"], "retries": 3}`), a, b),
      sample({ type: 'tool', input: { api_keys: [c], count: 2 }, response: null }, c),
      sample(read('users.yaml', `passwords:\n  - ${d}\n  - ${c}\nport: 80\n`), d, c),
      sample(read('c.py', `ACCESS_TOKENS = ["${e}"]`), e),
    ]
  },
  'short names': (v) => {
    const [a, b, c, d] = [v.password(), v.word(), v.password(), v.word()] as const
    return [
      sample(read('settings.ini', `[mail]\nuser = me\npass = ${a}\n`), a),
      sample(bash(`DB_PW=${b} ./migrate.sh`), b),
      sample(read('mailer.js', `auth: { user: 'me', pass: '${c}' }`), c),
      sample(read('site.yml', `ftp:\n  user: me\n  pw: ${d}\n`), d),
    ]
  },
  'curl user': (v) => {
    const [a, b, c] = [v.password(), v.word(), v.alphanumeric(20)] as const
    return [
      sample(bash(`curl -u admin:${a} https://ci.example.com/job/x/build`), a),
      sample(bash(`curl --user "me:${b}" -X POST https://x.org`), b),
      sample(bash(`curl -s -uapi:${c} https://x.org/api`), c),
      sample(bash(`wget --user=me --password=${b} https://x.org/a.zip`), b),
    ]
  },
  'attached password flag': (v) => {
    const [a, b, c] = [v.password().replace(/[!$*#]/g, 'x'), v.word(), v.alphanumeric(12)] as const
    return [
      sample(bash(`mysql -h db -u root -p${a} app < dump.sql`), a),
      sample(bash(`mysqldump --single-transaction -uroot -p'${b}' app > a.sql`), b),
      sample(bash(`mysqladmin -u root -p"${c}" status`), c),
    ]
  },
  sshpass: (v) => {
    const [a, b, c] = [v.password(), v.word(), v.alphanumeric(12)] as const
    return [
      sample(bash(`sshpass -p '${a}' ssh root@10.0.0.5 uptime`), a),
      sample(bash(`sshpass -p ${b} rsync -a dist/ me@x:/srv`), b),
      sample(read('deploy.sh', `#!/bin/sh\nsshpass -p"${c}" scp app.tar root@host:/srv\n`), c),
    ]
  },
  'plain word in yaml': (v) => {
    const [a, b, c, d] = [v.word(), v.word(), v.word(), v.word()] as const
    return [
      sample(read('config.yml', `database:\n  user: app\n  password: ${a}\n  port: 5432\n`), a),
      sample(
        read('application.yml', `spring:\n  datasource:\n    password: Text${b.toLowerCase()}\n`),
        `Text${b.toLowerCase()}`,
      ),
      sample(edit('values.yaml', 'password: old', `adminPassword: ${c}`), c),
      sample(read('compose.yml', `environment:\n  POSTGRES_PASSWORD: ${d}\n`), d),
    ]
  },
  'name and value': (v) => {
    const [a, b, c] = [v.word(), v.alphanumeric(20), v.password()] as const
    return [
      sample(
        read('deployment.yaml', `env:\n  - name: DB_PASSWORD\n    value: ${a}\n  - name: PORT\n    value: "80"\n`),
        a,
      ),
      sample(
        bash(
          'aws ecs describe-task-definition',
          `{"environment": [{"name": "API_TOKEN", "value": "${b}"}, {"name": "PORT", "value": "80"}]}`,
        ),
        b,
      ),
      sample({ type: 'tool', input: { variables: [{ key: 'SMTP_PASSWORD', value: c }] }, response: 'ok' }, c),
    ]
  },
  'password in code': (v) => {
    const [a, b, c, d, e] = [v.word(), v.password(), v.word(), v.alphanumeric(20), v.password()] as const
    return [
      sample(read('a.js', `const dbPassword = '${a}'`), a),
      sample(edit('login.spec.ts', 'x', `await page.fill('#password', '${b}')`), b),
      sample(read('a.go', `cfg := Config{User: "a", Password: "${c}"}`), c),
      sample(read('conf.py', `os.environ["SERVICE_TOKEN"] = "${d}"`), d),
      sample(read('a.rb', `config.password = "${e}"`), e),
    ]
  },
}
