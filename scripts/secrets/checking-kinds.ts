/**
 * The half of the corpus that checks the rules: its kinds were written before the rules were run on them, and no rule is
 * changed because of one of its samples.
 */
import { bash, edit, mcp, prompt, read, type SecretKind, type SecretValues, sample, unnamed, write } from './samples.ts'

const armored = (v: SecretValues, type: string, lines = 8): { text: string; body: string[] } => {
  const body = Array.from({ length: lines }, () => v.base64(64))
  return { text: `-----BEGIN ${type}-----\n${body.join('\n')}\n-----END ${type}-----`, body }
}

const FORMATS: Record<string, SecretKind> = {
  'google oauth client secret': (v) => unnamed(v, () => `GOCSPX-${v.urlSafe(28)}`, 3),
  'azure client secret': (v) => unnamed(v, () => `${v.alphanumeric(3)}8Q~${v.urlSafe(34)}`, 3),
  'shopify token': (v) => unnamed(v, () => `${v.pick(['shpat', 'shpss', 'shpca'])}_${v.hex(32)}`, 3),
  'square token': (v) => unnamed(v, () => `sq0atp-${v.urlSafe(22)}`, 3),
  'sendgrid key': (v) => unnamed(v, () => `SG.${v.urlSafe(22)}.${v.urlSafe(43)}`, 3),
  'mailgun key': (v) => unnamed(v, () => `key-${v.hex(32)}`, 3),
  'hugging face token': (v) => unnamed(v, () => `hf_${v.alphanumeric(34)}`, 3),
  'replicate token': (v) => unnamed(v, () => `r8_${v.alphanumeric(37)}`, 3),
  'xai key': (v) => unnamed(v, () => `xai-${v.alphanumeric(80)}`, 3),
  'grafana token': (v) => unnamed(v, () => `glsa_${v.alphanumeric(32)}_${v.hex(8)}`, 3),
  'new relic key': (v) => unnamed(v, () => `NRAK-${v.upper(27)}`, 3),
  'sentry token': (v) => unnamed(v, () => `sntrys_eyJ${v.base64(100)}_${v.base64(43)}`, 3),
  'postman key': (v) => unnamed(v, () => `PMAK-${v.hex(24)}-${v.hex(34)}`, 3),
  'planetscale password': (v) => unnamed(v, () => `pscale_pw_${v.urlSafe(43)}`, 3),
  'databricks token': (v) => unnamed(v, () => `dapi${v.hex(32)}`, 3),
  'doppler token': (v) => unnamed(v, () => `dp.st.prd.${v.alphanumeric(40)}`, 3),
  'figma token': (v) => unnamed(v, () => `figd_${v.urlSafe(40)}`, 3),
  'atlassian token': (v) => unnamed(v, () => `ATATT3xFfGF0${v.urlSafe(170)}=${v.upper(8)}`, 3),
  'airtable token': (v) => unnamed(v, () => `pat${v.alphanumeric(14)}.${v.hex(64)}`, 3),
  'tailscale key': (v) => unnamed(v, () => `tskey-auth-k${v.alphanumeric(10)}CNTRL-${v.alphanumeric(32)}`, 3),
  'netlify token': (v) => unnamed(v, () => `nfp_${v.alphanumeric(36)}`, 3),
  'circleci token': (v) => unnamed(v, () => `CCIPAT_${v.alphanumeric(22)}_${v.hex(40)}`, 3),
  'rubygems key': (v) => unnamed(v, () => `rubygems_${v.hex(48)}`, 3),
  'pulumi token': (v) => unnamed(v, () => `pul-${v.hex(40)}`, 3),
  'terraform cloud token': (v) => unnamed(v, () => `${v.alphanumeric(14)}.atlasv1.${v.urlSafe(67)}`, 3),
  'twilio key': (v) => unnamed(v, () => `SK${v.hex(32)}`, 3),
  'openrouter key': (v) => unnamed(v, () => `sk-or-v1-${v.hex(64)}`, 3),
  'sonar token': (v) => unnamed(v, () => `sqp_${v.hex(40)}`, 3),
  'slack webhook': (v) =>
    unnamed(
      v,
      () => `https://hooks.slack.com/services/T${v.upper(8)}/B${v.upper(10)}/${v.alphanumeric(24)}`,
      3,
      (url) => url.slice(-24),
    ),
  'discord webhook': (v) =>
    unnamed(
      v,
      () => `https://discord.com/api/webhooks/${v.digits(18)}/${v.urlSafe(68)}`,
      3,
      (url) => url.slice(-68),
    ),
}

