/** What browsers, HTTP clients and their test tools write. */
import { documented } from './format.ts'

export const WEB_FORMATS = [
  documented(
    'curl',
    'cookie jar',
    'https://everything.curl.dev/http/cookies/fileformat',
    [
      (v, s) =>
        `# Netscape HTTP Cookie File\n\n#HttpOnly_app.example.com\tFALSE\t/\tTRUE\t1893456000\tsession\t${s(v.urlSafe(43))}\n`,
      (v, s) => `$ cat jar.txt\n.example.com\tTRUE\t/\tFALSE\t0\tPHPSESSID\t${s(v.lower(26))}`,
      (v, s) =>
        `localhost\tFALSE\t/\tFALSE\t1793456000\ttheme\tdark\nlocalhost\tFALSE\t/admin\tFALSE\t1793456000\tremember\t${s(v.base64(40))}`,
    ],
    [
      (v) => `localhost\tFALSE\t/\tFALSE\t${v.digits(10)}\ttheme\tdark`,
      (v) => `feature\tTRUE\t/flags\tFALSE\t${v.digits(4)}\trollout\tenabled`,
      (v) => `$ curl -c jar.txt -b jar.txt https://example.com/${v.lower(6)}`,
    ],
  ),
  documented(
    'MDN',
    'document.cookie',
    'https://developer.mozilla.org/en-US/docs/Web/API/Document/cookie',
    [
      (v, s) => `document.cookie = "sessionId=${s(v.alphanumeric(32))}; path=/; SameSite=Lax";`,
      (v, s) => `> document.cookie\n< 'theme=dark; auth_session=${s(v.hex(40))}; lang=en'`,
      (v, s) => `{"cookie": "sid=${s(v.urlSafe(36))}; locale=de"}`,
      (v, s) => `await page.evaluate(() => { document.cookie = 'remember_me=${s(v.base64(32))}' })`,
    ],
    [
      (v) => `document.cookie = "theme=dark; path=/; max-age=${v.digits(6)}"`,
      () => `document.cookie = "username=John Doe; expires=Thu, 18 Dec 2031 12:00:00 UTC; path=/"`,
      (v) => `const hasConsent = document.cookie.split('; ').includes('consent=${v.pick(['yes', 'given', 'all'])}')`,
      () => `document.cookie = \`lang=$\{language}; max-age=$\{maxAge}\``,
      () => 'Object.defineProperty(document, "cookie", { get: () => "lang=en" })',
    ],
  ),
  documented(
    'Playwright',
    'storageState',
    'https://playwright.dev/docs/api/class-browsercontext#browser-context-storage-state',
    [
      (v, s) =>
        `{\n  "cookies": [\n    {\n      "name": "sid",\n      "value": "${s(v.urlSafe(40))}",\n      "domain": "app.example.com",\n      "path": "/",\n      "expires": -1,\n      "httpOnly": true,\n      "secure": true,\n      "sameSite": "Lax"\n    }\n  ],\n  "origins": []\n}`,
      (v, s) =>
        `{"cookies":[{"name":"_app","value":"${s(v.hex(64))}","domain":".example.com","path":"/","expires":1893456000.5,"httpOnly":true,"secure":false,"sameSite":"None"}],"origins":[]}`,
      (v, s) =>
        `"origins": [{"origin": "https://app.example.com", "localStorage": [{"name": "auth_token", "value": "${s(v.alphanumeric(40))}"}]}]`,
      (v, s) =>
        `await context.addCookies([{ name: 'login', value: '${s(v.alphanumeric(28))}', domain: 'localhost', path: '/', httpOnly: true }])`,
    ],
    [
      (v) =>
        `{"name":"theme","value":"dark","domain":"localhost","path":"/","expires":-1,"httpOnly":false,"secure":false,"sameSite":"Lax"} // ${v.digits(3)}`,
      (v) => `{"origin":"https://example.com","localStorage":[{"name":"sidebar","value":"open-${v.digits(1)}"}]}`,
      () => `await context.storageState({ path: 'playwright/.auth/user.json' })`,
      () => 'interface Cookie { name: string; value: string; domain: string; httpOnly: boolean }',
    ],
  ),
  documented(
    'HAR working group',
    'HAR 1.2',
    'http://www.softwareishard.com/blog/har-12-spec/',
    [
      (v, s) =>
        `"cookies": [{"name": "connect.sid", "value": "${s(`s%3A${v.urlSafe(32)}.${v.alphanumeric(40)}`)}", "path": "/", "domain": "example.com", "expires": null, "httpOnly": true, "secure": true}]`,
      (v, s) => `"headers": [{"name": "Authorization", "value": "Bearer ${s(v.urlSafe(48))}"}]`,
      (v, s) => `{"name": "Cookie", "value": "theme=dark; sid=${s(v.hex(32))}"}, {"name": "Accept", "value": "*/*"}`,
      (v, s) =>
        `"postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "password", "value": "${s(v.password())}"}]}`,
      (v, s) => `{"name": "x-api-key", "value": "${s(v.lower(32))}"}`,
      (v, s) => `{"name": "Set-Cookie", "value": "id=${s(v.alphanumeric(30))}; Path=/; HttpOnly"}`,
    ],
    [
      (v) =>
        `"headers": [{"name": "Content-Type", "value": "application/json"}, {"name": "ETag", "value": "${v.hex(32)}"}]`,
      (v) => `"queryString": [{"name": "page", "value": "${v.digits(2)}"}], "headersSize": 610, "bodySize": -1`,
      () => '"cache": {}, "timings": {"blocked": 0, "dns": -1, "connect": 15, "send": 20, "wait": 38}',
      (v) => `{"name": "X-Request-Id", "value": "${v.uuid()}"}`,
    ],
  ),
  documented(
    'Chrome',
    'exported cookies',
    'https://developer.chrome.com/docs/extensions/reference/api/cookies#type-Cookie',
    [
      (v, s) =>
        `[\n{\n    "domain": ".example.com",\n    "expirationDate": 1893456000,\n    "hostOnly": false,\n    "httpOnly": true,\n    "name": "user_session",\n    "path": "/",\n    "sameSite": "lax",\n    "secure": true,\n    "session": false,\n    "storeId": "0",\n    "value": "${s(v.urlSafe(48))}"\n}\n]`,
      (v, s) =>
        `{"domain":"example.com","hostOnly":true,"httpOnly":false,"name":"tok","session":true,"value":"${s(v.alphanumeric(44))}"}`,
      (v, s) =>
        `{"name":"__Host-id","value":"${s(v.base64(44))}","size":50,"httpOnly":true,"secure":true,"session":true,"priority":"Medium"}`,
    ],
    [
      () => '{"domain":"example.com","hostOnly":true,"httpOnly":false,"name":"lang","session":true,"value":"en"}',
      (v) => `{"name":"button","value":"Save","id":"${v.lower(8)}"}`,
      () => '"permissions": ["cookies", "storage"], "host_permissions": ["https://*.example.com/*"]',
    ],
  ),
  documented(
    'Selenium',
    'cookies',
    'https://www.selenium.dev/documentation/webdriver/interactions/cookies/',
    [
      (v, s) =>
        `[{'domain': 'example.com', 'httpOnly': True, 'name': 'sessionid', 'path': '/', 'sameSite': 'Lax', 'secure': True, 'value': '${s(v.lower(32))}'}]`,
      (v, s) => `driver.add_cookie({"name": "sid", "value": "${s(v.alphanumeric(30))}", "httpOnly": True})`,
      (v, s) => `Set-Cookie: JSESSIONID=${s(v.upper(32))}; Path=/; HttpOnly`,
    ],
    [
      () => 'driver.add_cookie({"name": "foo", "value": "bar"})',
      () => 'cookie = driver.get_cookie("sessionid"); assert cookie["value"]',
      (v) => `driver.delete_cookie("test${v.digits(2)}")`,
    ],
  ),
  documented(
    'HTTPie',
    'auth',
    'https://httpie.io/docs/cli/authentication',
    [
      (v, s) => `$ http -a admin:${s(v.password())} https://api.example.com/users`,
      (v, s) => `$ https --auth=svc:${s(v.alphanumeric(18))} example.com/hooks`,
      (v, s) => `$ http -A bearer -a ${s(v.alphanumeric(32))} https://api.example.com/me`,
      (v, s) => `$ http --session=me -a 'root:${s(v.word())}' :8080/api`,
    ],
    [
      (v) => `$ http -f POST https://example.com name=Ada page=${v.digits(2)}`,
      () => '$ http -a "$API_USER:$API_PASSWORD" https://example.com',
      (v) => `$ http --timeout=${v.digits(2)} GET localhost:3000/health`,
      (v) => `listening on http :${v.digits(4)}, https -admin:off`,
    ],
  ),
  documented(
    'IETF',
    'userinfo in a URL',
    'https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1',
    [
      (v, s) => `$ git clone https://${s(v.alphanumeric(32))}@git.example.com/team/app.git`,
      (v, s) => `origin\thttps://${s(v.hex(40))}@github.example.com/org/repo.git (push)`,
      (v, s) => `remote = "https://x-token-auth:${s(v.alphanumeric(28))}@bitbucket.org/org/repo.git"`,
      (v, s) => `amqps://svc:${s(v.alphanumeric(16))}@mq.example.com/vhost`,
      (v, s) => `pip install --extra-index-url https://${s(v.lower(52))}@pkgs.example.com/_packaging/feed/simple app`,
    ],
    [
      (v) => `https://git@github.com/org/repo-${v.digits(3)}.git`,
      () => 'ssh://deploy-user@build.example.com:2222/srv/git/app.git',
      (v) => `https://unpkg.com/react@${v.digits(2)}.2.0/umd/react.production.min.js`,
      () => 'https://medium.com/@some-long-author-name/an-article-about-tokens-0a1b2c3d4e5f',
      () => `https://$\{GITHUB_TOKEN}@github.com/org/repo.git`,
      () => 'https://<token>@github.com/org/repo.git',
    ],
  ),
  documented(
    'IETF',
    'HTTP authentication headers',
    'https://www.rfc-editor.org/rfc/rfc9110#name-authentication-credentials',
    [
      (v, s) => `> GET /v1 HTTP/1.1\n> Authorization: Digest username="a", response="${s(v.hex(32))}"`,
      (v, s) => `-H 'Authorization: ${s(v.hex(40))}'`,
      (v, s) => `proxy-authorization: Basic ${s(v.base64(28))}`,
      (v, s) => `"X-Api-Key": "${s(v.alphanumeric(40))}"`,
      (v, s) => `X-Auth-Token: ${s(v.uuid())}`,
    ],
    [
      () => 'WWW-Authenticate: Digest realm="api", qop="auth", algorithm=SHA-256',
      () => 'Access-Control-Allow-Headers: Authorization, X-Api-Key, Content-Type',
      (v) => `X-RateLimit-Remaining: ${v.digits(3)}\nX-Request-Id: ${v.uuid()}`,
      () => `headers.set("Authorization", \`Bearer $\{token}\`)`,
      () => 'Authorization: Bearer <access token>',
    ],
  ),
  documented(
    'Postman',
    'collection variables',
    'https://schema.postman.com/json/collection/v2.1.0/docs/index.html',
    [
      (v, s) =>
        `"auth": {"type": "basic", "basic": [{"key": "username", "value": "me"}, {"key": "password", "value": "${s(v.password())}", "type": "string"}]}`,
      (v, s) => `"bearer": [{"key": "token", "value": "${s(v.urlSafe(60))}", "type": "string"}]`,
      (v, s) => `"apikey": [{"key": "value", "value": "x"}, {"key": "api_key", "value": "${s(v.hex(32))}"}]`,
    ],
    [
      () => '"bearer": [{"key": "token", "value": "{{access_token}}", "type": "string"}]',
      (v) =>
        `"info": {"_postman_id": "${v.uuid()}", "name": "Users API", "schema": "https://schema.example.com/v2.1.0"}`,
      () => '{"key": "Accept", "value": "application/json", "type": "text"}',
    ],
  ),
  documented(
    'Express',
    'cookies and sessions',
    'https://expressjs.com/en/resources/middleware/session.html',
    [
      (v, s) => `app.use(session({ secret: '${s(v.alphanumeric(24))}', resave: false }))`,
      (v, s) => `res.cookie('session', '${s(v.urlSafe(40))}', { httpOnly: true })`,
      (v, s) => `Cookie: connect.sid=${s(`s%3A${v.urlSafe(32)}.${v.urlSafe(43)}`)}`,
    ],
    [
      () => 'app.use(session({ secret: process.env.SESSION_SECRET, cookie: { maxAge: 60000 } }))',
      () => "res.cookie('name', 'tobi', { domain: '.example.com', path: '/admin', secure: true })",
      () => "res.clearCookie('connect.sid')",
      () => 'const cookies = req.cookies; if (!cookies.session) return next()',
    ],
  ),
  documented(
    'Cypress',
    'cookies and typing',
    'https://docs.cypress.io/api/commands/setcookie',
    [
      (v, s) => `cy.setCookie('session_id', '${s(v.alphanumeric(26))}')`,
      (v, s) => `cy.get('#password').type('${s(v.password())}')`,
      (v, s) => `await page.getByLabel('Password').fill('${s(v.password())}')`,
    ],
    [
      () => "cy.setCookie('theme', 'dark')",
      () => "cy.get('#password').type(user.password)",
      () => "cy.get('[name=password]').should('have.attr', 'type', 'password')",
      () => "await page.getByLabel('Password').fill(process.env.E2E_PASSWORD)",
    ],
  ),
]
