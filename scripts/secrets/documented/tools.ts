/** What command-line tools, package managers and Windows have. */
import { documented } from './format.ts'

export const TOOL_FORMATS = [
  documented(
    'sshpass',
    'SSHPASS and -p',
    'https://man.archlinux.org/man/sshpass.1.en',
    [
      (v, s) => `$ SSHPASS=${s(v.password())} sshpass -e ssh deploy@host uptime`,
      (v, s) => `export SSHPASS='${s(v.signs())}'`,
      (v, s) => `$ sshpass -p${s(v.alphanumeric(12))} scp a root@host:/srv`,
    ],
    [
      () => '$ sshpass -e ssh deploy@host uptime',
      () => '$ sshpass -f ~/.pw ssh deploy@host',
      () => 'export SSHPASS=$(pass show host)',
    ],
  ),
  documented(
    'Microsoft',
    'net use',
    'https://learn.microsoft.com/en-us/previous-versions/windows/it-pro/windows-server-2012-r2-and-2012/gg651155(v=ws.11)',
    [
      (v, s) => `$ net use Z: \\\\fileserver\\share ${s(v.password())} /user:CORP\\ada`,
      (v, s) => `$ net use \\\\nas\\backup /user:backup ${s(v.alphanumeric(14))} /persistent:no`,
      (v, s) => `$ net user deploy ${s(v.password())} /add`,
      (v, s) => `$ cmdkey /add:fileserver /user:ada /pass:${s(v.signs())}`,
      (v, s) => `$ schtasks /create /tn backup /tr b.cmd /sc daily /ru ada /rp ${s(v.alphanumeric(14))}`,
    ],
    [
      () => '$ net use Z: \\\\fileserver\\share /persistent:yes',
      () => '$ net use Z: /delete',
      () => '$ net use Z: \\\\fileserver\\share * /user:CORP\\ada',
      () => '$ net user deploy /active:no',
      () => '$ cmdkey /list',
    ],
  ),
  documented(
    'Microsoft',
    'PowerShell credentials',
    'https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.security/convertto-securestring',
    [
      (v, s) => `$secure = ConvertTo-SecureString "${s(v.signs())}" -AsPlainText -Force`,
      (v, s) => `$s = ConvertTo-SecureString -String '${s(v.word())}' -AsPlainText -Force`,
      (v, s) =>
        `$cred = New-Object PSCredential('ada', (ConvertTo-SecureString '${s(v.signs())}' -AsPlainText -Force))`,
      (v, s) => `$Password = "${s(v.signs())}"`,
      (v, s) => `'${s(v.password())}' | ConvertTo-SecureString -AsPlainText -Force`,
      (v, s) => `[System.Net.NetworkCredential]::new('ada', '${s(v.signs())}')`,
    ],
    [
      () => '$secure = ConvertTo-SecureString $env:DB_PASSWORD -AsPlainText -Force',
      () => '$cred = Get-Credential -UserName ada -Message "Enter your password"',
      () => '$p = Read-Host "Password" -AsSecureString',
      () => '[System.Net.NetworkCredential]::new($user, $password)',
    ],
  ),
  documented(
    'Yarn',
    '.yarnrc.yml',
    'https://yarnpkg.com/configuration/yarnrc#npmAuthIdent',
    [
      (v, s) =>
        `npmRegistries:\n  "https://npm.example.com":\n    npmAlwaysAuth: true\n    npmAuthIdent: "${s(v.base64(24))}"\n`,
      (v, s) => `npmAuthIdent: ci:${s(v.alphanumeric(20))}`,
      (v, s) => `npmAuthToken: ${s(v.uuid())}`,
    ],
    [
      () => `npmAuthToken: "$\{NPM_TOKEN:-}"`,
      () => `npmAuthIdent: "$\{NPM_USER}:$\{NPM_PASSWORD}"`,
      () => 'npmAlwaysAuth: true\nnpmPublishAccess: public',
      () => 'yarnPath: .yarn/releases/yarn-4.1.0.cjs\nnodeLinker: node-modules',
    ],
  ),
  documented(
    'npm',
    'npmrc',
    'https://docs.npmjs.com/cli/configuring-npm/npmrc',
    [
      (v, s) => `//registry.example.com/:_authToken=${s(v.uuid())}`,
      (v, s) => `_auth=${s(v.base64(28))}`,
      (v, s) => `//registry.example.com/:_password="${s(v.base64(20))}"`,
      (v, s) => `$ npm config set //registry.example.com/:_auth ${s(v.base64(32))}`,
    ],
    [
      () => `//registry.example.com/:_authToken=$\{NPM_TOKEN}`,
      () => 'always-auth=true\nregistry=https://registry.example.com/',
      (v) => `"integrity": "sha512-${v.base64(86)}==",\n"node_modules/registry-auth-token": {}`,
    ],
  ),
  documented(
    'PHP',
    'composer auth',
    'https://getcomposer.org/doc/articles/authentication-for-private-packages.md',
    [
      (v, s) => `{"http-basic": {"repo.example.com": {"username": "ci", "password": "${s(v.signs())}"}}}`,
      (v, s) => `$ composer config http-basic.repo.example.com ci ${s(v.alphanumeric(24))}`,
      (v, s) => `{"bearer": {"repo.example.com": "${s(v.alphanumeric(40))}"}}`,
      (v, s) => `{"github-oauth": {"github.com": "${s(`ghp_${v.alphanumeric(36)}`)}"}}`,
    ],
    [
      () => '{"config": {"sort-packages": true, "allow-plugins": {"php-http/discovery": true}}}',
      (v) => `"content-hash": "${v.hex(32)}"`,
      () => '$ composer config repositories.private composer https://repo.example.com',
    ],
  ),
  documented(
    'NuGet',
    'nuget.config',
    'https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file#packagesourcecredentials',
    [
      (v, s) => `<add key="ClearTextPassword" value="${s(v.alphanumeric(20))}" />`,
      (v, s) => `<add key="Password" value="${s(v.base64(60))}" />`,
      (v, s) => `$ dotnet nuget push a.nupkg --api-key ${s(v.lower(46))} --source https://api.nuget.org/v3/index.json`,
      (v, s) => `<add key="https://api.nuget.org/v3/index.json" value="${s(v.base64(64))}" /> <!-- apikeys -->`,
    ],
    [
      () => '<add key="nuget.org" value="https://api.nuget.org/v3/index.json" />',
      () => '<PackageReference Include="Microsoft.AspNetCore.Authentication.JwtBearer" Version="8.0.1" />',
      () => '<add key="ClearTextPassword" value="%NUGET_PASSWORD%" />',
    ],
  ),
  documented(
    'Python',
    'package indexes',
    'https://pip.pypa.io/en/stable/topics/authentication/',
    [
      (v, s) => `index-url = https://ci:${s(v.alphanumeric(20))}@pypi.example.com/simple`,
      (v, s) => `$ poetry config http-basic.private ci ${s(v.alphanumeric(20))}`,
      (v, s) => `$ twine upload -u ci -p ${s(v.alphanumeric(16))} dist/*`,
      (v, s) => `POETRY_HTTP_BASIC_PRIVATE_PASSWORD=${s(v.signs())}`,
    ],
    [
      () => 'index-url = https://pypi.org/simple',
      () => '$ poetry config http-basic.private --unset',
      (v) => `django==5.0 --hash=sha256:${v.hex(64)}`,
    ],
  ),
  documented(
    'Ruby',
    'bundler credentials',
    'https://bundler.io/man/bundle-config.1.html',
    [
      (v, s) => `$ bundle config set gems.example.com ci:${s(v.alphanumeric(20))}`,
      (v, s) => `BUNDLE_GEMS__EXAMPLE__COM: "ci:${s(v.alphanumeric(20))}"`,
      (v, s) => `:rubygems_api_key: rubygems_${s(v.hex(48))}`,
    ],
    [
      () => 'BUNDLE_PATH: "vendor/bundle"',
      () => '$ bundle config set --local deployment true',
      () => 'BUNDLE_WITHOUT: "development:test"',
    ],
  ),
  documented(
    'JVM',
    'gradle and maven',
    'https://docs.gradle.org/current/userguide/declaring_repositories.html',
    [
      (v, s) => `mavenPassword=${s(v.signs())}`,
      (v, s) => `signing.password=${s(v.signs())}`,
      (v, s) => `credentials {\n    username = "ci"\n    password = "${s(v.signs())}"\n}`,
      (v, s) => `$ ./gradlew publish -PnexusPassword=${s(v.alphanumeric(16))}`,
      (v, s) => `<server><id>x</id><password>${s(v.alphanumeric(16))}</password></server>`,
    ],
    [
      () => 'password = providers.gradleProperty("nexusPassword").get()',
      () => 'credentials(PasswordCredentials::class)',
      () => `<password>$\{env.NEXUS_PASSWORD}</password>`,
      () => 'storePassword keystoreProperties["storePassword"] as String',
    ],
  ),
  documented(
    'Linux',
    'accounts',
    'https://man7.org/linux/man-pages/man8/chpasswd.8.html',
    [
      (v, s) => `$ echo 'root:${s(v.signs())}' | chpasswd`,
      (v, s) => `$ echo "deploy:${s(v.password())}" | sudo chpasswd`,
      (v, s) => `$ echo ${s(v.alphanumeric(14))} | passwd --stdin deploy`,
      (v, s) => `$ echo '${s(v.password())}' | sudo -S systemctl restart app`,
      (v, s) => `root:${s(`$6$${v.alphanumeric(16)}$${v.alphanumeric(86)}`)}:19700:0:99999:7:::`,
    ],
    [
      () => '$ passwd -l deploy\npasswd: password expiry information changed.',
      () => '$ cat /etc/passwd\nroot:x:0:0:root:/root:/bin/bash',
      () => '$ echo "$USER:$PASSWORD" | chpasswd',
      () => 'deploy ALL=(ALL) NOPASSWD: /usr/bin/systemctl',
    ],
  ),
  documented(
    'Linux',
    'Wi-Fi and VPN',
    'https://networkmanager.dev/docs/api/latest/nmcli.html',
    [
      (v, s) => `$ nmcli dev wifi connect Office password ${s(v.alphanumeric(14))}`,
      (v, s) => `network={\n  ssid="Office"\n  psk="${s(v.signs())}"\n}`,
      (v, s) => `PrivateKey = ${s(`${v.base64(43)}=`)}\nAddress = 10.0.0.2/32`,
      (v, s) => `[wifi-security]\nkey-mgmt=wpa-psk\npsk=${s(v.signs())}`,
      (v, s) => `: PSK "${s(v.signs())}"`,
    ],
    [
      () => 'key-mgmt=wpa-psk\nauth-alg=open',
      () => '$ nmcli dev wifi list',
      (v) => `PublicKey = ${v.base64(43)}=\nAllowedIPs = 0.0.0.0/0`,
    ],
  ),
  documented(
    'LDAP',
    'bind and LDIF',
    'https://www.openldap.org/doc/admin26/',
    [
      (v, s) => `$ ldapsearch -x -D cn=admin,dc=example,dc=com -w ${s(v.alphanumeric(14))} -b dc=example,dc=com`,
      (v, s) => `dn: uid=ada,dc=example,dc=com\nuserPassword: ${s(v.password())}`,
      (v, s) => `olcRootPW: ${s(v.alphanumeric(16))}`,
      (v, s) => `bindpw ${s(v.alphanumeric(16))}`,
      (v, s) => `rootpw ${s(v.word())}`,
    ],
    [
      () => '$ ldapsearch -x -W -D cn=admin,dc=example,dc=com',
      () => 'olcAccess: to attrs=userPassword by self write by anonymous auth by * none',
      () => 'objectClass: simpleSecurityObject',
    ],
  ),
  documented(
    'RabbitMQ',
    'rabbitmqctl',
    'https://www.rabbitmq.com/docs/man/rabbitmqctl.8',
    [
      (v, s) => `$ rabbitmqctl add_user app ${s(v.alphanumeric(16))}`,
      (v, s) => `$ rabbitmqctl change_password app '${s(v.signs())}'`,
      (v, s) => `default_pass = ${s(v.signs())}`,
      (v, s) => `amqp://app:${s(v.alphanumeric(14))}@mq:5672/%2f`,
    ],
    [
      () => '$ rabbitmqctl list_users\nuser\ttags\napp\t[]',
      () => "$ rabbitmqctl set_permissions app '.*' '.*' '.*'",
      () => 'default_user = app\nloopback_users = none',
    ],
  ),
  documented(
    'OpenSSL',
    'pass phrases and keys',
    'https://docs.openssl.org/master/man1/openssl-passphrase-options/',
    [
      (v, s) => `$ openssl rsa -in a.pem -out b.pem -passin pass:${s(v.password())}`,
      (v, s) => `$ openssl enc -aes-256-cbc -pass pass:${s(v.alphanumeric(12))} -in a -out b`,
      (v, s) =>
        `$ openssl genrsa 256\n-----BEGIN PRIVATE KEY-----\n${s(v.base64(64))}\n${s(v.base64(40))}\n-----END PRIVATE KEY-----`,
      (v, s) => `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${s(v.base64(64))}\n${s(v.base64(64))}`,
    ],
    [
      () => '$ openssl rsa -in a.pem -passin env:KEY_PASSWORD',
      () => '$ openssl enc -d -pass file:/run/secrets/pw -in a',
      () =>
        "const begin = /-----BEGIN (?:RSA )?PRIVATE KEY-----/\nconst rest = 'kept'\nexport function isKey(text: string) {\n  return begin.test(text)\n}",
      (v) => `-----BEGIN CERTIFICATE-----\n${v.base64(64)}\n-----END CERTIFICATE-----`,
      () => "grep -l -- '-----BEGIN OPENSSH PRIVATE KEY-----' ~/.ssh/*\n/home/ada/.ssh/id_work\n/home/ada/.ssh/id_home",
    ],
  ),
  documented(
    'PuTTY',
    'plink and pscp',
    'https://the.earth.li/~sgtatham/putty/latest/htmldoc/Chapter3.html#using-cmdline-pw',
    [
      (v, s) => `$ plink -ssh root@host -pw ${s(v.alphanumeric(12))} uptime`,
      (v, s) => `$ pscp -pw '${s(v.signs())}' a.txt root@host:/srv`,
      (v, s) => `$ winscp.com /command "open sftp://root:${s(v.alphanumeric(12))}@host/"`,
    ],
    [
      () => '$ plink -ssh -i key.ppk root@host uptime',
      () => '$ pscp -P 2222 a.txt root@host:/srv',
      () => '$ plink -pwfile pw.txt root@host',
    ],
  ),
  documented(
    'MQTT',
    'mosquitto',
    'https://mosquitto.org/man/mosquitto_pub-1.html',
    [
      (v, s) => `$ mosquitto_pub -h mq -u app -P ${s(v.alphanumeric(12))} -t a -m b`,
      (v, s) => `$ mosquitto_passwd -b /etc/mosquitto/passwd app ${s(v.alphanumeric(12))}`,
      (v, s) => `remote_password ${s(v.alphanumeric(16))}`,
    ],
    [
      () => '$ mosquitto_sub -h mq -p 1883 -t a',
      () => 'allow_anonymous false\npassword_file /etc/mosquitto/passwd',
      () => '$ mosquitto_pub -t pass -m 12',
    ],
  ),
  documented(
    'Java',
    'code with passwords',
    'https://docs.oracle.com/javase/tutorial/jdbc/basics/connecting.html',
    [
      (v, s) => `Connection c = DriverManager.getConnection("jdbc:mysql://db/app", "root", "${s(v.signs())}");`,
      (v, s) => `props.setProperty("password", "${s(v.signs())}");`,
      (v, s) => `private static final String PASSWORD = "${s(v.signs())}";`,
      (v, s) => `new UsernamePasswordCredentials("ada", "${s(v.signs())}".toCharArray())`,
      (v, s) => `.basicAuth("ada", "${s(v.signs())}")`,
    ],
    [
      () => 'Connection c = DriverManager.getConnection(url, user, password);',
      () => 'String password = System.getenv("DB_PASSWORD");',
      () => 'private static final String PASSWORD = "password";',
      () => 'assertThrows(BadCredentialsException.class, () -> login("ada", wrongPassword()));',
      () => 'char[] password = console.readPassword("[%s]", "Password:");',
    ],
  ),
]