const KEYS: Record<string, SecretKind> = {
  'openssh key': (v) => {
    const [a, b, c] = [1, 2, 3].map(() => armored(v, 'OPENSSH PRIVATE KEY')) as [
      ReturnType<typeof armored>,
      ReturnType<typeof armored>,
      ReturnType<typeof armored>,
    ]
    return [
      sample(bash('cat ~/.ssh/id_ed25519', a.text), ...a.body),
      sample(bash(`cat > key <<'EOF'\n${b.text}\nEOF`), ...b.body),
      sample(bash('head -5 ~/.ssh/id_rsa', c.text.split('\n').slice(0, 5).join('\n')), ...c.body.slice(0, 4)),
    ]
  },
  'pgp key': (v) => {
    const { text, body } = armored(v, 'PGP PRIVATE KEY BLOCK')
    return [sample(bash('gpg --export-secret-keys -a me', text), ...body), sample(mcp({ attachment: text }), ...body)]
  },
  'service account file': (v) => {
    const { text, body } = armored(v, 'PRIVATE KEY')
    const json = JSON.stringify({ type: 'service_account', private_key_id: v.hex(40), private_key: text }, null, 2)
    return [sample(read('/srv/gcp-sa.json', json), ...body), sample(bash('cat sa.json | jq .', json), ...body)]
  },
  'private jwk': (v) => {
    const [a, b] = [v.urlSafe(43), v.urlSafe(342)] as const
    return [
      sample(
        read('jwk.json', `{"kty":"EC","crv":"P-256","x":"${v.urlSafe(43)}","y":"${v.urlSafe(43)}","d":"${a}"}`),
        a,
      ),
      sample(
        bash('cat jwks.json', `{\n  "kty": "RSA",\n  "n": "${v.urlSafe(342)}",\n  "e": "AQAB",\n  "d": "${b}"\n}`),
        b,
      ),
    ]
  },
  wireguard: (v) => {
    const [a, b] = [`${v.base64(43)}=`, `${v.base64(43)}=`] as const
    return [
      sample(bash('sudo cat /etc/wireguard/wg0.conf', `[Interface]\nAddress = 10.0.0.2/24\nPrivateKey = ${a}\n`), a),
      sample(read('wg1.conf', `[Peer]\nPublicKey = ${v.base64(43)}=\nPresharedKey = ${b}\n`), b),
    ]
  },
}

const FILES: Record<string, SecretKind> = {
  npmrc: (v) => {
    const [a, b, c] = [v.uuid(), v.base64(24), v.alphanumeric(30)] as const
    return [
      sample(bash('cat ~/.npmrc', `registry=https://npm.example.com/\n//npm.example.com/:_authToken=${a}\n`), a),
      sample(read('/home/dev/.npmrc', `//npm.example.com/:_password=${b}\n//npm.example.com/:username=ci\n`), b),
      sample(bash(`npm config set //npm.example.com/:_authToken ${c}`), c),
    ]
  },
  pypirc: (v) => {
    const [a, b] = [v.password(), v.word()] as const
    return [
      sample(bash('cat ~/.pypirc', `[pypi]\nusername = me\npassword = ${a}\n`), a),
      sample(read('/root/.pypirc', `[testpypi]\nusername: me\npassword: ${b}\n`), b),
    ]
  },
  'aws credentials file': (v) => {
    const [a, b, c] = [v.base64(40), v.base64(300), v.base64(40)] as const
    return [
      sample(
        bash(
          'cat ~/.aws/credentials',
          `[default]\naws_access_key_id = AKIA${v.upper(16)}\naws_secret_access_key = ${a}\naws_session_token = ${b}\n`,
        ),
        a,
        b,
      ),
      sample(bash(`aws configure set aws_secret_access_key ${c}`), c),
    ]
  },
  'aws sts output': (v) => {
    const [a, b] = [v.base64(40), v.base64(400)] as const
    return [
      sample(
        bash(
          'aws sts get-session-token',
          `{\n  "Credentials": {\n    "AccessKeyId": "ASIA${v.upper(16)}",\n    "SecretAccessKey": "${a}",\n    "SessionToken": "${b}"\n  }\n}`,
        ),
        a,
        b,
      ),
      sample(
        bash('aws sts assume-role --output text', `CREDENTIALS\tASIA${v.upper(16)}\t2026-01-01T00:00:00Z\t${a}\t${b}`),
        a,
      ),
    ]
  },
  'gcloud credentials': (v) => {
    const [a, b] = [`1//0g${v.urlSafe(100)}`, v.urlSafe(24)] as const
    return [
      sample(
        read(
          '/home/dev/.config/gcloud/application_default_credentials.json',
          `{"client_id": "x.apps.googleusercontent.com", "client_secret": "${b}", "refresh_token": "${a}", "type": "authorized_user"}`,
        ),
        a,
        b,
      ),
      sample(
        bash(
          'cat ~/.config/gcloud/application_default_credentials.json',
          `{\n  "client_secret": "${b}",\n  "refresh_token": "${a}"\n}`,
        ),
        a,
        b,
      ),
    ]
  },
  'terraform variables': (v) => {
    const [a, b, c] = [v.word(), v.alphanumeric(20), v.password()] as const
    return [
      sample(read('infra/terraform.tfvars', `region = "eu"\ndb_master = "${a}"\n`), a),
      sample(bash('cat prod.auto.tfvars', `upstream = "${b}"\n`), b),
      sample(edit('terraform.tfvars', 'admin = "x"', `admin_login = "${c}"`), c),
    ]
  },
  'terraform state': (v) => {
    const [a, b] = [v.alphanumeric(16), v.password()] as const
    return [
      sample(
        bash(
          'cat terraform.tfstate',
          `{"resources": [{"type": "random_password", "instances": [{"attributes": {"length": 16, "result": "${a}"}}]}]}`,
        ),
        a,
      ),
      sample(bash('terraform state pull', `{"attributes": {"engine": "postgres", "password": "${b}"}}`), b),
    ]
  },
  'maven settings': (v) => {
    const [a, b] = [v.password().replace(/[&<]/g, ''), v.word()] as const
    return [
      sample(
        read(
          '/root/.m2/settings.xml',
          `<servers><server><id>x</id><username>ci</username><password>${a}</password></server></servers>`,
        ),
        a,
      ),
      sample(bash('cat nexus.xml', `<server>\n  <passphrase>${b}</passphrase>\n</server>`), b),
    ]
  },
  'mysql option file': (v) => {
    const [a, b] = [v.word(), v.password()] as const
    return [
      sample(bash('cat ~/.my.cnf', `[client]\nuser=root\npassword=${a}\n`), a),
      sample(read('/root/.my.cnf', `[client]\npassword="${b}"\n`), b),
    ]
  },
  'kubernetes secret': (v) => {
    const [a, b, c] = [v.base64(20), v.base64(24), v.word()] as const
    return [
      sample(
        read(
          'secret.yaml',
          `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  username: ${v.base64(8)}\n  pg: ${a}\n`,
        ),
        a,
      ),
      sample(
        bash(
          'kubectl get secret db -o yaml',
          `apiVersion: v1\ndata:\n  upstream: ${b}\nkind: Secret\nmetadata:\n  name: db\n`,
        ),
        b,
      ),
      sample(
        write('k8s/secret.yaml', `apiVersion: v1\nkind: Secret\nmetadata:\n  name: mail\nstringData:\n  login: ${c}\n`),
        c,
      ),
    ]
  },
  'rails database.yml': (v) => {
    const [a, b] = [v.word(), v.hex(128)] as const
    return [
      sample(read('config/database.yml', `production:\n  adapter: postgresql\n  username: app\n  password: ${a}\n`), a),
      sample(read('config/secrets.yml', `production:\n  secret_key_base: ${b}\n`), b),
    ]
  },
  'redis.conf': (v) => {
    const [a, b] = [v.word(), v.alphanumeric(20)] as const
    return [
      sample(bash('grep -v "^#" redis.conf', `port 6379\nrequirepass ${a}\nappendonly yes\n`), a),
      sample(edit('redis.conf', '# masterauth x', `masterauth ${b}`), b),
    ]
  },
}

const COMMANDS: Record<string, SecretKind> = {
  'redis-cli': (v) => {
    const [a, b] = [v.word(), v.alphanumeric(16)] as const
    return [sample(bash(`redis-cli -h cache -a ${a} ping`, 'PONG'), a), sample(bash(`redis-cli -a '${b}' --scan`), b)]
  },
  'docker login': (v) => {
    const [a, b, c] = [v.password(), v.alphanumeric(20), v.word()] as const
    return [
      sample(bash(`docker login -u ci -p '${a}' registry.example.com`), a),
      sample(bash(`echo "${b}" | docker login ghcr.io -u ci --password-stdin`, 'Login Succeeded'), b),
      sample(bash(`docker login --username ci --password ${c}1 ghcr.io`), c),
    ]
  },
  openssl: (v) => {
    const [a, b] = [v.word(), v.alphanumeric(14)] as const
    return [
      sample(bash(`openssl pkcs12 -in a.p12 -out a.pem -passin pass:${a} -nodes`), a),
      sample(bash(`openssl enc -aes-256-cbc -k ${b} -in a -out b`), b),
    ]
  },
  keytool: (v) => {
    const [a, b] = [v.word(), v.word()] as const
    return [
      sample(bash(`keytool -genkey -keystore release.jks -storepass ${a} -keypass ${b}x`), a, `${b}x`),
      sample(read('gradle.properties', `storePassword=${a}\nkeyPassword=${b}\n`), a, b),
    ]
  },
  'sql user': (v) => {
    const [a, b, c] = [v.word(), v.password(), v.word()] as const
    return [
      sample(bash(`psql -c "CREATE ROLE app LOGIN PASSWORD '${a}'"`), a),
      sample(read('init.sql', `CREATE USER 'app'@'%' IDENTIFIED BY '${b}';\nGRANT ALL ON app.* TO 'app'@'%';`), b),
      sample(bash(`psql -c "ALTER USER app WITH ENCRYPTED PASSWORD '${c}';"`), c),
    ]
  },
  'vault output': (v) => {
    const [a, b] = [v.word(), v.alphanumeric(20)] as const
    return [
      sample(
        bash(
          'vault kv get secret/db',
          `====== Data ======\nKey         Value\n---         -----\npassword    ${a}\nusername    app\n`,
        ),
        a,
      ),
      sample(bash('vault kv get -format=json secret/db', `{"data": {"data": {"password": "${b}"}}}`), b),
    ]
  },
  kubectl: (v) => {
    const [a, b] = [v.word(), v.alphanumeric(20)] as const
    return [
      sample(bash(`kubectl create secret generic db --from-literal=password=${a} --from-literal=user=app`), a),
      sample(
        bash(`kubectl create secret docker-registry r --docker-server=x --docker-username=ci --docker-password=${b}`),
        b,
      ),
    ]
  },
  'gh secret': (v) => {
    const [a, b] = [v.alphanumeric(24), v.password()] as const
    return [
      sample(bash(`gh secret set DEPLOY_TOKEN --body "${a}"`), a),
      sample(bash(`heroku config:set SMTP_PASSWORD='${b}' -a app`, `SMTP_PASSWORD: ${b}`), b),
    ]
  },
  ldap: (v) => {
    const [a, b] = [v.word(), v.password()] as const
    return [
      sample(bash(`ldapsearch -x -D "cn=admin,dc=x" -w ${a} -b dc=x`), a),
      sample(read('ldap.conf', `binddn cn=admin,dc=x\nbindpw ${b}\n`), b),
    ]
  },
  mongo: (v) => {
    const [a, b] = [v.word(), v.alphanumeric(16)] as const
    return [
      sample(bash(`mongosh --host db -u root -p ${a} --authenticationDatabase admin`), a),
      sample(bash(`mongodump --uri="mongodb+srv://app:${b}@cluster0.x.mongodb.net/app"`), b),
    ]
  },
}

const PLACES: Record<string, SecretKind> = {
  'set-cookie in json': (v) => {
    const [a, b] = [v.alphanumeric(40), v.hex(40)] as const
    return [
      sample(mcp({ status: 200, headers: { 'set-cookie': [`session=${a}; Path=/; Secure`], server: 'x' } }), a),
      sample(bash('python get.py', `{'Set-Cookie': 'csrftoken=${b}; expires=Fri, 01 Jan 2027'}`), b),
    ]
  },
  'proxy authorization': (v) => {
    const [a, b] = [v.base64(28), v.alphanumeric(32)] as const
    return [
      sample(
        bash('curl -v -x proxy:8080 https://x.org', '', `> CONNECT x.org:443\n> Proxy-Authorization: Basic ${a}`),
        a,
      ),
      sample(bash(`curl -H "X-Auth-Token: ${b}" https://x.org`), b),
    ]
  },
  'other headers': (v) => {
    const [a, b, c] = [v.alphanumeric(32), v.uuid(), v.alphanumeric(26)] as const
    return [
      sample(bash(`curl -H 'X-API-Key: ${a}' https://x.org`), a),
      sample(bash(`curl --header "PRIVATE-TOKEN: ${b}" https://git.example.com/api/v4/projects`), b),
      sample(read('client.ts', `headers: { 'X-Vault-Token': '${c}', accept: 'x' }`), c),
    ]
  },
  'azure storage': (v) => {
    const [a, b, c] = [`${v.base64(86)}==`, `${v.base64(43)}%3D`, `${v.base64(43)}=`] as const
    return [
      sample(
        read(
          'local.settings.json',
          `{"Values": {"Storage": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${a};EndpointSuffix=core.windows.net"}}`,
        ),
        a,
      ),
      sample(
        bash('az storage blob url', `https://x.blob.core.windows.net/c/b?sv=2022-11-02&sp=r&se=2026-01-01&sig=${b}`),
        b,
      ),
      sample(prompt(`Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=${c}`), c),
    ]
  },
  'jdbc url': (v) => {
    const [a, b] = [v.word(), v.alphanumeric(16)] as const
    return [
      sample(read('a.properties', `url=jdbc:postgresql://db/app?user=app&password=${a}&ssl=true`), a),
      sample(read('b.properties', `spring.datasource.password=${b}\nspring.datasource.username=app`), b),
    ]
  },
  'token in a query': (v) => {
    const [a, b] = [v.alphanumeric(32), v.hex(32)] as const
    return [
      sample(bash(`curl "https://x.org/v1/items?page=2&api_key=${a}"`), a),
      sample(bash('tail access.log', `10.0.0.9 - - "GET /feed?token=${b} HTTP/1.1" 200 512`), b),
    ]
  },
  'toml and hcl': (v) => {
    const [a, b, c] = [v.word(), v.alphanumeric(24), v.password()] as const
    return [
      sample(read('config.toml', `[database]\nuser = "app"\npassword = "${a}"\n`), a),
      sample(read('main.tf', `resource "aws_db_instance" "x" {\n  username = "app"\n  password = "${c}"\n}`), c),
      sample(edit('secrets.toml', 'x', `auth_token = '${b}'`), b),
    ]
  },
  'compose and docker': (v) => {
    const [a, b, c] = [v.word(), v.password(), v.alphanumeric(20)] as const
    return [
      sample(read('docker-compose.yml', `    environment:\n      - MYSQL_ROOT_PASSWORD=${a}\n      - TZ=UTC\n`), a),
      sample(bash(`docker run -d -e POSTGRES_PASSWORD=${b} -p 5432:5432 postgres`), b),
      sample(bash('docker inspect db', `"Env": [\n  "MINIO_ROOT_PASSWORD=${c}",\n  "PATH=/bin"\n]`), c),
    ]
  },
  'printed environment': (v) => {
    const [a, b, c] = [v.word(), v.hex(32), v.alphanumeric(20)] as const
    return [
      sample(bash('env | sort', `HOME=/root\nJENKINS_PASSWORD=${a}\nLANG=C\nSESSION_SECRET=${b}\n`), a, b),
      sample(bash('set', `declare -x NPM_TOKEN="${c}"`), c),
    ]
  },
  'ci log': (v) => {
    const [a, b] = [v.alphanumeric(24), v.password()] as const
    return [
      sample(bash('gh run view --log', `build\tRun deploy\t2026-01-01T00:00:00.0Z   DEPLOY_TOKEN: ${a}\n`), a),
      sample(bash('cat build.log', `[12:00:01] + export FTP_PASSWORD=${b}\n[12:00:02] + make deploy\n`), b),
    ]
  },
  'ansible variables': (v) => {
    const [a, b] = [v.word(), v.password()] as const
    return [
      sample(read('group_vars/all.yml', `ansible_user: deploy\nansible_become_pass: ${a}\n`), a),
      sample(read('hosts.ini', `web1 ansible_host=10.0.0.1 ansible_ssh_pass=${b}\n`), b),
    ]
  },
  'password in prose': (v) => {
    const [a, b, c] = [v.alphanumeric(10), v.password(), v.password()] as const
    return [
      sample(prompt(`log in as admin, the password is ${a}`), a),
      sample(bash('./create-user.sh', `User created. Temporary password: ${b}\n`), b),
      sample(prompt(`user me@example.com, pw: ${c}`), c),
    ]
  },
  'framework keys': (v) => {
    const [a, b, c] = [`base64:${v.base64(43)}=`, v.from('abcdefgh!@#%^&*(0123456789', 50), v.hex(64)] as const
    return [
      sample(bash('php artisan key:generate --show', `APP_KEY=${a}`), a),
      sample(read('settings.py', `DEBUG = True\nSECRET_KEY = 'django-insecure-${b}'\n`), b),
      sample(bash('openssl rand -hex 32 | tee -a conf', `NEXTAUTH_SECRET=${c}`), c),
    ]
  },
  'json in json': (v) => {
    const [a, b] = [v.word(), v.alphanumeric(24)] as const
    return [
      sample(mcp({ body: JSON.stringify({ user: 'a', password: a }) }), a),
      sample(bash('kubectl logs x', `{"level":"debug","msg":"config {\\"clientSecret\\":\\"${b}\\"}"}`), b),
    ]
  },
  'request body': (v) => {
    const [a, b, c] = [v.word(), v.password().replace(/[&#!$*]/g, ''), v.alphanumeric(40)] as const
    return [
      sample(bash(`curl -X POST https://x.org/login -d 'username=me&password=${a}'`), a),
      sample(
        bash(
          `curl -X POST https://x.org/login -H 'content-type: application/json' -d '{"user":"me","password":"${b}"}'`,
        ),
        b,
      ),
      sample(bash(`curl https://x.org/oauth/token -d grant_type=refresh_token -d refresh_token=${c}`), c),
    ]
  },
}

export const CHECKING_KINDS: Record<string, SecretKind> = { ...FORMATS, ...KEYS, ...FILES, ...COMMANDS, ...PLACES }
